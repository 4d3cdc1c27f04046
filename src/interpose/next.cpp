#include "interpose/next.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "base/say.h"
#include "base/standard_error.h"
#include "interpose/entry.h"
#include "interpose/stub/symbol_search.h"

namespace unisono {
namespace {

using Resolver = void* (*)(const char* name);
constinit std::atomic<Resolver> g_resolver{nullptr};

}  // namespace

void* find_next(const char* name) {
  const Resolver resolver = g_resolver.load(std::memory_order_acquire);
  return resolver ? resolver(name) : unisono_search_next(name, unisono_is_not_ours);
}

void* require_next(const char* name) {
  if (void* address = find_next(name)) return address;
  say("no library of this process defines " + std::string(name));
  std::abort();
}

bool is_of_tool(const char* name) {
  Dl_info tool{}, library{};
  return dladdr(find_next(name), &tool) != 0 && dladdr(find_next("PMPI_Init"), &library) != 0 &&
         tool.dli_fbase != library.dli_fbase;
}

}  // namespace unisono

/// Called by the stub: it stands where the dynamic linker's search order begins, this library
/// does not when the stub has opened it.
ENTRY void unisono_attach(unisono::Resolver resolver, const unisono_standard_error* at_load) {
  unisono::set_standard_error(*at_load);
  unisono::g_resolver.store(resolver, std::memory_order_release);
}
