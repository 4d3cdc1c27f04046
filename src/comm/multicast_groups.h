// The multicast groups of a communicator: sockets and secrets, made by agreement of its ranks, and
// whether the network between them carries multicast at all (docs/adr/0039).
#pragma once
#include <mpi.h>

#include <array>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "exec/multicast_channel.h"
#include "multicast/udp_socket.h"
#include "schedule/schedule.h"

namespace unisono {

/// Equal on all ranks of the job, but for the interface.
struct MulticastSettings {
  int most_groups = 20;   ///< of this process at a time: what an Ethernet card filters itself
  std::string interface;  ///< name or address; empty: the one whose network all hosts are on
  double rate = 0;        ///< bits per second of whole frames; 0: the interface's
  double silence_seconds =
      0;  ///< after which a member that nothing is heard of is given up; 0: never
  bool acknowledges = false;  ///< every receiver does, to the sender, as in CC-MPI
};

/// Once, before any group.
void start_multicast(const MulticastSettings& settings);

/// Groups of a communicator that is gone. They end when everybody has what every rank has sent: who
/// frees a communicator, or the last request on it, waits for nobody.
class EndingGroups {
 public:
  using Channels = std::vector<std::shared_ptr<MulticastChannel>>;
  EndingGroups(Channels channels, std::array<std::byte, 32> order)
      : channels_(std::move(channels)), order_(order) {}
  ~EndingGroups();
  EndingGroups(const EndingGroups&) = delete;
  EndingGroups& operator=(const EndingGroups&) = delete;

  /// Goes on without waiting. `comm`: the duplicate that they were made over, the same each time.
  bool is_over(MPI_Comm comm);
  /// Waits for all ranks to do the same. Ranks that have several to wait for do so in their order.
  void complete(MPI_Comm comm);
  bool comes_before(const EndingGroups& other) const { return order_ < other.order_; }

 private:
  void move() const;

  Channels channels_;
  std::array<std::byte, 32> order_;
  MPI_Request barrier_ = MPI_REQUEST_NULL;
  bool has_begun_ = false, is_over_ = false;
};

class MulticastGroups {
 public:
  MulticastGroups() = default;
  MulticastGroups(const MulticastGroups&) = delete;
  MulticastGroups& operator=(const MulticastGroups&) = delete;

  /// Whether an open() has failed: rank 0 has said why. The same on all ranks.
  bool is_refused() const { return is_refused_; }

  /// Whether there is a group of these ranks; `channel` is null on a rank that is not in it.
  bool find(const RankGroup& ranks, std::shared_ptr<MulticastChannel>& channel);
  /// Makes one that find() will find, as long as there is room; or one that is its caller's alone.
  /// Collective over `comm`, a duplicate that belongs to Unisono. The same answer on all ranks.
  enum class For : std::uint8_t { all_calls, one_caller };
  bool open(MPI_Comm comm, const RankGroup& ranks, For whom,
            std::shared_ptr<MulticastChannel>& channel);

  /// Ends the one that find() finds. Collective over `comm`.
  bool close(MPI_Comm comm, const RankGroup& ranks);
  /// Takes all of them out, where the communicator is freed; null: there are none.
  std::unique_ptr<EndingGroups> end();

 private:
  struct Known {
    RankGroup ranks;
    std::shared_ptr<MulticastChannel> channel;  // null: this rank is not in it
    bool is_found = true;                       // by find()
  };
  struct Network;
  bool meet(MPI_Comm comm);
  std::unique_ptr<multicast::UdpSocket> open_socket(std::uint64_t number, double rate) const;
  std::unique_ptr<multicast::Group> open_group(std::uint64_t number, double rate, int me,
                                               std::vector<multicast::Member> members,
                                               multicast::UdpSocket& socket) const;
  std::string make(MPI_Comm comm, const RankGroup& ranks,
                   std::shared_ptr<MulticastChannel>& channel);
  bool refuse(MPI_Comm comm, std::string why);
  void evict(MPI_Comm comm);
  void drop(MPI_Comm comm, std::list<Known>::iterator one);

  std::list<Known> groups_;  // most recently used first
  std::shared_ptr<const Network> network_;
  std::uint64_t opened_ = 0;  // numbers them
  bool is_refused_ = false;
};

}  // namespace unisono
