// The kernels of a node combine in the order of their rows, whoever comes late: ranks are threads,
// each of which sleeps now and then, and the operation is not associative.
#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "algorithms/catalogue.h"
#include "node/rule.h"
#include "tests/node/calls.h"
#include "tests/node/ranks.h"

namespace unisono {
namespace {

using node::Protocol;
using node::Team;
using node::What;

constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15U;

/// Neither associative nor commutative.
std::uint64_t mixed(std::uint64_t left, std::uint64_t right) {
  return (left ^ (right * kOdd >> 7)) * kOdd + right;
}

void mix(const void*, const std::byte* in, std::byte* inout, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t left = 0, right = 0;
    std::memcpy(&left, in + i * 8, 8);
    std::memcpy(&right, inout + i * 8, 8);
    right = mixed(left, right);
    std::memcpy(inout + i * 8, &right, 8);
  }
}
constexpr node::UserOperation kMix{mix, nullptr, 8};

std::uint64_t contribution(int rank, std::size_t i) {
  return node::random_word(static_cast<std::uint64_t>(rank), i);
}

std::uint64_t folded_left(int ranks, std::size_t i) {
  std::uint64_t sum = contribution(0, i);
  for (int rank = 1; rank < ranks; ++rank) sum = mixed(sum, contribution(rank, i));
  return sum;
}

/// The sum of so many parts: pairs until a power of two is left, then neighbours.
std::uint64_t folded(int ranks, std::size_t i) {
  const int power = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)));
  std::vector<std::uint64_t> sums;
  for (int rank = 0; rank < ranks; ++rank) {
    const bool is_paired = rank < 2 * (ranks - power);
    sums.push_back(contribution(rank, i));
    if (is_paired) sums.back() = mixed(sums.back(), contribution(++rank, i));
  }
  for (; sums.size() > 1; sums.resize(sums.size() / 2))
    for (std::size_t k = 0; k < sums.size() / 2; ++k) sums[k] = mixed(sums[2 * k], sums[2 * k + 1]);
  return sums[0];
}

Order order_of(Collective c) {
  return contains(set_of(Collective::scan, Collective::exscan), c) ? Order::left : Order::folded;
}

struct KernelCall {
  Collective collective;
  Protocol way;
  std::size_t count;
  int root;
};

void run(Team& team, const KernelCall& call, const std::byte* in, std::byte* out) {
  const node::Reduction sum = node::called(kMix);
  const std::vector<std::int64_t> counts(static_cast<std::size_t>(team.size()),
                                         static_cast<std::int64_t>(call.count));
  switch (call.collective) {
    case Collective::reduce: return reduce(team, in, out, call.count, sum, call.root, call.way);
    case Collective::allreduce: return allreduce(team, in, out, call.count, sum, call.way);
    case Collective::reduce_scatter_block:
      return reduce_scatter_block(team, in, out, call.count, sum, call.way);
    case Collective::reduce_scatter: return reduce_scatter(team, in, out, counts, sum, call.way);
    case Collective::scan: return scan(team, in, out, call.count, sum, call.way);
    default: return exscan(team, in, out, call.count, sum, call.way);
  }
}

/// Empty, or what is wrong on this rank.
std::string wrong_in(Team& team, const KernelCall& call) {
  const bool scatters = contains(
      set_of(Collective::reduce_scatter, Collective::reduce_scatter_block), call.collective);
  const int me = team.rank();
  const std::size_t first = scatters ? static_cast<std::size_t>(me) * call.count : 0;
  std::vector<std::uint64_t> in(call.count * static_cast<std::size_t>(scatters ? team.size() : 1)),
      out(call.count);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = contribution(me, i);
  run(team, call, reinterpret_cast<const std::byte*>(in.data()),
      reinterpret_cast<std::byte*>(out.data()));
  const int ranks = call.collective == Collective::scan     ? me + 1
                    : call.collective == Collective::exscan ? me
                                                            : team.size();
  if (ranks == 0 || (call.collective == Collective::reduce && me != call.root)) return "";
  for (std::size_t i = 0; i < call.count; ++i)
    if (out[i] != (order_of(call.collective) == Order::left ? folded_left(ranks, first + i)
                                                            : folded(ranks, first + i)))
      return "element " + std::to_string(i) + " of " + std::to_string(call.count) + " on rank " +
             std::to_string(me) + ", root " + std::to_string(call.root);
  return "";
}

class KernelOrder : public testing::TestWithParam<std::tuple<node::Groups, WaitMode>> {};

TEST_P(KernelOrder, IsThatOfTheRow) {
  const auto& [groups, mode] = GetParam();
  for (const Algorithm& row : catalogue())
    for (int c = 0; c < kCollectives; ++c) {
      const auto collective = static_cast<Collective>(c);
      if ((row.restrictions & kOneNode) == 0 || !contains(row.collectives & kReducing, collective))
        continue;
      EXPECT_EQ(row.combining.order, order_of(collective)) << row.name;
      EXPECT_EQ(row.combining.depends_on, 0U) << row.name;
      const Protocol way = node::protocol_named(row.name).value_or(Protocol::rule);
      const auto calls = [&](Team& team) -> std::string {
        std::uint64_t call = 0;
        for (const std::size_t count : {1, 4, 14, 15, 100, 700})
          for (const int root : {0, team.size() / 2, team.size() - 1}) {
            if (unmet(team, way, count * 8, collective == Collective::reduce ? root : -1)) continue;
            const std::uint64_t delay = node::random_word(
                ++call, static_cast<std::uint64_t>(team.rank() * kCollectives + c));
            if (delay % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(delay % 300));
            if (auto wrong = wrong_in(team, {collective, way, count, root}); !wrong.empty())
              return wrong;
          }
        return "";
      };
      EXPECT_EQ("", on_threads(groups, 256, mode, calls, node::all_direct_from(2000)))
          << name(collective) << " " << row.name;
    }
}

INSTANTIATE_TEST_SUITE_P(, KernelOrder,
                         testing::Values(std::tuple{node::Groups(2), WaitMode::spin},
                                         std::tuple{node::Groups(4), WaitMode::yield},
                                         std::tuple{node::Groups(5), WaitMode::sleep},
                                         std::tuple{node::Groups(7), WaitMode::sleep},
                                         std::tuple{node::Groups(16), WaitMode::sleep},
                                         std::tuple{node::Groups(21), WaitMode::yield},
                                         std::tuple{node::Groups({0, 1, 1, 0, 1, 2}),
                                                    WaitMode::yield}));

}  // namespace
}  // namespace unisono
