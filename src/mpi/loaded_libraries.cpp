#include "mpi/loaded_libraries.h"

#include <dlfcn.h>
#include <link.h>

#include <chrono>
#include <climits>
#include <cstring>
#include <mutex>

#include "mpi/simulated.h"
#include "mpi/threads.h"

namespace unisono {
namespace {

constinit link_map g_any{};
constinit link_map* const g_something = &g_any;
constinit link_map* const g_nothing = nullptr;

constinit std::atomic<unsigned long long> g_seen{0};
constinit std::atomic<bool> g_has_found{false};

using Clock = std::chrono::steady_clock;
/// Another thread may just have read where it finds the bookend's successor. When it has not looked
/// there after so long, it is not going to.
constexpr std::chrono::seconds kGrace{1};

/// Whoever moves the bookend. Never waited for: a thread that loads a library may be in MPI.
constinit std::mutex g_moving;
void* g_bookend = nullptr;
Clock::time_point g_left;        ///< when others were last told where the bookend is
unsigned long long g_tried = 0;  ///< libraries loaded when it was last moved

/// Null: it is not there, or there is no memory.
void* open_bookend() {
  static constexpr char kName[] = "libunisono-bookend.so";
  Dl_info here{};
  if (dladdr(&g_any, &here) == 0 || here.dli_fname == nullptr) return nullptr;
  const char* slash = std::strrchr(here.dli_fname, '/');
  const std::size_t folder =
      slash == nullptr ? 0 : static_cast<std::size_t>(slash - here.dli_fname) + 1;
  char path[PATH_MAX];
  if (folder == 0 || folder + sizeof kName > sizeof path) return nullptr;
  std::memcpy(path, here.dli_fname, folder);
  std::memcpy(path + folder, kName, sizeof kName);
  return dlopen(path, RTLD_LAZY | RTLD_LOCAL);
}

link_map* const* behind(void* library) {
  link_map* map = nullptr;
  return dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 ? &map->l_next : &g_something;
}

/// How many libraries have ever been loaded.
unsigned long long loaded_so_far() {
  unsigned long long loaded = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* result) {
        *static_cast<unsigned long long*>(result) = info->dlpi_adds;
        return 1;  // the first library tells
      },
      &loaded);
  return loaded;
}

/// All of the `loaded` libraries were looked at. Where the bookend cannot be made the last, calls
/// go on asking the dynamic linker.
void move_bookend(unsigned long long loaded) {
  const std::unique_lock lock(g_moving, std::try_to_lock);
  if (!lock || g_tried == loaded) return;
  if (g_behind_bookend.exchange(&g_something) != &g_something) g_left = Clock::now();
  if (g_bookend != nullptr) {
    if (several_threads() && Clock::now() - g_left < kGrace) return;
    dlclose(g_bookend);
  }
  g_tried = loaded;
  g_bookend = open_bookend();
  // Something else was loaded meanwhile, or the program holds the bookend: it is not the last.
  if (g_bookend == nullptr || loaded_so_far() != loaded + 1) return;
  g_seen.store(loaded + 1, std::memory_order_relaxed);
  g_behind_bookend.store(behind(g_bookend), std::memory_order_release);
}

}  // namespace

constinit std::atomic<link_map* const*> g_behind_bookend{&g_something};

void look_at_new_libraries(bool (*look)()) {
  if (!may_have_unseen_libraries()) return;
  const unsigned long long loaded = loaded_so_far();
  if (g_seen.load(std::memory_order_acquire) != loaded) {
    g_has_found.store(look(), std::memory_order_relaxed);
    g_seen.store(loaded, std::memory_order_release);  // after the look: others may not pass it
  }
  if (kSimulated)
    g_behind_bookend.store(&g_nothing, std::memory_order_relaxed);
  else if (!g_has_found)
    move_bookend(loaded);
  else
    g_behind_bookend.store(&g_something, std::memory_order_relaxed);
}

}  // namespace unisono
