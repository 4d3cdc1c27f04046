// What the C and the Fortran forms of MPI_Init(_thread) share.
#pragma once

namespace unisono {

/// Shows this rank to the others of its node.
void before_init();
/// After an initialisation that returned `code`. The first that succeeded starts Unisono.
void after_init(int code);

}  // namespace unisono
