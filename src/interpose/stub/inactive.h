// The public API of a process in which Unisono does nothing.
#pragma once

namespace unisono::stub {

/// The stand-in for a function of unisono.h, null for any other name.
void* inactive_function(const char* name);

}  // namespace unisono::stub
