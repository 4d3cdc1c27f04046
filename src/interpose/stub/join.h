// What a rank does whose flavour library cannot be opened: it meets the others in MPI_Init, who
// would wait for it, and tells them.
#pragma once
#include <string_view>

#include "interpose/stub/mpi_library.h"

namespace unisono::stub {

/// In place of `next`, the MPI library's `name`: an initialisation that does so. Null: `name` is
/// none.
void* joining_init(std::string_view name, void* next, const MpiLibrary& mpi);

}  // namespace unisono::stub
