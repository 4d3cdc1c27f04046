#include "exec/plan.h"

#include <iterator>
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

std::size_t PlanStore::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

void PlanStore::drop(Entries::iterator entry) {
  bytes_ -= entry->bytes();
  entry->cache->by_key_.erase(entry->key);
  entries_.erase(entry);
}

PlanCache::~PlanCache() {
  const std::lock_guard lock(store_.mutex_);
  while (!by_key_.empty()) store_.drop(by_key_.begin()->second);
}

std::shared_ptr<const Plan> PlanCache::find(const std::string& key) {
  const std::lock_guard lock(store_.mutex_);
  Entries& entries = store_.entries_;
  // A program that repeats itself needs no hash of a long key.
  if (!entries.empty() && entries.front().cache == this && entries.front().key == key)
    return entries.front().plan;
  const auto it = by_key_.find(key);
  if (it == by_key_.end()) return nullptr;
  entries.splice(entries.begin(), entries, it->second);
  return it->second->plan;
}

void PlanCache::store(const std::string& key, std::shared_ptr<const Plan> plan) {
  const std::lock_guard lock(store_.mutex_);
  if (by_key_.contains(key)) return;
  Entries& entries = store_.entries_;
  entries.push_front({this, key, std::move(plan)});
  by_key_.emplace(key, entries.begin());
  store_.bytes_ += entries.front().bytes();
  // One that would drop all others and does not fit even then goes first.
  if (entries.front().bytes() > store_.limit_) store_.drop(entries.begin());
  while (store_.bytes_ > store_.limit_) store_.drop(std::prev(entries.end()));
}

std::size_t PlanCache::size() const {
  const std::lock_guard lock(store_.mutex_);
  return by_key_.size();
}

}  // namespace unisono
