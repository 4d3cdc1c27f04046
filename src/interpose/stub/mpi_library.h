// Which MPI library the process has loaded, and what belongs to one.
#pragma once
#include <limits.h>
#include <stdbool.h>

struct unisono_mpi_library {
  char path[PATH_MAX];
  char soname[256];
  const char* flavour;  // "mpich", "openmpi", "abi"; null: none was found
};

/// The MPI library of the code at `caller`: the one that its object file names, else the first
/// that was loaded. Libraries that only look like one (a C++ or Fortran layer) are passed over.
void unisono_find_mpi_library(const void* caller, struct unisono_mpi_library* found);

/// Whether a definition of `name` is an MPI library's, or a tool's that passes calls on to one.
/// Else it is somebody's own: a library's function that happens to be called so, or a replacement
/// of MPI for programs of one process.
bool unisono_is_of_mpi(const void* definition, const char* name);

/// What a message calls the libraries that would have been found.
#define UNISONO_KNOWN_LIBRARIES \
  "libmpi.so.12 (MPICH and its family), libmpi.so.40 (Open MPI), libmpi_abi.so.1 (MPI 5)"
