// The bench's own communication, apart from what it measures.
//
// It uses no collective of the MPI library and never blocks inside it: an MPI library that spins
// without yielding makes every blocking call cost milliseconds when there are more ranks than
// cores, and the measurement would drown in its own synchronisation. Here a waiting rank tests its
// requests and gives its core away between the tests; where ranks share cores it sleeps, so that
// those that are still in the measured call have them.
#pragma once
#include <mpi.h>

#include <memory>
#include <span>
#include <vector>

#include "schedule/schedule.h"
#include "tools/bench/meeting.h"

namespace unisono::bench {

class Sideband {
 public:
  explicit Sideband(MPI_Comm comm);
  ~Sideband();
  Sideband(const Sideband&) = delete;
  Sideband& operator=(const Sideband&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }

  /// From now on barriers are in shared memory. Collective, of ranks on one node; where there is no
  /// memory nothing changes.
  void meet_in_memory() { meeting_ = Meeting::make(comm_); }

  /// Barriers end one rank's sleep after the other.
  bool wakes_ranks() const { return meeting_ != nullptr; }

  /// Ranks leave within about one message latency of each other (dissemination), or as the kernel
  /// wakes them.
  void barrier();

  /// So many bytes from every rank to one far away. A traffic shaper between them then has no
  /// credit left, as in a program that communicates all the time.
  void drain(Count bytes);

  /// Replaces `maxima` and `sums` by the element-wise results over all ranks, the same bits on all
  /// of them: decisions are then taken alike.
  void agree(std::span<double> maxima, std::span<double> sums = {});

 private:
  void exchange(const void* send, int send_count, int to, void* recv, int recv_count, int from,
                MPI_Datatype type) const;

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  std::unique_ptr<Meeting> meeting_;
  std::vector<std::byte> outgoing_, incoming_;  // what is drained
};

}  // namespace unisono::bench
