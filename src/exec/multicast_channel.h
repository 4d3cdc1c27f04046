// A group of ranks with its sockets, and whose messages its packets are: those of several
// executions may be under way.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "multicast/group.h"
#include "multicast/socket.h"
#include "schedule/schedule.h"

namespace unisono {

/// Of this process: what the group's protocol calls now.
multicast::Time multicast_now();

class MulticastChannel {
 public:
  /// `ranks`: of the communicator, as members of the group are numbered; `rank` is this one's.
  MulticastChannel(RankGroup ranks, int rank, std::unique_ptr<multicast::Socket> socket,
                   std::unique_ptr<multicast::Group> group);

  const RankGroup& ranks() const { return ranks_; }
  /// The first of so many numbers of messages. Every member takes them in the same order of calls.
  std::uint64_t take_numbers(std::uint32_t messages);

  /// A message of an execution.
  struct Message {
    const void* owner = nullptr;
    OpId op = 0;
    std::uint64_t number = 0;
    int root = 0;  ///< a rank; this one's own messages are sent
    std::byte* where = nullptr;
    std::size_t bytes = 0;
  };
  /// Starts it, when all with lower numbers have started. Its owner is told of its end by take().
  /// An MPI error code.
  int start(const Message& message);
  /// Adds the owner's ops that are over. An MPI error code.
  int take(const void* owner, std::vector<OpId>& completed);
  /// Forgets what is under way of the owner, who has the numbers from `first` up to `end`.
  void abandon(const void* owner, std::uint64_t first, std::uint64_t end);

  /// Moves what can be moved without waiting; nothing, where another thread does. Whether anything
  /// did.
  bool progress();
  /// Sleeps until a packet may have come, or is to go, but not long.
  void wait() const;
  /// Whether all members have all that this one has sent.
  bool is_quiet();
  /// Whether nobody waits for this one, be it the sender or between others.
  bool is_idle();
  /// Claims the duty to move it until it is idle; false: somebody has it, or it is idle.
  bool claim_duty();
  void end_duty();

 private:
  struct Awaited {
    Message message;
    bool started = false, over = false;
    int code = 0;
  };
  int start_next();
  void note(const multicast::Completion& completion);

  RankGroup ranks_;
  int me_ = 0;
  std::unique_ptr<multicast::Socket> socket_;
  std::unique_ptr<multicast::Group> group_;
  std::mutex mutex_;  // guards the group and what follows
  std::vector<Awaited> awaited_;
  std::atomic<multicast::Time> deadline_{0};
  std::uint64_t next_ = 0, next_to_start_ = 0;
  std::vector<std::uint64_t> skipped_;  // numbers that nobody will start
  bool has_duty_ = false;
};

}  // namespace unisono
