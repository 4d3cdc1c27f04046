#include "comm/tags.h"

#include <mpi.h>

#include <algorithm>

#include "exec/transport.h"

namespace unisono {

namespace {

// Calls at once. 20,000 nonblocking reductions of three ranks took Open MPI 5.0.11 three times as
// long without a bound.
constexpr unsigned kUnderWay = 64;

// Of kChannelDepth tags: for calls, and behind them those that last.
unsigned g_slots = 1, g_lasting_slots = 0;

}  // namespace

void start_tags() {
  const void* value = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&value), &found);
  const unsigned most = found ? static_cast<unsigned>(*static_cast<const int*>(value)) : 32767U;
  const unsigned slots = (most - 1) / static_cast<unsigned>(kChannelDepth);
  g_lasting_slots = slots < 256 ? 0 : slots / 2;
  g_slots = slots - g_lasting_slots;
}

int Tags::first() const {
  const unsigned slot = lasting ? g_slots + number : number % g_slots;
  return static_cast<int>(slot * static_cast<unsigned>(kChannelDepth));
}

Tags TagBook::take() {
  const std::lock_guard lock(mutex_);
  live_.push_back(taken_);
  return {taken_++};
}

std::optional<Tags> TagBook::take_lasting() {
  const std::lock_guard lock(mutex_);
  if (lasting_ == g_lasting_slots) return std::nullopt;
  return Tags{lasting_++, true};
}

bool TagBook::may_use(Tags tags) const {
  if (tags.lasting) return true;
  const std::lock_guard lock(mutex_);
  return tags.number - live_.front() < std::min(g_slots, kUnderWay);
}

void TagBook::give_back(Tags tags) noexcept {
  if (tags.lasting) return;
  const std::lock_guard lock(mutex_);
  const auto at = std::find(live_.begin(), live_.end(), tags.number);
  if (at != live_.end()) live_.erase(at);
}

}  // namespace unisono
