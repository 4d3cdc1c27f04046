#include "comm/making.h"

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace unisono {

namespace {

struct Making {
  std::mutex mutex;
  std::condition_variable unisono_is_done;
  int program = 0, unisono = 0;
};

// Never destroyed: a program may make communicators in its own exit handlers, after ours.
Making& making() {
  static Making& all = *new Making;
  return all;
}

constinit std::atomic<bool> g_duplicating{false};

}  // namespace

ProgramMakes::ProgramMakes() {
  Making& all = making();
  std::unique_lock lock(all.mutex);
  all.unisono_is_done.wait(lock, [&] { return all.unisono == 0; });
  ++all.program;
}

ProgramMakes::~ProgramMakes() {
  const std::lock_guard lock(making().mutex);
  --making().program;
}

UnisonoMakes::UnisonoMakes() {
  const std::lock_guard lock(making().mutex);
  may_ = making().program == 0;
  if (may_) ++making().unisono;
}

UnisonoMakes::~UnisonoMakes() {
  if (!may_) return;
  const std::lock_guard lock(making().mutex);
  if (--making().unisono == 0) making().unisono_is_done.notify_all();
}

void note_duplicating() noexcept { g_duplicating.store(true, std::memory_order_relaxed); }

bool may_be_duplicating() noexcept { return g_duplicating.load(std::memory_order_relaxed); }

}  // namespace unisono
