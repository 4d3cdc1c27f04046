// Functions of a driver's library that the program has loaded.
#pragma once
#include <dlfcn.h>

namespace unisono {

/// Null: it is not there. Nothing is loaded.
inline void* loaded_library(const char* name) { return dlopen(name, RTLD_NOLOAD | RTLD_LAZY); }

template <class Function>
bool find_function(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace unisono
