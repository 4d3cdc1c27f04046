// The ranking of IS on all ranks of a job: three collectives, as in the benchmark.
#pragma once
#include <array>
#include <memory>
#include <vector>

#include "apps/common/loop_timer.h"
#include "apps/common/world.h"
#include "apps/is/classes.h"
#include "apps/is/keys.h"

namespace apps::is {

/// How the two collectives are called whose counts never change.
enum class Form { blocking, persistent };

/// This rank's keys after an iteration: all below those of the next rank.
struct Ranked {
  Key low = 0;             // the least that may be here
  std::int64_t below = 0;  // the keys on the ranks before
  std::vector<int> ranks;  // ranked(), of the keys that are here
  std::array<Key, kTested> tested{};
  bool has(Key key) const {
    return key >= low && static_cast<std::size_t>(key - low) + 1 < ranks.size();
  }
  std::int64_t rank_of(Key key) const { return below + ranks[static_cast<std::size_t>(key - low)]; }
};

class Ranking {
 public:
  /// `of` is nullptr where nothing is known of the keys' ranks. Collective.
  Ranking(const Buckets& buckets, const Class* of, Form form, const World& world, LoopTimer& timer);
  ~Ranking();
  Ranking(const Ranking&) = delete;
  Ranking& operator=(const Ranking&) = delete;

  /// Allreduce of the buckets' sizes, Alltoall of counts, Alltoallv of keys; `own` begin with the
  /// number `first` of all keys. Collective.
  Ranked operator()(const std::vector<Key>& own, std::size_t first);

 private:
  struct Exchanges;
  std::vector<Key> exchanged(const std::vector<Key>& ordered,
                             const std::vector<std::size_t>& first);

  Buckets buckets_;
  const Class* class_;
  World world_;
  LoopTimer& timer_;
  // Where the collectives find their data, always the same for the persistent ones.
  std::vector<int> sizes_, of_all_;  // of the buckets; behind them the keys that are tested
  std::vector<int> to_, from_;       // keys to and from each rank
  std::unique_ptr<Exchanges> exchanges_;
};

}  // namespace apps::is
