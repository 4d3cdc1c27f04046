// Finds a function beyond Unisono. Included, not linked: RTLD_NEXT means "after the library that
// contains this very code", which is the stub or a flavour library. In C, of what every libc has.
#pragma once
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// In glibc before 2.34 a library of their own has them, which a program that opens none may lack.
#pragma weak dlopen
#pragma weak dlsym
#pragma weak dlclose
#pragma weak dlerror
#pragma weak dladdr
#pragma weak dlinfo

/// The part of a path after its last slash.
static inline const char* unisono_base_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

/// Whether code lies in one of Unisono's own libraries: several may be loaded, and passing a call
/// on to one of them would never end.
static inline bool unisono_is_own_code(const void* address) {
  Dl_info info;
  return dladdr((void*)address, &info) != 0 && info.dli_fname != NULL &&
         strncmp(unisono_base_name(info.dli_fname), "libunisono", 10) == 0;
}

/// A handle of a library that is loaded, to be closed; null: it is not.
static inline void* unisono_handle_of(const char* path) {
  return dlopen(path, RTLD_NOLOAD | RTLD_LAZY);
}

/// A symbol of one loaded library or of those it needs.
static inline void* unisono_symbol_in(const char* path, const char* name) {
  void* handle = unisono_handle_of(path);
  void* address = NULL;
  if (handle == NULL) return NULL;
  address = dlsym(handle, name);
  dlclose(handle);
  return address;
}

/// Paths, each with its end, one after the other, and a last one that is empty.
struct unisono_paths {
  char* text;
  size_t length, room;
};

static inline int unisono_add_path(struct dl_phdr_info* info, size_t size, void* out) {
  struct unisono_paths* paths = (struct unisono_paths*)out;
  const size_t length = info->dlpi_name != NULL ? strlen(info->dlpi_name) + 1 : 1;
  (void)size;
  if (length == 1) return 0;  // the program itself
  if (paths->length + length < paths->room)
    memcpy(paths->text + paths->length, info->dlpi_name, length);
  paths->length += length;
  return 0;
}

/// The paths of all loaded libraries in load order, without the program itself. Copied, since the
/// linker may not be asked about them while they are listed. To be freed; null: no memory.
static inline char* unisono_loaded_libraries(void) {
  struct unisono_paths paths = {NULL, 0, 0};
  do {  // until no other thread has loaded more in between
    free(paths.text);
    paths.room = paths.length + 4096;
    paths.text = (char*)calloc(paths.room, 1);
    if (paths.text == NULL) return NULL;
    paths.length = 0;
    dl_iterate_phdr(unisono_add_path, &paths);
  } while (paths.length >= paths.room);
  return paths.text;
}

/// Whether a definition of `name` is one that is looked for.
typedef bool (*unisono_fits)(const void* definition, const char* name);

static inline bool unisono_is_not_ours(const void* definition, const char* name) {
  (void)name;
  return !unisono_is_own_code(definition);
}

/// The next definition of `name` that fits: where the dynamic linker would look, or else in
/// libraries that were opened privately (a Python module's Fortran library, say). Null: there is
/// none.
static inline void* unisono_search_symbol(const char* name, unisono_fits fits) {
  void* address = dlsym(RTLD_NEXT, name);
  if (address != NULL && fits(address, name)) return address;
  char* paths = unisono_loaded_libraries();
  address = NULL;
  for (const char* path = paths; path != NULL && *path != '\0' && address == NULL;
       path += strlen(path) + 1) {
    address = unisono_symbol_in(path, name);
    if (address != NULL && !fits(address, name)) address = NULL;
  }
  free(paths);
  return address;
}

/// The same; where there is no "MPI_Bcast" (or "mpi_bcast_"), the library's own "PMPI_Bcast"
/// ("pmpi_bcast_").
static inline void* unisono_search_next(const char* name, unisono_fits fits) {
  char profiling[64] = "P";
  void* address = unisono_search_symbol(name, fits);
  if (address != NULL || strlen(name) + 2 > sizeof profiling) return address;
  if (*name == 'm') *profiling = 'p';
  memcpy(profiling + 1, name, strlen(name) + 1);
  return unisono_search_symbol(profiling, fits);
}
