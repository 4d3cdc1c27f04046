// The first call of a function through the stub: finds out whose function it is and which MPI
// library the process has, opens the flavour library for it, and points the function's slot to
// where all later calls go.
//
// No locks: a thread that holds the dynamic linker's lock may get here as well. Threads that meet
// here do the same work twice and come to the same result.
#include "interpose/stub/symbol_search.h"

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "base/launcher.h"
#include "base/standard_error.h"
#include "interpose/stub/environment.h"
#include "interpose/stub/inactive.h"
#include "interpose/stub/mpi_library.h"

static const char* const kNames[] = {
#define UNISONO_SYMBOL(name) #name,
#include "interpose/stub/symbols.inc"
};

__attribute__((visibility("hidden"))) extern void* unisono_slots[];
__attribute__((visibility("hidden"))) void* unisono_resolve(size_t slot, const void* caller);

enum State { kUnknown, kAccelerated, kNative };

static int g_state = kUnknown;  // the next ones are set before it
static void* g_flavour = NULL;
static const void* g_mpi = NULL;  // PMPI_Init of the MPI library that it was opened for
// It was opened privately, and had to be made visible to all.
static bool g_made_visible = false;

static struct unisono_standard_error g_standard_error;

/// Before the program can close it.
__attribute__((constructor)) static void look_at_standard_error(void) {
  g_standard_error = unisono_standard_error_now();
}

static void complain(const char* what, const char* why, const char* rest) {
  if (unisono_user_reads(&g_standard_error))
    dprintf(STDERR_FILENO, "unisono: %s%s%s; the program runs on its MPI library alone\n", what,
            why, rest);
}

/// What all find where the dynamic linker looks after this library. Null: nothing.
static void* next_of_all(const char* name) {
  void* address = dlsym(RTLD_NEXT, name);
  return address != NULL && !unisono_is_own_code(address) ? address : NULL;
}

/// What the caller alone would find: in its own library, or in those that this one needs.
static void* next_of_caller(const char* name, const void* caller) {
  Dl_info info;
  void* address =
      dladdr((void*)caller, &info) != 0 ? unisono_symbol_in(info.dli_fname, name) : NULL;
  return address != NULL && !unisono_is_own_code(address) ? address : NULL;
}

/// Whether a definition belongs to another MPI library than the one that Unisono was opened for.
static bool is_of_another_mpi(const void* definition) {
  Dl_info info;
  if (g_mpi == NULL || dladdr((void*)definition, &info) == 0) return false;
  const void* other = unisono_symbol_in(info.dli_fname, "PMPI_Init");
  return other != NULL && other != g_mpi;
}

static bool is_of_this_mpi(const void* definition, const char* name) {
  return !unisono_is_own_code(definition) && unisono_is_of_mpi(definition, name) &&
         !is_of_another_mpi(definition);
}

/// The MPI library's, or that of a tool which comes before it.
static void* next_of_mpi(const char* name) { return unisono_search_next(name, is_of_this_mpi); }

/// Opens a library that lies beside this one. Null: dlerror() says why.
static void* open_beside(const char* first, const char* second, int mode) {
  char path[PATH_MAX];
  Dl_info info;
  if (dladdr(unisono_slots, &info) == 0) return NULL;
  const size_t folder = (size_t)(unisono_base_name(info.dli_fname) - info.dli_fname);
  if (folder + strlen(first) + strlen(second) + sizeof ".so" > sizeof path) return NULL;
  memcpy(path, info.dli_fname, folder);
  char* end = stpcpy(stpcpy(path + folder, first), second);
  memcpy(end, ".so", sizeof ".so");
  return dlopen(path, mode | RTLD_LOCAL);
}

/// Whether the flavour library will find the functions of `mpi`. Where the program has opened it
/// privately, as Python opens modules, a bridge takes both into one scope. Else the MPI library
/// would be visible to all that is opened later, which natively finds functions of its own. There
/// is a bridge for each file name but those that vendors have chosen.
static bool can_be_found(const struct unisono_mpi_library* mpi, int mode) {
  const void* wanted = unisono_symbol_in(mpi->path, "PMPI_Init");
  g_mpi = dlsym(RTLD_DEFAULT, "PMPI_Init");
  if (g_mpi == NULL) {
    void* bridge = open_beside("libunisono-over-", mpi->soname, mode);
    if (bridge != NULL) g_mpi = dlsym(bridge, "PMPI_Init");
  }
  if (g_mpi == NULL) {
    g_made_visible = dlopen(mpi->path, RTLD_NOLOAD | RTLD_GLOBAL | RTLD_NOW) != NULL;
    g_mpi = dlsym(RTLD_DEFAULT, "PMPI_Init");
  }
  return g_mpi == wanted;
}

