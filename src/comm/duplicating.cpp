#include "comm/duplicating.h"

#include <atomic>

namespace unisono {

namespace {
constinit std::atomic<bool> g_duplicating{false};
}  // namespace

void note_duplicating() noexcept { g_duplicating.store(true, std::memory_order_relaxed); }

bool may_be_duplicating() noexcept { return g_duplicating.load(std::memory_order_relaxed); }

}  // namespace unisono
