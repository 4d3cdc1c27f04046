// What rows that call themselves safe have under way at the ports of hosts, counted over all
// senders to a port, with messages that come as late as an adversary wants. One rank a host.
#include "algorithms/safety.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "algorithms/catalogue.h"
#include "schedule/problem.h"
#include "tests/algorithms/port_walk.h"
#include "tests/thorough.h"

namespace unisono {
namespace {

constexpr int kCalls = 3;  // one behind the other, of other roots

struct SafeCell {
  const Algorithm* row = nullptr;
  HostsCall call;
  Params params;

  std::string text() const {
    return std::string(name(call.collective)) + " " + std::string(row->name) +
           " p=" + std::to_string(call.ranks) + " bytes=" + std::to_string(call.bytes) +
           " segment=" + std::to_string(params.segment) +
           " window=" + std::to_string(params.window);
  }
};

/// Of irregular calls: blocks of which none is longer, and some are empty. Else nothing.
std::vector<Count> counts_of(const HostsCall& call) {
  if (!is_irregular(call.collective)) return {};
  const bool all_pairs =
      contains(set_of(Collective::alltoallv, Collective::alltoallw), call.collective);
  std::vector<Count> counts(static_cast<std::size_t>(call.ranks * (all_pairs ? call.ranks : 1)));
  for (std::size_t i = 0; i < counts.size(); ++i)
    counts[i] = i % 4 == 1 ? 0 : i % 4 == 2 ? call.bytes / 3 : call.bytes;
  return counts;
}

std::vector<std::vector<Schedule>> schedules_of(const SafeCell& of, int first_root) {
  std::vector<std::vector<Schedule>> calls;
  for (int i = 0; i < kCalls; ++i) {
    const Collective c = of.call.collective;
    const int root = is_rooted(c) ? (first_root + i) % of.call.ranks : 0;
    calls.push_back(build_all(*of.row, ArgsOfRanks({.collective = c,
                                                    .size = of.call.ranks,
                                                    .root = root,
                                                    .count = of.call.bytes,
                                                    .counts = counts_of(of.call),
                                                    .commutative = of.call.commutative,
                                                    .params = of.params})
                                           .args()));
  }
  return calls;
}

/// The most that was under way, over ports and orders of arrival.
PortPeaks peaks_of(const SafeCell& of, int random_orders = is_thorough() ? 100 : 2) {
  std::mt19937 random(4711);
  const int p = of.call.ranks;
  PortPeaks worst{.complete = true};
  for (const int first_root :
       is_rooted(of.call.collective) ? std::vector{0, p - 1} : std::vector{0}) {
    const auto calls = schedules_of(of, first_root);
    PortWalk walk(calls);
    for (const int port : {0, 1, p / 2, p - 1}) {
      if (port >= p) continue;
      const PortPeaks seen = walk.worst(port, random, random_orders);
      worst.out = std::max(worst.out, seen.out);
      worst.in = std::max(worst.in, seen.in);
      worst.complete = worst.complete && seen.complete;
    }
  }
  return worst;
}

/// All cells but those of more than a few hundred thousand operations, which repeat what shorter
/// ones do.
bool is_affordable(const HostsCall& call) {
  const Count blocks = contains(set_of(Collective::alltoall), call.collective) ? call.ranks : 1;
  return call.ranks * blocks * (1 + call.bytes / 4096) <= (is_thorough() ? 100'000 : 4'000);
}

template <class Do>
void for_all_safe(const Do& look_at) {
  for (const Algorithm& row : catalogue()) {
    if (row.safe == nullptr) continue;
    for (const Semantics& semantics : kSemantics) {
      const Collective c = semantics.collective;
      if (!contains(row.collectives, c)) continue;
      for (const int p : {2, 3, 9, 16, 24, 40}) {
        for (const Count bytes : {512, 2048, 5000, 16384, 65536, 300000, 4194304}) {
          const HostsCall call{c, p, bytes};
          const auto params = safe_params(row, call);
          if (params && is_affordable(call)) look_at(SafeCell{&row, call, *params});
        }
      }
    }
  }
}

TEST(Safe, NothingOverflowsAPort) {
  const PortBounds bounds;
  int cells = 0, full = 0;
  for_all_safe([&](const SafeCell& cell) {
    const PortPeaks seen = peaks_of(cell);
    EXPECT_TRUE(seen.complete) << cell.text();
    EXPECT_LE(seen.out, bounds.out) << cell.text();
    EXPECT_LE(seen.in, bounds.in) << cell.text();
    ++cells;
    full += seen.out > bounds.out / 2 || seen.in > bounds.in / 2 ? 1 : 0;
  });
  EXPECT_GT(cells, 400);
  EXPECT_GT(full, 40) << "bounds are used";
}

/// What the row has under way with these parameters, whether it calls them safe or not.
bool overflows(Collective collective, std::string_view algorithm, int ranks, Count bytes,
               const Params* params = nullptr) {
  const Algorithm& row = *find_algorithm(collective, algorithm);
  const PortPeaks seen =
      peaks_of({&row, {collective, ranks, bytes}, params ? *params : default_params(row)});
  EXPECT_TRUE(seen.complete);
  return seen.out > PortBounds{}.out || seen.in > PortBounds{}.in;
}

TEST(Safe, TwiceTheWindowOverflows) {
  using enum Collective;
  struct Window {
    Collective collective;
    std::string_view algorithm;
    int ranks;
    Count bytes;
  };
  for (const Window& of : {Window{alltoall, "credits", 9, 65536},
                           {alltoall, "credits", 24, 16384},
                           {scatter, "paced", 24, 8192}}) {
    const Algorithm& row = *find_algorithm(of.collective, of.algorithm);
    auto params = safe_params(row, {of.collective, of.ranks, of.bytes});
    ASSERT_TRUE(params) << of.algorithm;
    EXPECT_FALSE(overflows(of.collective, of.algorithm, of.ranks, of.bytes, &*params));
    params->window *= 2;
    EXPECT_TRUE(overflows(of.collective, of.algorithm, of.ranks, of.bytes, &*params))
        << of.algorithm << " p=" << of.ranks;
  }
}

TEST(Safe, ParametersFollowTheBounds) {
  using enum Collective;
  for (const PortBounds bounds :
       {PortBounds{16 << 10, 64 << 10}, PortBounds{128 << 10, 256 << 10}}) {
    for (const Collective c : {alltoall, alltoallv, scatter, gather}) {
      const Algorithm& row = *find_algorithm(c, is_rooted(c) ? "paced" : "credits");
      for (const int p : {2, 9, 20}) {
        const HostsCall call{c, p, 40'000};
        const auto params = safe_params(row, call, bounds);
        ASSERT_TRUE(params);
        const SafeCell cell{&row, call, *params};
        const PortPeaks seen = peaks_of(cell);
        EXPECT_TRUE(seen.complete) << cell.text();
        EXPECT_LE(seen.out, bounds.out) << cell.text();
        EXPECT_LE(seen.in, bounds.in) << cell.text();
      }
    }
  }
}

TEST(Safe, NoWindowOverflows) {
  using enum Collective;
  EXPECT_TRUE(overflows(bcast, "flat", 9, 65536));
  EXPECT_TRUE(overflows(bcast, "two_tree", 9, 1 << 20));
  EXPECT_TRUE(overflows(gather, "flat", 9, 65536));
  EXPECT_TRUE(overflows(alltoall, "simple", 9, 65536));
  EXPECT_TRUE(overflows(allgather, "bruck", 24, 65536));
}

TEST(Safe, AReductionThatKeepsRankOrderTakesAnotherWayToItsRoot) {
  const Algorithm& row = *find_algorithm(Collective::reduce, "chain");
  const HostsCall call{Collective::reduce, 5, 1 << 20, false};
  EXPECT_FALSE(safe_params(row, call));
  EXPECT_GT(peaks_of({&row, call, default_params(row)}).in, PortBounds{}.in);
}

}  // namespace
}  // namespace unisono
