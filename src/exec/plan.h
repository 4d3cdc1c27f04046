// A plan: a schedule made ready to run, and a bounded store of them.
#pragma once
#include <atomic>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "schedule/schedule.h"

namespace unisono {

/// A schedule with what the executor wants to know of it beforehand. Immutable, so that several
/// executions may share it.
class Plan {
 public:
  explicit Plan(Schedule schedule);

  const Schedule& schedule() const { return schedule_; }
  /// The ops that wait for op `id`.
  std::span<const OpId> dependents(OpId id) const {
    return {dependents_.data() + first_dependent_[id],
            first_dependent_[id + 1] - first_dependent_[id]};
  }
  /// Ops that can start at once, in program order.
  std::span<const OpId> sources() const { return sources_; }
  /// How many dependencies each op has.
  std::span<const std::uint32_t> open() const { return open_; }
  /// How many ranks a serve will find, sooner or later.
  std::size_t enqueues() const { return enqueues_; }
  /// Memory held, in bytes.
  std::size_t bytes() const;

 private:
  Schedule schedule_;
  std::vector<std::uint32_t> first_dependent_;
  std::vector<OpId> dependents_;
  std::vector<OpId> sources_;
  std::vector<std::uint32_t> open_;
  std::size_t enqueues_ = 0;
};

/// The plans of one communicator. `total` is the memory of all caches of the process: a cache whose
/// new plan makes it exceed `limit` bytes drops its own least recently used plans, the new one
/// last.
class PlanCache {
 public:
  PlanCache(std::size_t limit, std::atomic<std::size_t>& total) : limit_(limit), total_(total) {}
  ~PlanCache();
  PlanCache(const PlanCache&) = delete;
  PlanCache& operator=(const PlanCache&) = delete;

  /// The plan stored under `key` (any bytes), or nullptr.
  std::shared_ptr<const Plan> find(const std::string& key);
  void store(const std::string& key, std::shared_ptr<const Plan> plan);
  std::size_t bytes() const { return bytes_; }
  std::size_t size() const { return by_key_.size(); }

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const Plan> plan;
    std::size_t bytes() const { return plan->bytes() + 2 * key.size() + sizeof(Entry); }
  };
  void count(std::size_t bytes);  // modulo 2^64: negative numbers subtract

  std::size_t limit_;
  std::atomic<std::size_t>& total_;
  std::size_t bytes_ = 0;
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<std::string, std::list<Entry>::iterator> by_key_;
};

}  // namespace unisono
