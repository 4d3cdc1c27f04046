#include "comm/lingering.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

#include "base/lasting.h"

namespace unisono {

namespace {

struct Kept {
  std::mutex mutex;
  std::vector<Lingering> all;
};

Kept& kept() { return lasting<Kept>(); }

// Not touched under the mutex, which MPI_Comm_free takes within the MPI library's own locks.
std::vector<Lingering> take_all() {
  const std::lock_guard lock(kept().mutex);
  return std::exchange(kept().all, {});
}

void put_back(std::vector<Lingering> some) {
  const std::lock_guard lock(kept().mutex);
  std::move(some.begin(), some.end(), std::back_inserter(kept().all));
}

bool is_over(const Lingering& one) {
  return (one.learning == nullptr || one.learning->is_over()) &&
         (one.groups == nullptr || one.groups->is_over(one.own));
}

void complete(const Lingering& one) {
  if (one.learning != nullptr) one.learning->complete();
  if (one.groups != nullptr) one.groups->complete(one.own);
}

/// Ranks wait for each other to end groups: those last, and in the order of all.
void sort_by_groups(std::vector<Lingering>& all) {
  const auto with_groups = std::stable_partition(
      all.begin(), all.end(), [](const Lingering& one) { return one.groups == nullptr; });
  std::sort(with_groups, all.end(), [](const Lingering& a, const Lingering& b) {
    return a.groups->comes_before(*b.groups);
  });
}

}  // namespace

void linger(Lingering one) {
  const std::lock_guard lock(kept().mutex);
  kept().all.push_back(std::move(one));
}

int free_lingering(bool wait) {
  std::vector<Lingering> all = take_all(), left;
  sort_by_groups(all);
  int freed = 0;
  for (Lingering& one : all) {
    if (!wait && !is_over(one)) {
      left.push_back(std::move(one));
      continue;
    }
    complete(one);
    PMPI_Comm_free(&one.own);
    ++freed;
  }
  put_back(std::move(left));
  return freed;
}

void complete_lingering() {
  std::vector<Lingering> all = take_all();
  sort_by_groups(all);
  for (const Lingering& one : all) complete(one);
  put_back(std::move(all));
}

}  // namespace unisono
