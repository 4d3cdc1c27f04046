// Fortran arguments as C has them.
#pragma once
#include <mpi.h>

#include <memory>
#include <optional>
#include <type_traits>

#include "mpi/peers.h"

namespace unisono::fortran {

/// A communicator's handle. MPI 5's standard ABI leaves INTEGER to the Fortran compiler: an int, as
/// everywhere here.
inline MPI_Comm comm(const int* handle) {
#ifdef MPI_ABI
  return PMPI_Comm_fromint(*handle);
#else
  static_assert(std::is_same_v<MPI_Fint, int>, "counts are handed on as they are");
  return PMPI_Comm_f2c(*handle);
#endif
}

/// The same of an operation, a request and hints; and MPI_OP_NULL in Fortran.
inline MPI_Op operation(const int* handle) {
#ifdef MPI_ABI
  return PMPI_Op_fromint(*handle);
#else
  return PMPI_Op_f2c(*handle);
#endif
}
inline int request(MPI_Request handle) {
#ifdef MPI_ABI
  return PMPI_Request_toint(handle);
#else
  return PMPI_Request_c2f(handle);
#endif
}
inline MPI_Info info(const int* handle) {
#ifdef MPI_ABI
  return PMPI_Info_fromint(*handle);
#else
  return PMPI_Info_f2c(*handle);
#endif
}
inline int no_operation() {
#ifdef MPI_ABI
  return PMPI_Op_toint(MPI_OP_NULL);
#else
  return PMPI_Op_c2f(MPI_OP_NULL);
#endif
}

/// Open MPI tells Fortran's MPI_IN_PLACE and MPI_BOTTOM by their addresses.
bool is_in_place(const void* buffer);
void* buffer(void* buffer);

/// An array of datatypes, one for each peer; none where they are not significant.
class Datatypes {
 public:
  Datatypes(const int* handles, const int* comm, bool insignificant, PerPeer per);
  const MPI_Datatype* get() const { return datatypes_.get(); }

 private:
  std::unique_ptr<MPI_Datatype[]> datatypes_;
};

/// Hands the error code of a call that Unisono ran to Fortran; `ierror` may be absent. False: it
/// did not run.
inline bool finish(std::optional<int> code, int* ierror) {
  if (code && ierror) *ierror = *code;
  return code.has_value();
}

}  // namespace unisono::fortran

/// The other spelling that compilers for Linux use: of names with an underscore (f2c's rule). Open
/// MPI exports mpi_bcast and MPI_BCAST, too. No compiler for Linux asks for them by itself, and
/// libraries have functions of their own that are called so: docs/adr/0049.
#define FORTRAN_SPELLING(name, parameters) \
  ENTRY void name##__ parameters __attribute__((alias(#name "_")))
