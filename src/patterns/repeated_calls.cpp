#include "patterns/repeated_calls.h"

#include <algorithm>
#include <utility>

namespace unisono {

std::uint64_t RepeatedCalls::enter() {
  const std::lock_guard lock(mutex_);
  return entered_++;
}

std::optional<RepeatedCalls::Decision> RepeatedCalls::decide(std::uint64_t call) {
  const std::lock_guard lock(mutex_);
  if (has_given_up()) return Decision{};
  if (call != next_) return std::nullopt;
  if (cycle_.empty() || planned_calls_ + 1 >= check_after()) return Decision{};
  ++planned_calls_;
  ++next_;
  return Decision{cycle_[std::exchange(position_, (position_ + 1) % cycle_.size())].order};
}

RepeatedCalls::Learned RepeatedCalls::learn(const CountMatrix& matrix) {
  const std::lock_guard lock(mutex_);
  const KnownPtr now = latest_ = know(matrix);
  const auto own_order = [&] {
    return std::make_shared<const MessageOrder>(order_of(now->list, rank_));
  };
  if (has_given_up()) return {own_order()};
  ++next_;
  if (!cycle_.empty()) {
    planned_calls_ = 0;
    const Planned& planned = cycle_[std::exchange(position_, (position_ + 1) % cycle_.size())];
    if (are_alike(*now, planned.list)) return {planned.order};
    cycle_.clear();
    keep(now);
    return {own_order(), News::dropped};
  }
  keep(now);
  const int period = find_period();
  if (period == 0) return {own_order()};
  plan(period);
  return {cycle_.back().order, News::planned, period};
}

std::optional<RepeatedCalls::Latest> RepeatedCalls::latest() {
  const std::lock_guard lock(mutex_);
  if (latest_ == nullptr) return std::nullopt;
  return Latest{latest_->matrix, latest_->list};
}

void RepeatedCalls::give_up(std::uint64_t call) {
  const std::lock_guard lock(mutex_);
  if (call >= next_) failed_ = std::min(failed_, call);
}

/// The same counts once more have the same order.
RepeatedCalls::KnownPtr RepeatedCalls::know(const CountMatrix& matrix) const {
  for (const KnownPtr& known : last_)
    if (known->matrix == matrix) return known;
  Known now{matrix, rule_(matrix)};
  now.time = makespan(now.list, matrix);
  return std::make_shared<const Known>(std::move(now));
}

bool RepeatedCalls::are_alike(const Known& now, const MessageList& list) {
  return now.list == list || makespan(list, now.matrix) * 20 <= now.time * 21;
}

template <class Like>
bool RepeatedCalls::repeats(std::size_t period, std::size_t times, const Like& like) const {
  if (last_.size() < (times + 1) * period) return false;
  for (std::size_t i = last_.size() - times * period; i < last_.size(); ++i)
    if (last_[i] != last_[i - period] && !like(*last_[i], *last_[i - period])) return false;
  return true;
}

int RepeatedCalls::find_period() const {
  const auto nothing_else = [](const Known&, const Known&) { return false; };
  const auto alike = [](const Known& a, const Known& b) { return are_alike(a, b.list); };
  for (int period = 1; period <= kLongestPeriod; ++period) {
    const auto calls = static_cast<std::size_t>(period);
    if (repeats(calls, 1, nothing_else) || repeats(calls, 3, alike)) return period;
  }
  return 0;
}

void RepeatedCalls::keep(KnownPtr known) {
  last_.push_back(std::move(known));
  std::size_t entries = 0, calls = 0;
  for (auto it = last_.rbegin(); it != last_.rend() && entries <= kMostEntries; ++it, ++calls)
    entries += (*it)->matrix.entries();
  if (entries > kMostEntries) --calls;
  while (last_.size() > std::min<std::size_t>(calls, 2 * kLongestPeriod)) last_.pop_front();
}

void RepeatedCalls::plan(int period) {
  for (std::size_t i = last_.size() - static_cast<std::size_t>(period); i < last_.size(); ++i)
    cycle_.push_back(
        {last_[i]->list, std::make_shared<const MessageOrder>(order_of(last_[i]->list, rank_))});
  last_.clear();
  position_ = 0;
  planned_calls_ = 0;
}

}  // namespace unisono
