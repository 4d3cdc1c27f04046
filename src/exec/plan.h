// A plan: a schedule made ready to run, and a bounded store of them.
#pragma once
#include <list>
#include <memory>
#include <mutex>
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

class PlanCache;

/// What the plan caches of a process share: their memory, at most `limit` bytes. A new plan that
/// does not fit drops those that were used least recently, of whichever cache; one that is larger
/// than all the memory is not kept. Outlives its caches, which several threads may use at once.
class PlanStore {
 public:
  explicit PlanStore(std::size_t limit = 0) : limit_(limit) {}
  PlanStore(const PlanStore&) = delete;
  PlanStore& operator=(const PlanStore&) = delete;

  /// Before there is any plan.
  void set_limit(std::size_t bytes) { limit_ = bytes; }
  std::size_t bytes() const;

 private:
  friend class PlanCache;
  struct Entry {
    PlanCache* cache;
    std::string key;
    std::shared_ptr<const Plan> plan;
    std::size_t bytes() const { return plan->bytes() + 2 * key.size() + sizeof(Entry); }
  };
  using Entries = std::list<Entry>;
  void drop(Entries::iterator entry);

  mutable std::mutex mutex_;  // guards all that follows, and the caches' tables
  std::size_t limit_;
  std::size_t bytes_ = 0;
  Entries entries_;  // most recently used first
};

/// The plans of one communicator.
class PlanCache {
 public:
  explicit PlanCache(PlanStore& store) : store_(store) {}
  ~PlanCache();
  PlanCache(const PlanCache&) = delete;
  PlanCache& operator=(const PlanCache&) = delete;

  /// The plan stored under `key` (any bytes), or nullptr.
  std::shared_ptr<const Plan> find(const std::string& key);
  void store(const std::string& key, std::shared_ptr<const Plan> plan);
  std::size_t size() const;

 private:
  friend class PlanStore;
  using Entries = PlanStore::Entries;

  PlanStore& store_;
  std::unordered_map<std::string, Entries::iterator> by_key_;
};

}  // namespace unisono
