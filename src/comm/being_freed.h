// What holds for as long as MPI_Comm_free or MPI_Comm_disconnect runs.
#pragma once
#include <mpi.h>

namespace unisono {

/// While a communicator is freed. The program's delete functions may call collectives on it, on
/// some ranks before ours, on others after it, as each has set its attributes: all of them are
/// native.
class BeingFreed {
 public:
  explicit BeingFreed(MPI_Comm comm);
  ~BeingFreed();
  BeingFreed(const BeingFreed&) = delete;
  BeingFreed& operator=(const BeingFreed&) = delete;

  /// By this thread.
  static bool holds(MPI_Comm comm);

 private:
  MPI_Comm comm_;
  const BeingFreed* outer_;  // a delete function may free another one
};

}  // namespace unisono
