#include "network/limits.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "network/torus_network.h"

namespace unisono {

namespace {

constexpr NetworkSpeeds kLinksCount{1, 1e-6, 1e9};  // links count
constexpr std::array<std::uint8_t, 1> kStandard{0};

std::vector<int> all_hosts(const Network& network) {
  std::vector<int> hosts(static_cast<std::size_t>(network.hosts()));
  std::iota(hosts.begin(), hosts.end(), 0);
  return hosts;
}

FlowLimit least_flow(const char* shape, std::vector<int> members = {}, int root = 0) {
  const auto network = make_network(shape, Routing::minimal, kLinksCount);
  if (members.empty()) members = all_hosts(**network);
  return flow_limit(**network, members, root);
}

TEST(FlowLimit, OfTori) {
  EXPECT_EQ(least_flow("torus:4x4").from_root, 4);
  EXPECT_EQ(least_flow("torus:5x7x3").from_root, 6);
  EXPECT_EQ(least_flow("torus:2x2x2").to_root, 3) << "a ring of two has one link each way";
  EXPECT_EQ(least_flow("torus:4x4x4", {3, 17, 40}, 17).from_root, 6) << "the others pass on";
}

TEST(FlowLimit, OfAMeshIsThatOfItsCorners) {
  EXPECT_EQ(least_flow("torus:4mx4m", {}, 5).from_root, 2);
  EXPECT_EQ(least_flow("torus:4mx4m", {5, 6, 9}, 5).from_root, 4) << "none of them is in a corner";
}

TEST(FlowLimit, OfAFatTreeIsAHostsLink) {
  EXPECT_EQ(least_flow("fattree:4x4:2").from_root, 1);
  EXPECT_EQ(least_flow("ethernet:5").to_root, 1);
}

/// A cut that is narrower than any host's links.
class Dumbbell : public Network {
 public:
  Dumbbell() : Network(6, 1e9) {
    for (const auto& [a, b] : {std::pair{0, 1}, {0, 2}, {1, 2}, {3, 4}, {3, 5}, {4, 5}, {2, 3}})
      for (const auto& [from, to] : {std::pair{a, b}, {b, a}})
        links_.push_back({from, to, 1, 1e-6});
  }
  void route(int, int, std::uint8_t, std::vector<int>&) const override {}
  std::string text_of_link(int) const override { return ""; }
};

TEST(FlowLimit, SeesACutInTheMiddle) {
  const Dumbbell network;
  EXPECT_EQ(flow_limit(network, std::array{0, 1, 2}, 0).from_root, 2);
  EXPECT_EQ(flow_limit(network, std::array{0, 4}, 0).from_root, 1);
  EXPECT_EQ(flow_limit(network, std::array{0, 1, 2, 5}, 0).to_root, 1);
}

TEST(RouteLimit, CountsTheLinksThatRoutesBeginAndEndWith) {
  const auto torus = make_network("torus:5x5", Routing::minimal, kLinksCount);
  // In one row: all routes of 0 begin upwards, and end downwards there.
  const RouteLimit row = route_limit(**torus, std::array{0, 1, 2}, 0, kStandard);
  EXPECT_EQ(row.root_sends, 1);
  EXPECT_EQ(row.root_receives, 1);
  EXPECT_EQ(row.least_received, 1);
  EXPECT_EQ(row.all_receive, 1 + 2 + 1);
  const RouteLimit whole = route_limit(**torus, all_hosts(**torus), 0, kStandard);
  EXPECT_EQ(whole.root_sends, 4);
  EXPECT_EQ(whole.least_received, 4);
}

TEST(RouteLimit, RisesWithTheWaysThatASenderMayChoose) {
  const auto torus = make_network("torus:5x5", Routing::directed, kLinksCount);
  constexpr std::array<std::uint8_t, 3> kRound{0, Way{1}.number(), Way{-1}.number()};
  EXPECT_EQ(route_limit(**torus, std::array{0, 1, 2}, 0, kRound).root_sends, 2);
}

}  // namespace

}  // namespace unisono