/// Opens the flavour library for `mpi`. Null: `second` is set if that is not the first MPI library,
/// or else dlerror() says why.
static void* open_flavour(const struct unisono_mpi_library* mpi, int mode, const char** second) {
  void (*attach)(void* (*)(const char*), const struct unisono_standard_error*) = NULL;
  if (!can_be_found(mpi, mode)) {
    *second = mpi->path;
    return NULL;
  }
  void* flavour = open_beside("libunisono-", mpi->flavour, mode);
  if (flavour != NULL) *(void**)&attach = dlsym(flavour, "unisono_attach");
  if (attach != NULL) attach(next_of_mpi, &g_standard_error);
  return flavour;
}

/// Decides once for the process, at the first call of a function that an MPI library has.
static int decide(const struct unisono_mpi_library* mpi) {
  int state = __atomic_load_n(&g_state, __ATOMIC_ACQUIRE), expected = kUnknown;
  const char* second = NULL;
  if (state != kUnknown) return state;
  void* flavour = open_flavour(mpi, RTLD_NOW, &second);
  const char* error = flavour == NULL && second == NULL ? dlerror() : NULL;
  if (flavour != NULL) __atomic_store_n(&g_flavour, flavour, __ATOMIC_RELEASE);
  state = flavour != NULL ? kAccelerated : kNative;
  if (!__atomic_compare_exchange_n(&g_state, &expected, state, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_ACQUIRE))
    return expected;
  if (second != NULL)
    complain("two MPI libraries are loaded, and the calls come from ", second,
             ", which is not the first");
  else if (error != NULL)
    complain(error, "", "");
  return state;
}

/// Of the flavour library, if that serves this process.
static void* accelerated(const char* name, const struct unisono_mpi_library* mpi) {
  if (unisono_does_nothing() || decide(mpi) != kAccelerated) return NULL;
  return dlsym(__atomic_load_n(&g_flavour, __ATOMIC_ACQUIRE), name);
}

/// A large-count form that the stub exports but the MPI library lacks, while Unisono does nothing:
/// programs were told that it exists, so it must work. The flavour library narrows it, even one
/// that did not load completely because the MPI library is too old for the rest of it.
static void* narrowing_form(const char* name, const struct unisono_mpi_library* mpi) {
  const char* second = NULL;
  void* flavour = mpi->flavour != NULL ? open_flavour(mpi, RTLD_LAZY, &second) : NULL;
  return flavour != NULL ? dlsym(flavour, name) : NULL;
}

/// In place of an MPI_Init that Unisono does nothing in: one that tells the other ranks so. Null:
/// `name` is none.
static void* joining_init(const char* name, void* next, const struct unisono_mpi_library* mpi) {
  void* (*join)(const char*, void*, const char*, const char*) = NULL;
  if (strncmp(name, "MPI_Init", 8) != 0 && strncmp(name, "mpi_init", 8) != 0) return NULL;
  void* library =
      next != NULL && mpi->flavour != NULL ? open_beside("libunisono-", "join", RTLD_NOW) : NULL;
  if (library != NULL) *(void**)&join = dlsym(library, "unisono_joining_init");
  return join != NULL ? join(name, next, mpi->path, mpi->flavour) : NULL;
}

/// What serves a call that an MPI library of the process can serve. Null: nothing does.
static void* through_unisono(const char* name, void* native,
                             const struct unisono_mpi_library* mpi) {
  unisono_leave_environment();
  void* target = accelerated(name, mpi);
  if (target != NULL) return target;
  target = native != NULL ? native : next_of_mpi(name);
  void* joining = unisono_does_nothing() && unisono_whole_job_is_here()
                      ? NULL
                      : joining_init(name, target, mpi);
  if (joining != NULL) return joining;
  return target != NULL ? target : narrowing_form(name, mpi);
}

/// The same where there is none that Unisono knows, but perhaps another.
static void* without_mpi(const char* name) {
  static int said = 0;
  void* target = unisono_search_next(name, unisono_is_not_ours);
  if (target != NULL && unisono_is_of_mpi(target, name) && !unisono_does_nothing() &&
      __atomic_exchange_n(&said, 1, __ATOMIC_RELAXED) == 0)
    complain("no MPI library that it knows is loaded: ", UNISONO_KNOWN_LIBRARIES, "");
  return target;
}

// --- functions that are not the same for all
// --------------------------------------------------------- Where a function is found in privately
// opened libraries only, another one may be opened later that has its own: nothing is stored in its
// slot. What was found is kept for the place of the call. Nothing is ever replaced, so that a place
// and its target belong together.

enum { kPlaces = 1024, kTries = 8, kSlotShift = 48 };
static struct {
  uint64_t place;
  void* target;
} g_places[kPlaces];

