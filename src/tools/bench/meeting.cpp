#include "tools/bench/meeting.h"

#include <utility>

#include "comm/share_segment.h"
#include "mpi/agreement.h"
#include "mpi/comm.h"
#include "node/kernels.h"
#include "node/pages.h"

namespace unisono::bench {

namespace {

// A rank that waits may owe the others the rest of a message of the MPI library's.
void make_progress(void* comm) {
  int found = 0;
  PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, *static_cast<MPI_Comm*>(comm), &found,
              MPI_STATUS_IGNORE);
}

}  // namespace

std::unique_ptr<Meeting> Meeting::make(MPI_Comm comm) {
  const int size = size_of(comm);
  const std::size_t bytes = node::Team::arena_bytes(size, node::Team::smallest_slot(size));
  Result<node::Segment> segment = share_segment(comm, bytes);
  const bool prepares = rank_in(comm) == 0;
  const bool ready = segment && (!prepares || node::allocate(segment->memory()));
  if (!all_agree(comm, ready)) return nullptr;
  if (prepares) node::Team::prepare(segment->memory().data(), size);
  auto meeting = std::make_unique<Meeting>(std::move(*segment), comm);
  PMPI_Barrier(comm);
  return meeting;
}

Meeting::Meeting(node::Segment&& segment, MPI_Comm comm)
    : segment_(std::move(segment)),
      comm_(comm),
      team_(segment_.memory(), rank_in(comm), size_of(comm),
            node::WaitPolicy{WaitMode::sleep, make_progress, &comm_}) {}

void Meeting::barrier() { node::barrier(team_); }

}  // namespace unisono::bench
