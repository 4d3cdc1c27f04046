// Functions of a driver's library that the program has loaded.
#pragma once
#include <dlfcn.h>
#include <link.h>

#include <string_view>

namespace unisono {

/// Whether an object of the process has this file name, in some version: "libcuda.so.1" is there
/// where "libcuda.so.550" is. No file is looked for, as dlopen() would in each folder.
inline bool is_loaded(std::string_view name) {
  constexpr std::string_view kEnding = ".so";
  std::string_view stem = name.substr(0, name.find(kEnding) + kEnding.size());
  const auto is_it = [](dl_phdr_info* object, std::size_t, void* wanted) {
    const std::string_view path = object->dlpi_name;
    const std::string_view file = path.substr(path.rfind('/') + 1);
    return file.starts_with(*static_cast<const std::string_view*>(wanted)) ? 1 : 0;
  };
  return dl_iterate_phdr(is_it, &stem) != 0;
}

/// Null: it is not there. Nothing is loaded.
inline void* loaded_library(const char* name) {
  return is_loaded(name) ? dlopen(name, RTLD_NOLOAD | RTLD_LAZY) : nullptr;
}

template <class Function>
bool find_function(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace unisono
