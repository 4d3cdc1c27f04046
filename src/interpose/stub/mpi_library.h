// Which MPI library the process has loaded.
#pragma once
#include <string>

namespace unisono::stub {

struct MpiLibrary {
  std::string path;
  const char* flavour = nullptr;  // "mpich", "openmpi", "abi"; null: none was found

  explicit operator bool() const { return flavour != nullptr; }
};

/// The MPI library of the code at `caller`: the one that its object file names, else the first
/// that was loaded. Libraries that only look like one (a C++ or Fortran layer) are passed over.
MpiLibrary find_mpi_library(const void* caller);

/// What a message calls the libraries that would have been found.
inline constexpr const char* kKnownLibraries =
    "libmpi.so.12 (MPICH and its family), libmpi.so.40 (Open MPI), libmpi_abi.so.1 (MPI 5)";

}  // namespace unisono::stub