static uint64_t place_of(size_t slot, const void* caller) {
  return (uint64_t)(uintptr_t)caller ^ (uint64_t)(slot + 1) << kSlotShift;
}

static size_t first_try(uint64_t place) { return (place * 0x9e3779b97f4a7c15u) >> 54; }

static void* found_before(uint64_t place) {
  for (size_t k = 0, at = first_try(place); k < kTries; ++k, at = (at + 1) % kPlaces)
    if (__atomic_load_n(&g_places[at].place, __ATOMIC_ACQUIRE) == place)
      return __atomic_load_n(&g_places[at].target, __ATOMIC_ACQUIRE);
  return NULL;
}

static void keep(uint64_t place, void* target) {
  for (size_t k = 0, at = first_try(place); k < kTries; ++k, at = (at + 1) % kPlaces) {
    uint64_t expected = 0;
    if (!__atomic_compare_exchange_n(&g_places[at].place, &expected, place, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE) &&
        expected != place)
      continue;
    __atomic_store_n(&g_places[at].target, target, __ATOMIC_RELEASE);
    return;
  }
}

static void store(size_t slot, void* target) {
  __atomic_store_n(&unisono_slots[slot], target, __ATOMIC_RELEASE);
}

static void* public_function(size_t slot, const char* name, const void* caller) {
  struct unisono_mpi_library mpi;
  unisono_find_mpi_library(caller, &mpi);
  void* target = mpi.flavour != NULL ? accelerated(name, &mpi) : NULL;
  if (target == NULL) target = unisono_inactive_function(name);
  if (mpi.flavour != NULL) store(slot, target);  // else it may be another one later
  return target;
}

/// What the dynamic linker would have found without Unisono: the same for all, or for this caller.
static void* native_function(const char* name, void* of_all, const void* caller) {
  void* found = of_all == NULL || g_made_visible ? next_of_caller(name, caller) : of_all;
  return found != NULL ? found : of_all;
}

__attribute__((noreturn)) static void end_without(const char* name) {
  if (unisono_user_reads(&g_standard_error))
    dprintf(STDERR_FILENO,
            "unisono: %s was called, but no library of this process defines it (%s)\n", name,
            UNISONO_KNOWN_LIBRARIES);
  abort();
}

/// UCX's, for a library that calls it: of MPICH Unisono's stands before it (interpose/turn.cpp).
static void* turn_function(uint64_t place, const char* name, const void* caller) {
  void (*turn_over)(void*) = NULL;
  struct unisono_mpi_library mpi;
  Dl_info info;
  void* next = native_function(name, next_of_all(name), caller);
  void* target = NULL;
  unisono_find_mpi_library(caller, &mpi);
  const bool is_mpi = mpi.flavour != NULL && strcmp(mpi.flavour, "openmpi") != 0 &&
                      dladdr((void*)caller, &info) != 0 && strcmp(info.dli_fname, mpi.path) == 0;
  if (is_mpi && next != NULL) target = accelerated(name, &mpi);
  if (target != NULL)
    *(void**)&turn_over = dlsym(__atomic_load_n(&g_flavour, __ATOMIC_ACQUIRE), "unisono_turn_over");
  if (next == NULL) next = unisono_search_symbol(name, unisono_is_not_ours);
  if (turn_over != NULL)
    turn_over(next);
  else
    target = next;
  if (target == NULL) end_without(name);
  // For this caller: another library may have a copy of UCX for itself.
  keep(place, target);
  return target;
}

void* unisono_resolve(size_t slot, const void* caller) {
  const char* name = kNames[slot];
  const uint64_t place = place_of(slot, caller);
  void* target = found_before(place);
  if (target != NULL) return target;
  if (strncmp(name, "unisono_", 8) == 0) return public_function(slot, name, caller);
  if (strncmp(name, "ucp_", 4) == 0) return turn_function(place, name, caller);
  void* of_all = next_of_all(name);
  void* native = native_function(name, of_all, caller);
  if (native != NULL && (!unisono_is_of_mpi(native, name) || is_of_another_mpi(native))) {
    if (native == of_all && !g_made_visible) store(slot, native);
    return native;
  }
  struct unisono_mpi_library mpi;
  unisono_find_mpi_library(caller, &mpi);
  target = mpi.flavour != NULL ? through_unisono(name, native, &mpi) : without_mpi(name);
  if (target == NULL) end_without(name);
  if (of_all != NULL && !g_made_visible)
    store(slot, target);
  else if (mpi.flavour != NULL)
    keep(place, target);
  return target;
}

/// AddressSanitizer ends a program before which another library is loaded, in case that one
/// replaces what it watches. This one does not.
__attribute__((visibility("default"))) const char* __asan_default_options(void) {
  return "verify_asan_link_order=0";
}
