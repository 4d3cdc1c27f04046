// A communicator between its first call and its second, where an attribute is dear; and what tells
// that it is still the same.
#pragma once
#include <mpi.h>

namespace unisono {

/// The program's MPI_Comm_split has made this communicator.
void after_split(MPI_Comm made);

/// Lives while the program frees or disconnects this communicator, the delete functions of its
/// attributes included.
class CommunicatorFree {
 public:
  explicit CommunicatorFree(MPI_Comm comm);
  ~CommunicatorFree();
  CommunicatorFree(const CommunicatorFree&) = delete;
  CommunicatorFree& operator=(const CommunicatorFree&) = delete;

 private:
  MPI_Comm outer_;
};

/// Whether this thread is within the free of this communicator.
bool is_being_freed(MPI_Comm comm);

/// `world`: the group of MPI_COMM_WORLD.
void start_unattached(MPI_Group world);
void stop_unattached();

}  // namespace unisono
