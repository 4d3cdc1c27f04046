// The first call of a function through the stub: finds out which MPI library the process has, opens
// the flavour library for it, and points the function's slot to where all later calls go.
//
// No locks: a thread that holds the dynamic linker's lock may get here as well. Threads that meet
// here do the same work twice and come to the same result.
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "interpose/stub/inactive.h"
#include "interpose/stub/join.h"
#include "interpose/stub/mpi_library.h"
#include "interpose/stub/symbol_search.h"

extern "C" __attribute__((visibility("hidden"))) std::atomic<void*> unisono_slots[];

namespace unisono::stub {
namespace {

constexpr const char* kNames[] = {
#define UNISONO_SYMBOL(name) #name,
#include "interpose/stub/symbols.inc"
};

enum class State : int { unknown, accelerated, native };

constinit std::atomic<State> g_state{State::unknown};
constinit std::atomic<void*> g_flavour{nullptr};

std::string own_folder() {
  Dl_info info;
  if (!dladdr(unisono_slots, &info)) return "";
  const std::string_view path = info.dli_fname;
  return std::string(
      path.substr(0, path.size() - std::string_view(base_name(info.dli_fname)).size()));
}

void complain(const std::string& what) {
  dprintf(STDERR_FILENO, "unisono: %s; the program runs on its MPI library alone\n", what.c_str());
}

/// Opens the flavour library for `mpi`, whose symbols it finds in the global scope. Null: `problem`
/// says why.
void* open_flavour(const MpiLibrary& mpi, int mode, std::string& problem) {
  void* handle = dlopen(mpi.path.c_str(), RTLD_NOLOAD | RTLD_GLOBAL | RTLD_NOW);
  if (handle && dlsym(handle, "PMPI_Init") != dlsym(RTLD_DEFAULT, "PMPI_Init")) {
    problem = "two MPI libraries are loaded, and the calls come from " + mpi.path +
              ", which is not the first";
    return nullptr;
  }
  const std::string path = own_folder() + "libunisono-" + mpi.flavour + ".so";
  void* flavour = dlopen(path.c_str(), mode | RTLD_LOCAL);
  if (!flavour) {
    problem = dlerror();
    return nullptr;
  }
  if (auto* attach =
          reinterpret_cast<void (*)(void* (*)(const char*))>(dlsym(flavour, "unisono_attach")))
    attach(search_next);
  return flavour;
}

/// Decides once for the process, at the first call of `name`. UNISONO_DISABLE is not looked at
/// here: a rank on which it is set must still tell the others so in MPI_Init.
State decide(const char* name, const void* caller) {
  if (const State state = g_state.load(std::memory_order_acquire); state != State::unknown)
    return state;
  std::string problem;
  State state = State::native;
  const MpiLibrary mpi = find_mpi_library(caller);
  if (!mpi) {
    problem = std::string("no MPI library that it knows is loaded: ") + kKnownLibraries;
  } else if (void* flavour = open_flavour(mpi, RTLD_NOW, problem)) {
    g_flavour.store(flavour, std::memory_order_release);
    state = State::accelerated;
  }
  State expected = State::unknown;
  if (!g_state.compare_exchange_strong(expected, state)) return expected;
  if (!problem.empty() && search_next(name)) complain(problem);
  return state;
}

/// A large-count form that the stub exports but the MPI library lacks, while Unisono does nothing:
/// programs were told that it exists, so it must work. The flavour library narrows it, even one
/// that did not load completely because the MPI library is too old for the rest of it.
void* narrowing_form(const char* name, const void* caller) {
  std::string problem;
  const MpiLibrary mpi = find_mpi_library(caller);
  void* flavour = mpi ? open_flavour(mpi, RTLD_LAZY, problem) : nullptr;
  return flavour ? dlsym(flavour, name) : nullptr;
}

[[noreturn]] void die(const char* name) {
  dprintf(STDERR_FILENO, "unisono: %s was called, but no library of this process defines it (%s)\n",
          name, kKnownLibraries);
  std::abort();
}

}  // namespace

extern "C" __attribute__((visibility("hidden"))) void* unisono_resolve(std::size_t slot,
                                                                       const void* caller) {
  const char* name = kNames[slot];
  void* target = nullptr;
  if (std::string_view(name).starts_with("unisono_") && !find_mpi_library(caller))
    return inactive_function(name);  // asked before MPI is there: may be different later
  if (decide(name, caller) == State::accelerated) target = dlsym(g_flavour.load(), name);
  if (!target) target = inactive_function(name);
  if (!target) {
    target = search_next(name);
    if (void* joining = joining_init(name, target, find_mpi_library(caller))) target = joining;
  }
  if (!target) target = narrowing_form(name, caller);
  if (!target) die(name);
  unisono_slots[slot].store(target, std::memory_order_release);
  return target;
}

}  // namespace unisono::stub
