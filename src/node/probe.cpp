#include "node/probe.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "base/rounding.h"
#include "node/copy.h"
#include "node/direct.h"
#include "node/pages.h"
#include "node/pipeline.h"
#include "node/reduction.h"
#include "node/room.h"

namespace unisono::node {

namespace {

constexpr int kRounds = 9;       // whose median counts
constexpr int kMostRounds = 96;  // to go round the ring once; 0.5 ms on a slow machine
constexpr std::size_t kShortCopy = 64;
constexpr std::size_t kGlance = 2 * Slots::kShort;  // bytes of a chunk, in the long ring
constexpr int kGlances = 3;

using Clock = std::chrono::steady_clock;

template <class Do>
double nanoseconds_of(Do work) {
  const auto begin = Clock::now();
  work();
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

/// Times of so many rounds, without memory that could be missing on one rank alone.
class Times {
 public:
  void add(double value) { values_[static_cast<std::size_t>(count_++)] = value; }
  double least() const { return *std::min_element(values_.begin(), values_.begin() + count_); }
  double median() {
    const auto middle = values_.begin() + count_ / 2;
    std::nth_element(values_.begin(), middle, values_.begin() + count_);
    return *middle;
  }

 private:
  std::array<double, kMostRounds> values_{};
  int count_ = 0;
};

using Bytes = std::unique_ptr<std::byte[]>;

/// Everything that a rank measures; then the largest of all ranks.
struct Found {
  SlotCosts slots;
  double step = 0, combine = 0, call = 0, fresh = 0, stale = 0;
  double lacks_memory = 0;  ///< 1: and took part without measuring
};
static_assert(sizeof(Found) <= kInline);

const StoreCosts& costs_of(const SlotCosts& costs, Store store) {
  return store == Store::plain ? costs.plain : costs.nontemporal;
}
StoreCosts& costs_of(SlotCosts& costs, Store store) {
  return const_cast<StoreCosts&>(costs_of(std::as_const(costs), store));
}

bool chooses_store(const Team& team) {
  return team.probing().any_store && team.mode() != WaitMode::sleep;
}

class Prober {
 public:
  explicit Prober(Team& team, std::size_t bytes)
      : team_(team),
        bytes_(std::min(bytes, team.slot_bytes())),
        mine_(new (std::nothrow) std::byte[bytes_]{}),
        into_(new (std::nothrow) std::byte[bytes_]{}) {}

  Found measure() {
    Found found;
    const Store before = team_.store();
    // So that no first write is measured. Where the system cannot (Linux before 5.14), going round
    // the ring does it, unless ranks sleep.
    allocate({team_.slot(team_.rank(), 0), team_.ring_bytes()});
    // Once round the ring, so that no slot is as it never is again.
    const std::size_t laps = team_.ring_bytes() / bytes_ + 1;
    if (!chooses_store(team_)) {
      exchange_rounds(kRounds, costs_of(found.slots, before));
    } else {
      StoreCosts unused;
      team_.set_store(Store::plain);
      exchange_rounds(static_cast<int>(std::min<std::size_t>(laps, kMostRounds)), unused);
      with_both_stores(kRounds, found);
    }
    found.step = step();
    found.lacks_memory = has_memory() ? 0 : 1;
    if (has_memory()) found.combine = combine() / static_cast<double>(bytes_);
    if (team_.has_direct()) copies(found);
    return agreed(found);
  }

  /// What a chunk costs with either store.
  Found glance() {
    Found found;
    found.lacks_memory = has_memory() ? 0 : 1;
    with_both_stores(kGlances, found);
    return agreed(found);
  }

 private:
  void with_both_stores(int rounds, Found& found) {
    const Store before = team_.store();
    for (const Store store : {Store::plain, Store::nontemporal}) {
      team_.set_store(store);
      exchange_rounds(rounds, costs_of(found.slots, store));
    }
    team_.set_store(before);
  }

  bool has_memory() const { return mine_ != nullptr && into_ != nullptr; }
  bool may_sleep() const { return team_.mode() == WaitMode::sleep; }

  /// Everybody writes a chunk and reads its successor's: what either takes.
  void exchange_rounds(int rounds, StoreCosts& costs) {
    Times writes, fetches;
    const int next = (team_.rank() + 1) % team_.size();
    for (int round = 0; round < rounds; ++round) {
      double write = 0, fetch = 0;
      exchange(
          team_, Cut{bytes_, bytes_},
          [&](Chunk, std::byte* where) {
            write = nanoseconds_of([&] {
              if (has_memory()) team_.put(where, mine_.get(), bytes_);
              team_.settle();
            });
          },
          [&](Chunk, const auto& posted) {
            const std::byte* theirs = posted.await(next);
            fetch = nanoseconds_of([&] {
              if (has_memory()) copy_bytes(into_.get(), theirs, bytes_);
            });
          });
      writes.add(write / static_cast<double>(bytes_));
      fetches.add(fetch / static_cast<double>(bytes_));
    }
    // A rank that shares its core is interrupted in many rounds; what counts there is the work.
    costs = may_sleep() ? StoreCosts{writes.least(), fetches.least()}
                        : StoreCosts{writes.median(), fetches.median()};
  }

  /// With nothing but a byte, one after the other: between chunks ranks wait for the slower one,
  /// too.
  double step() {
    Times times;
    for (int round = 0; round < kRounds; ++round)
      times.add(nanoseconds_of([&] {
        exchange(
            team_, Cut{1, 1}, [](Chunk, std::byte* where) { *where = std::byte{}; },
            [&](Chunk, const auto& posted) {
              for (int rank = 0; rank < team_.size(); ++rank) posted.await(rank);
            });
      }));
    return times.median();
  }

  double combine() {
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): the sum of doubles is always there
    const Reduction sum = *built_in(Op::sum, Element::float64);
    Times times;
    for (int round = 0; round < kRounds; ++round)
      times.add(nanoseconds_of([&] {
        sum.combine(sum.context, into_.get(), mine_.get(), into_.get(), sum.elements(bytes_));
      }));
    return times.median();
  }

  /// Of the successor's memory, which it has just written, and then has not.
  void copies(Found& found) {
    Times calls, fresh, stale;
    const int next = (team_.rank() + 1) % team_.size();
    for (int round = 0; round < kRounds; ++round) {
      if (has_memory()) std::memset(mine_.get(), round, bytes_);
      double call = 0, first = 0, second = 0;
      const bool copied =
          copy_directly(team_, {mine_.get(), nullptr, has_memory()}, [&](const auto& shown) {
            const std::byte* theirs = shown(next).input;
            bool good = true;
            const auto timed = [&](std::size_t bytes) {
              return nanoseconds_of([&] { good &= pull(team_, next, into_.get(), theirs, bytes); });
            };
            first = timed(bytes_);
            second = timed(bytes_);
            call = timed(kShortCopy);
            return good;
          });
      if (!copied) return;  // nobody copies any more
      calls.add(call);
      fresh.add(std::max(0.0, first - call) / static_cast<double>(bytes_));
      stale.add(std::max(0.0, second - call) / static_cast<double>(bytes_));
    }
    found.call = calls.least();  // others' long copies slow it down
    found.fresh = fresh.median();
    found.stale = stale.median();
  }

  Found agreed(const Found& mine) {
    using Numbers = std::array<double, sizeof(Found) / sizeof(double)>;
    Numbers most{};
    exchange(
        team_, Cut{sizeof mine, sizeof mine},
        [&](Chunk, std::byte* where) { std::memcpy(where, &mine, sizeof mine); },
        [&](Chunk, const auto& posted) {
          for (int rank = 0; rank < team_.size(); ++rank) {
            Numbers theirs;
            std::memcpy(&theirs, posted.await(rank), sizeof theirs);
            for (std::size_t i = 0; i < most.size(); ++i) most[i] = std::max(most[i], theirs[i]);
          }
        });
    Found found;
    std::memcpy(static_cast<void*>(&found), &most, sizeof found);
    return found;
  }

  Team& team_;
  std::size_t bytes_;
  Bytes mine_, into_;  // null where there is no memory
};

SlotCosts with_fetches(SlotCosts costs, const SlotCosts& fetches) {
  costs.plain.fetch = fetches.plain.fetch;
  costs.nontemporal.fetch = fetches.nontemporal.fetch;
  return costs;
}

Setting setting_of(const Team& team) {
  return {team.size(), team.probing().cores, team.mode(), team.slot_bytes(),
          team.ring_bytes() / team.slot_bytes()};
}

void go_by(Team& team, const MemoryCosts& costs) {
  const Thresholds found = thresholds_of(costs, setting_of(team));
  team.set_direct_from(found.direct);
  team.set_read_all(found.read);
}

}  // namespace

Store better(const SlotCosts& costs) {
  const auto sum = [](const StoreCosts& store) { return store.write + store.fetch; };
  return sum(costs.plain) <= sum(costs.nontemporal) ? Store::plain : Store::nontemporal;
}

bool has_changed(const SlotCosts& before, const SlotCosts& now) {
  constexpr double kMuch = 1.5;
  const auto much = [](double one, double other) {
    return one > other * kMuch || other > one * kMuch;
  };
  return much(before.plain.fetch, now.plain.fetch) ||
         much(before.nontemporal.fetch, now.nontemporal.fetch);
}

void begin(Team& team, const Probing& probing) {
  const RoundingToNearest rounding;
  team.set_probing(probing);
  go_by(team, prior_costs(setting_of(team)));
}

void measure_all(Team& team) {
  const RoundingToNearest rounding;
  team.begin_look();
  if (!make_room(team, team.ring_bytes())) return team.end_look();
  const Found found = Prober(team, team.slot_bytes()).measure();
  const bool any_store = chooses_store(team);
  const Found brief = any_store ? Prober(team, kGlance).glance() : Found{};
  if (found.lacks_memory > 0 || brief.lacks_memory > 0) return team.end_look();
  if (any_store) {
    team.set_store(better(found.slots));
    team.set_slot_costs(with_fetches(found.slots, brief.slots));
  }
  const StoreCosts& store = costs_of(std::as_const(found).slots, team.store());
  // Ranks that take turns on a core find nothing of the last call in its cache.
  const double pull =
      team.mode() == WaitMode::sleep ? found.fresh : std::sqrt(found.fresh * found.stale);
  MemoryCosts costs{found.step, store.write, store.fetch, found.combine, found.call, pull};
  go_by(team, costs);
  team.set_measured(costs);
  team.end_look();
}

void measure(Team& team) {
  if (team.due() == Look::all) return measure_all(team);
  const RoundingToNearest rounding;
  team.begin_look();
  const Found found = Prober(team, kGlance).glance();
  team.end_look();
  if (found.lacks_memory > 0) return;
  // How long a write takes depends on what was there before, of which a glance is not typical.
  const SlotCosts before = *team.slot_costs(), now = with_fetches(before, found.slots);
  team.set_store(better(now));
  if (has_changed(before, now) && team.moved_since() >= Probing::kSoonest) team.ask_for_all();
}

}  // namespace unisono::node
