// Every protocol that has a row in the catalogue, named, not chosen: all collectives, ranks, ways
// to wait, borders of cells and slots, built-in and other operations, MPI_IN_PLACE on some ranks.
#include "node/protocol.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "node/rule.h"
#include "tests/node/calls.h"
#include "tests/node/ranks.h"

namespace unisono::node {
namespace {

constexpr std::size_t kShortSlot = 256;

struct Row {
  What what;
  Protocol way;
};

std::vector<Row> rows() {
  using enum What;
  using enum Protocol;
  const std::vector<std::pair<std::vector<What>, std::vector<Protocol>>> all = {
      {{What::barrier}, {flags, levels}},
      {{What::bcast, What::gather}, {pipeline, levels, direct}},
      {{What::scatter, What::allgather, What::alltoall, What::allgatherv, What::gatherv,
        What::scatterv, What::alltoallv},
       {pipeline, direct}},
      {{What::reduce}, {read_all, slices, levels, direct}},
      {{What::allreduce}, {read_all, slices, last_arriver, levels, direct}},
      {{What::reduce_scatter, What::reduce_scatter_block}, {blocks, slices, direct}},
      {{What::scan, What::exscan}, {read_all, chain, direct}}};
  std::vector<Row> list;
  for (const auto& [whats, ways] : all)
    for (const What what : whats)
      for (const Protocol way : ways) list.push_back({what, way});
  return list;
}

/// Whether it can serve the call, so that all of it is done so.
bool serves(const Team& team, const Call& call, Protocol way) {
  const bool to_root = call.what == What::gather || call.what == What::reduce;
  const std::size_t bytes = call.count * (reduces(call.what) ? kElementBytes : 1);
  return !unmet(team, way, bytes, to_root ? call.root : -1);
}

class Protocols : public testing::TestWithParam<std::tuple<Groups, WaitMode>> {};

TEST_P(Protocols, AreRightAtBordersAndServeSomething) {
  const auto& [groups, mode] = GetParam();
  for (const auto& [what, way] : rows()) {
    int served = 0;
    const auto calls = [&, what = what, way = way](Team& team) -> std::string {
      for (const std::size_t bytes :
           {0UL, 8UL, 40UL, 112UL, 120UL, 248UL, 256UL, 264UL, 700UL, 3000UL})
        for (const int root : {0, team.size() - 1})
          for (const bool in_place : {false, true})
            for (const bool own : {false, true}) {
              const std::size_t count = reduces(what) ? bytes / kElementBytes : bytes;
              const Call call{what, count, root, in_place, own, bytes + (own ? 1U : 0U), way};
              if (!serves(team, call, way)) continue;
              if (team.rank() == 0) ++served;
              if (std::string wrong = run_and_check(team, call); !wrong.empty())
                return wrong + ", " + std::string(kProtocolNames[static_cast<std::size_t>(way)]);
            }
      return "";
    };
    EXPECT_EQ("", on_threads(groups, kShortSlot, mode, calls));
    const bool sleeps = mode == WaitMode::sleep;
    const bool expected = way == Protocol::last_arriver ? sleeps
                          : way == Protocol::levels     ? !sleeps && !groups.are_one()
                                                        : true;
    EXPECT_EQ(served > 0, expected) << kProtocolNames[static_cast<std::size_t>(way)];
  }
}

INSTANTIATE_TEST_SUITE_P(, Protocols,
                         testing::Values(std::tuple{Groups(1), WaitMode::yield},
                                         std::tuple{Groups(2), WaitMode::spin},
                                         std::tuple{Groups(3), WaitMode::sleep},
                                         std::tuple{Groups(5), WaitMode::yield},
                                         std::tuple{Groups({0, 1, 0, 1, 2}), WaitMode::yield},
                                         std::tuple{Groups({0, 1, 1, 1, 0}), WaitMode::sleep},
                                         std::tuple{Groups(8), WaitMode::sleep}));

TEST(ProtocolNames, AreThoseOfAlgorithms) {
  EXPECT_EQ(protocol_named("shm_last_arriver"), Protocol::last_arriver);
  EXPECT_EQ(protocol_named("shm_direct"), Protocol::direct);
  EXPECT_EQ(protocol_named("ring"), std::nullopt);
}

}  // namespace
}  // namespace unisono::node
