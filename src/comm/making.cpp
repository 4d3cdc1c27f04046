#include "comm/making.h"

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace unisono {

namespace {

struct Making {
  std::mutex mutex;
  std::condition_variable unisono_is_done, program_is_done;
  int program = 0, unisono = 0;
  bool lasts = false;  // longer than anybody waits: what the program makes
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
  Making& all = making();
  const std::lock_guard lock(all.mutex);
  if (--all.program > 0) return;
  all.lasts = false;
  all.program_is_done.notify_all();
}

UnisonoMakes::UnisonoMakes(std::chrono::milliseconds patience) {
  Making& all = making();
  std::unique_lock lock(all.mutex);
  ++all.unisono;  // from here on the program begins no other
  if (!all.lasts)
    all.lasts = !all.program_is_done.wait_for(lock, patience, [&] { return all.program == 0; });
  may_ = all.program == 0;
}

UnisonoMakes::~UnisonoMakes() {
  const std::lock_guard lock(making().mutex);
  if (--making().unisono == 0) making().unisono_is_done.notify_all();
}

void note_duplicating() noexcept { g_duplicating.store(true, std::memory_order_relaxed); }

bool may_be_duplicating() noexcept { return g_duplicating.load(std::memory_order_relaxed); }

}  // namespace unisono
