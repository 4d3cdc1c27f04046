#include "interpose/stub/mpi_library.h"

#include <string_view>

#include "interpose/stub/symbol_search.h"

namespace unisono::stub {
namespace {

/// The flavour that a file name or soname stands for, null if none.
const char* flavour_of(std::string_view name) {
  if (name.starts_with("libmpi_abi.so.1")) return "abi";
  if (name.starts_with("libmpi.so.40")) return "openmpi";
  if (name.starts_with("libmpi.so.12") || name.starts_with("libmpich.so.12")) return "mpich";
  // Vendors build MPICH's interface once per compiler: libmpi_gnu_123.so.12, libmpi_cray.so.12.
  if (name.starts_with("libmpi_") && name.find(".so.12") != name.npos) return "mpich";
  return nullptr;
}

/// Calls visit(tag, value) for each entry of a library's dynamic section, with strings resolved.
template <class Visit>
void for_each_needed(const link_map* map, std::int64_t wanted, Visit visit) {
  const char* strings = nullptr;
  for (const ElfW(Dyn)* d = map->l_ld; d->d_tag != DT_NULL; ++d)
    if (d->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(d->d_un.d_ptr);
  for (const ElfW(Dyn)* d = map->l_ld; strings && d->d_tag != DT_NULL; ++d)
    if (d->d_tag == wanted) visit(strings + d->d_un.d_val);
}

const link_map* link_map_of(const char* path) {
  void* handle = dlopen(path, RTLD_NOLOAD | RTLD_LAZY);
  link_map* map = nullptr;
  if (handle) {
    dlinfo(handle, RTLD_DI_LINKMAP, &map);
    dlclose(handle);  // whoever loaded it keeps it
  }
  return map;
}

std::string soname_of(const std::string& path) {
  std::string soname = base_name(path.c_str());
  if (const link_map* map = link_map_of(path.c_str()))
    for_each_needed(map, DT_SONAME, [&](const char* name) { soname = name; });
  return soname;
}

/// Whether it is the MPI library itself, and of this flavour: Open MPI 1.10 was libmpi.so.12, too.
bool is_mpi_library(const std::string& path, std::string_view flavour) {
  const bool open_mpi = symbol_in(path.c_str(), "ompi_mpi_comm_world") != nullptr;
  return symbol_in(path.c_str(), "PMPI_Init") && open_mpi == (flavour == "openmpi");
}

bool needs(const void* caller, const std::string& soname) {
  Dl_info info;
  link_map* map = nullptr;
  bool found = false;
  if (dladdr1(caller, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) && map)
    for_each_needed(map, DT_NEEDED, [&](const char* name) { found |= soname == name; });
  return found;
}

}  // namespace

MpiLibrary find_mpi_library(const void* caller) {
  MpiLibrary first;
  for (const std::string& path : loaded_libraries()) {
    if (!std::string_view(base_name(path.c_str())).starts_with("libmpi")) continue;
    const std::string soname = soname_of(path);
    const char* flavour = flavour_of(soname);
    if (!flavour || !is_mpi_library(path, flavour)) continue;
    if (needs(caller, soname)) return {path, flavour};
    if (!first) first = {path, flavour};
  }
  return first;
}

}  // namespace unisono::stub
