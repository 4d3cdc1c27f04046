#include "interpose/fortran.h"

#ifdef OPEN_MPI
#include <dlfcn.h>

#include <algorithm>
#include <array>

#include "interpose/next.h"

namespace unisono::fortran {
namespace {

using Spellings = std::array<const char*, 4>;
using Addresses = std::array<const void*, 4>;

/// Where the common blocks are for Open MPI, too: the program's own copy goes before the library's.
Addresses addresses_of(const Spellings& names) {
  Addresses addresses;
  std::transform(names.begin(), names.end(), addresses.begin(), [](const char* name) {
    const void* address = dlsym(RTLD_DEFAULT, name);
    return address ? address : find_next(name);
  });
  return addresses;
}

bool contains(const Addresses& addresses, const void* address) {
  return address && std::find(addresses.begin(), addresses.end(), address) != addresses.end();
}

}  // namespace

bool is_in_place(const void* buffer) {
  static const Addresses addresses =
      addresses_of({"mpi_fortran_in_place_", "mpi_fortran_in_place", "mpi_fortran_in_place__",
                    "MPI_FORTRAN_IN_PLACE"});
  return contains(addresses, buffer);
}

void* buffer(void* buffer) {
  static const Addresses bottom = addresses_of(
      {"mpi_fortran_bottom_", "mpi_fortran_bottom", "mpi_fortran_bottom__", "MPI_FORTRAN_BOTTOM"});
  if (is_in_place(buffer)) return MPI_IN_PLACE;
  return contains(bottom, buffer) ? MPI_BOTTOM : buffer;
}

Datatypes::Datatypes(const int* handles, const int* comm, bool insignificant, PerPeer per) {
  if (insignificant) return;
  const int size = count_peers(fortran::comm(comm), per);
  datatypes_ = std::make_unique<MPI_Datatype[]>(size);
  std::transform(handles, handles + size, datatypes_.get(), PMPI_Type_f2c);
}

}  // namespace unisono::fortran
#endif  // OPEN_MPI
