// The error of a call that waits for a rank that has died.
#pragma once
#include <mpi.h>

namespace unisono {

/// The class that an MPI library which handles failures raises (User Level Failure Mitigation),
/// where it has one.
int rank_lost_error();
/// The same of a call on this communicator, which the program may have revoked.
int rank_lost_error(MPI_Comm comm);
/// Whether programs of this job can go on without a rank that has died. The same on all ranks.
bool handles_failures();
/// Whether that is what a call of the MPI library has ended with, or it tells of a revoked
/// communicator.
bool says_rank_lost(int code);

/// All that is under way on this communicator of ours, and all that will be, ends with an error on
/// all ranks. Nothing happens where the MPI library does not handle failures.
void revoke(MPI_Comm comm);
/// Whether somebody has done that, or the program with a communicator of its own, as far as this
/// process has heard. Local.
bool is_revoked(MPI_Comm comm);

/// While this thread is in a call of the program's: the communicator is the program's to revoke,
/// and what Unisono waits for then, on others of its own, does not come.
class CalledOn {
 public:
  explicit CalledOn(const MPI_Comm& comm);
  ~CalledOn();
  CalledOn(const CalledOn&) = delete;
  CalledOn& operator=(const CalledOn&) = delete;

 private:
  const MPI_Comm* outer_;
};
bool is_call_revoked();

}  // namespace unisono
