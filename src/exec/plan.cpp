#include "exec/plan.h"

#include <utility>

namespace unisono {

Plan::Plan(Schedule schedule) : schedule_(std::move(schedule)) {
  const std::size_t n = schedule_.ops().size();
  first_dependent_.assign(n + 1, 0);
  open_.resize(n);
  for (OpId id = 0; id < n; ++id) {
    const auto dependencies = schedule_.dependencies(id);
    open_[id] = static_cast<std::uint32_t>(dependencies.size());
    if (dependencies.empty()) sources_.push_back(id);
    if (schedule_.ops()[id].kind == OpKind::enqueue) ++enqueues_;
    for (const OpId d : dependencies) ++first_dependent_[d + 1];
  }
  for (std::size_t i = 0; i < n; ++i) first_dependent_[i + 1] += first_dependent_[i];
  dependents_.resize(first_dependent_[n]);
  std::vector<std::uint32_t> next(first_dependent_.begin(), first_dependent_.end() - 1);
  for (OpId id = 0; id < n; ++id)
    for (const OpId d : schedule_.dependencies(id)) dependents_[next[d]++] = id;
}

std::size_t Plan::bytes() const {
  return sizeof *this - sizeof schedule_ + schedule_.bytes() +
         sizeof(std::uint32_t) *
             (first_dependent_.size() + dependents_.size() + sources_.size() + open_.size());
}

PlanCache::~PlanCache() { total_ -= bytes_; }

std::shared_ptr<const Plan> PlanCache::find(const std::string& key) {
  if (!entries_.empty() && entries_.front().key == key) return entries_.front().plan;
  const auto it = by_key_.find(key);
  if (it == by_key_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, it->second);
  return it->second->plan;
}

void PlanCache::store(const std::string& key, std::shared_ptr<const Plan> plan) {
  if (by_key_.contains(key)) return;
  entries_.push_front({key, std::move(plan)});
  by_key_.emplace(key, entries_.begin());
  count(entries_.front().bytes());
  while (total_ > limit_ && !entries_.empty()) {
    count(-entries_.back().bytes());
    by_key_.erase(entries_.back().key);
    entries_.pop_back();
  }
}

void PlanCache::count(std::size_t bytes) {
  bytes_ += bytes;
  total_ += bytes;
}

}  // namespace unisono
