// Whether the program has loaded a library since somebody looked, for the price of two loads.
//
// The dynamic linker appends what it loads to a list. An empty library of our own, the bookend
// (libunisono-bookend.so, beside this one), is kept at the end of it: while nothing follows,
// nothing was loaded. Whatever comes later is behind it; then somebody looks at that, and the
// bookend is unloaded and loaded again. The program's last library would do as well, but it would
// have to be held, and the program could no longer unload it.
#pragma once
#include <atomic>

struct link_map;

namespace unisono {

/// Where the dynamic linker writes what follows the bookend; where something stands while that is
/// not known to be at the end, or somebody wants to be asked in any case.
extern constinit std::atomic<link_map* const*> g_behind_bookend;

/// Whether look_at_new_libraries() should be called.
[[gnu::always_inline]] inline bool may_have_unseen_libraries() {
  // What this thread uses, it has seen loaded: no order beyond that is needed.
  return __atomic_load_n(g_behind_bookend.load(std::memory_order_relaxed), __ATOMIC_RELAXED) !=
         nullptr;
}

/// Calls `look` if libraries were loaded since it was last called. It returns whether it has found
/// what it looks for: then may_have_unseen_libraries() stays true.
void look_at_new_libraries(bool (*look)());

}  // namespace unisono
