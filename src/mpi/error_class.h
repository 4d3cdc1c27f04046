// The class of an MPI error code.
#pragma once
#include <mpi.h>

namespace unisono {

/// MPI_SUCCESS for MPI_SUCCESS, MPI_ERR_UNKNOWN for what is no code of the library.
inline int error_class_of(int code) {
  if (code == MPI_SUCCESS) return MPI_SUCCESS;
  int found = MPI_ERR_UNKNOWN;
  return PMPI_Error_class(code, &found) == MPI_SUCCESS ? found : MPI_ERR_UNKNOWN;
}

}  // namespace unisono
