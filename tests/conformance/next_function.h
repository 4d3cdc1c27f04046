// For programs that define a function of the MPI library, which is called first then.
#pragma once
#include <dlfcn.h>

/// The one of that name in the libraries behind the program.
template <class Function>
Function* next_function(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}
