// Finds a function beyond Unisono. Included, not linked: RTLD_NEXT means "after the library that
// contains this very code", which is the stub or a flavour library.
#pragma once
#include <dlfcn.h>
#include <link.h>

#include <cstring>
#include <string>
#include <vector>

namespace unisono {

/// The part of a path after its last slash.
inline const char* base_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/// Whether code lies in one of Unisono's own libraries: several may be loaded, and passing a call
/// on to one of them would never end.
inline bool is_own_code(void* address) {
  Dl_info info;
  return dladdr(address, &info) && info.dli_fname &&
         std::strncmp(base_name(info.dli_fname), "libunisono", 10) == 0;
}

/// The paths of all loaded libraries in load order, without the program itself.
inline std::vector<std::string> loaded_libraries() {
  std::vector<std::string> paths;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        if (info->dlpi_name && *info->dlpi_name)
          static_cast<std::vector<std::string>*>(out)->emplace_back(info->dlpi_name);
        return 0;
      },
      &paths);
  return paths;
}

/// A symbol of one loaded library or of those it needs.
inline void* symbol_in(const char* library, const char* name) {
  void* handle = dlopen(library, RTLD_NOLOAD | RTLD_LAZY);
  if (!handle) return nullptr;
  void* address = dlsym(handle, name);
  dlclose(handle);
  return address;
}

/// The next definition of `name`: first where the dynamic linker would look, then in libraries
/// that were opened privately (a Python module's Fortran library, say). Null: there is none.
inline void* search_symbol(const char* name) {
  void* address = dlsym(RTLD_NEXT, name);
  if (address && !is_own_code(address)) return address;
  for (const std::string& path : loaded_libraries()) {
    address = symbol_in(path.c_str(), name);
    if (address && !is_own_code(address)) return address;
  }
  return nullptr;
}

/// As search_symbol; where there is no "MPI_Bcast" (or "mpi_bcast_"), the library's own
/// "PMPI_Bcast" ("pmpi_bcast_").
inline void* search_next(const char* name) {
  if (void* address = search_symbol(name)) return address;
  const std::string profiling = std::string(*name == 'm' ? "p" : "P") + name;
  return search_symbol(profiling.c_str());
}

}  // namespace unisono
