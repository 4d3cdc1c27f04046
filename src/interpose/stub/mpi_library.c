#include "interpose/stub/mpi_library.h"

#include <stdint.h>

#include "interpose/stub/symbol_search.h"

static bool starts_with(const char* text, const char* start) {
  return strncmp(text, start, strlen(start)) == 0;
}

/// The flavour that a file name or soname stands for, null if none.
static const char* flavour_of(const char* name) {
  if (starts_with(name, "libmpi_abi.so.1")) return "abi";
  if (starts_with(name, "libmpi.so.40")) return "openmpi";
  if (starts_with(name, "libmpi.so.12") || starts_with(name, "libmpich.so.12")) return "mpich";
  // Vendors build MPICH's interface once per compiler: libmpi_gnu_123.so.12, libmpi_cray.so.12.
  if (starts_with(name, "libmpi_") && strstr(name, ".so.12") != NULL) return "mpich";
  return NULL;
}

/// The dynamic section of a loaded library. Null: there is none. Whoever has loaded it keeps it.
static const struct link_map* link_map_of(const char* path) {
  struct link_map* map = NULL;
  void* handle = unisono_handle_of(path);
  if (handle == NULL) return NULL;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) map = NULL;
  dlclose(handle);
  return map;
}

/// What an entry of the dynamic section points to; null: there is no such entry. glibc has replaced
/// offsets by addresses on most machines, other linkers have not.
static const void* table_of(const struct link_map* map, ElfW(Sxword) tag) {
  for (const ElfW(Dyn)* d = map->l_ld; d->d_tag != DT_NULL; ++d)
    if (d->d_tag == tag)
      return (const void*)(d->d_un.d_ptr < map->l_addr ? map->l_addr + d->d_un.d_ptr
                                                       : d->d_un.d_ptr);
  return NULL;
}

/// Whether an entry of the dynamic section is this string.
static bool names(const struct link_map* map, ElfW(Sxword) tag, const char* string) {
  const char* strings = (const char*)table_of(map, DT_STRTAB);
  for (const ElfW(Dyn)* d = map->l_ld; strings != NULL && d->d_tag != DT_NULL; ++d)
    if (d->d_tag == tag && strcmp(strings + d->d_un.d_val, string) == 0) return true;
  return false;
}

static const char* soname_of(const char* path) {
  const struct link_map* map = link_map_of(path);
  const char* strings = map != NULL ? (const char*)table_of(map, DT_STRTAB) : NULL;
  for (const ElfW(Dyn)* d = strings != NULL ? map->l_ld : NULL; d != NULL && d->d_tag != DT_NULL;
       ++d)
    if (d->d_tag == DT_SONAME) return strings + d->d_un.d_val;
  return unisono_base_name(path);
}

/// Whether it is the MPI library itself, and of this flavour: Open MPI 1.10 was libmpi.so.12, too.
static bool is_mpi_library(const char* path, const char* flavour) {
  const bool open_mpi = unisono_symbol_in(path, "ompi_mpi_comm_world") != NULL;
  return unisono_symbol_in(path, "PMPI_Init") != NULL &&
         open_mpi == (strcmp(flavour, "openmpi") == 0);
}

void unisono_find_mpi_library(const void* caller, struct unisono_mpi_library* found) {
  Dl_info info;
  const struct link_map* map =
      dladdr((void*)caller, &info) != 0 ? link_map_of(info.dli_fname) : NULL;
  char* paths = unisono_loaded_libraries();
  found->flavour = NULL;
  for (const char* path = paths; path != NULL && *path != '\0'; path += strlen(path) + 1) {
    if (!starts_with(unisono_base_name(path), "libmpi") || strlen(path) >= sizeof found->path)
      continue;
    const char* soname = soname_of(path);
    const char* flavour = flavour_of(soname);
    if (flavour == NULL || strlen(soname) >= sizeof found->soname || !is_mpi_library(path, flavour))
      continue;
    const bool needed = map != NULL && names(map, DT_NEEDED, soname);
    if (needed || found->flavour == NULL) {
      memcpy(found->path, path, strlen(path) + 1);
      memcpy(found->soname, soname, strlen(soname) + 1);
      found->flavour = flavour;
    }
    if (needed) break;
  }
  free(paths);
}

/// Number of symbols at the beginning of a library's table that include all it takes from others.
static size_t symbols_of(const struct link_map* map) {
  const uint32_t* hash = (const uint32_t*)table_of(map, DT_HASH);
  const uint32_t* gnu_hash = (const uint32_t*)table_of(map, DT_GNU_HASH);
  if (gnu_hash != NULL) return gnu_hash[1];  // the first that it defines
  return hash != NULL ? hash[1] : 0;
}

/// Whether a library takes a function from others whose name begins (or, `whole`, is) so.
static bool takes(const struct link_map* map, const char* name, bool whole) {
  const ElfW(Sym)* symbols = (const ElfW(Sym)*)table_of(map, DT_SYMTAB);
  const char* strings = (const char*)table_of(map, DT_STRTAB);
  const size_t count = symbols != NULL && strings != NULL ? symbols_of(map) : 0;
  for (size_t k = 1; k < count; ++k) {
    const char* symbol = strings + symbols[k].st_name;
    if (symbols[k].st_shndx == SHN_UNDEF &&
        (whole ? strcmp(symbol, name) == 0 : starts_with(symbol, name)))
      return true;
  }
  return false;
}

/// Whether one object defines both, as MPI libraries do: MPI_Bcast and PMPI_Bcast.
static bool defines_profiling_form(const Dl_info* info, const char* name) {
  char twin[64] = "P";
  Dl_info found;
  if (strlen(name) + 2 > sizeof twin) return false;
  if (*name == 'm') *twin = 'p';
  memcpy(twin + 1, name, strlen(name) + 1);
  void* address = unisono_symbol_in(info->dli_fname, *name == 'P' ? name + 1 : twin);
  return address != NULL && dladdr(address, &found) != 0 && found.dli_fbase == info->dli_fbase;
}

bool unisono_is_of_mpi(const void* definition, const char* name) {
  Dl_info info;
  if (dladdr((void*)definition, &info) == 0) return true;
  const struct link_map* map = link_map_of(info.dli_fname);
  if (map == NULL || defines_profiling_form(&info, name)) return true;
  // Tools, and Fortran layers. What Open MPI's call is its own.
  if (takes(map, "PMPI_", false) || takes(map, "pmpi_", false) || takes(map, "ompi_", false))
    return true;
  // Some tools find the next function by themselves. Fortran's names are no convention of theirs.
  return *name != 'm' && takes(map, "dlsym", true);
}
