// Keeps the program's own operation of a call that outlives MPI_Op_free (MPI-4.1, 6.9.5 and 2.5.1).
// MPI can duplicate a datatype, but no operation: so it is freed later than the program asked.
#pragma once
#include <mpi.h>

namespace unisono {

class RetainedOperation {
 public:
  /// Nothing to be done for predefined ones, and for MPI_OP_NULL. Throws std::bad_alloc.
  explicit RetainedOperation(MPI_Op op);
  ~RetainedOperation();
  RetainedOperation(const RetainedOperation&) = delete;
  RetainedOperation& operator=(const RetainedOperation&) = delete;

 private:
  MPI_Op op_;
};

/// The program frees it. True: it is retained, and goes with the last who retains it; until then
/// the MPI library gives its handle to no other. False: nobody does. Thread-safe.
bool frees_later(MPI_Op op) noexcept;

}  // namespace unisono
