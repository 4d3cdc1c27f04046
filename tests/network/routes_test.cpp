// Links and routes; those of SimGrid 3.32 were asked for (Host::route_to).
#include <gtest/gtest.h>

#include <array>

#include "network/fat_tree.h"
#include "network/torus_network.h"

namespace unisono {

namespace {

constexpr NetworkSpeeds kAnySpeeds{1e6, 1e-6, 1e9};

std::unique_ptr<Network> network(const char* shape, Routing routing = Routing::minimal) {
  auto made = make_network(shape, routing, kAnySpeeds);
  EXPECT_TRUE(made) << made.error();
  return std::move(*made);
}

std::vector<int> route(const Network& network, int from, int to, Way way = {}) {
  std::vector<int> links;
  network.route(from, to, way.number(), links);
  return links;
}

/// The hosts and switches on a route; it must be one.
std::vector<int> path(const Network& network, int from, int to, Way way = {}) {
  std::vector<int> passed{from};
  for (const int l : route(network, from, to, way)) {
    const NetworkLink& link = network.links()[static_cast<std::size_t>(l)];
    EXPECT_EQ(link.from, passed.back());
    passed.push_back(link.to);
  }
  EXPECT_EQ(passed.back(), to);
  return passed;
}

using Path = std::vector<int>;

TEST(Routes, OfATorusGoDimensionByDimensionTheShorterWay) {
  const auto torus = network("torus:5x3");
  EXPECT_EQ(path(*torus, 0, 8), (Path{0, 4, 3, 8}));
  EXPECT_EQ(path(*torus, 0, 11), (Path{0, 1, 11}));
}

TEST(Routes, OfATorusTakeSimGridsSideWhereBothAreAsShort) {
  const auto torus = network("torus:4x2");
  EXPECT_EQ(path(*torus, 0, 2), (Path{0, 1, 2}));
  EXPECT_EQ(path(*torus, 1, 3), (Path{1, 2, 3}));
  EXPECT_EQ(path(*torus, 3, 1), (Path{3, 0, 1}));
  EXPECT_EQ(path(*torus, 2, 0), (Path{2, 1, 0})) << "downwards, here alone";
  EXPECT_EQ(path(*torus, 6, 0), (Path{6, 5, 4, 0}));
}

TEST(Routes, OfATorusHeedTheSenderWhereTheyCan) {
  constexpr Way kDown{-1}, kLast{1, true};
  const auto minimal = network("torus:5x3"), directed = network("torus:5x3", Routing::directed);
  EXPECT_EQ(path(*directed, 0, 1, kDown), (Path{0, 4, 3, 2, 1}));
  EXPECT_EQ(path(*directed, 0, 9, kLast), (Path{0, 5, 6, 7, 8, 9}));
  EXPECT_EQ(path(*minimal, 0, 1, kDown), (Path{0, 1}));
  EXPECT_EQ(path(*network("torus:5mx3"), 0, 4), (Path{0, 1, 2, 3, 4})) << "no way round";
}

TEST(Routes, OfATreeWithRoutesOfItsOwnAreThose) {
  auto torus = std::make_shared<const Torus>(std::vector<int>{4});
  TorusNetwork network(torus, Routing::source, kAnySpeeds);
  const TorusMembers members(torus, {0, 1, 2});
  TorusTree tree{
      .parent = {-1, 0, 0},
      .route = {{}, {torus->link(0, 0, 1)}, {torus->link(0, 0, -1), torus->link(3, 0, -1)}}};
  network.name_routes(members, {tree});
  std::vector<int> links;
  network.route(0, 2, kFirstNamedRoute, links);
  EXPECT_EQ(links, (Path{torus->link(0, 0, -1), torus->link(3, 0, -1)}));
}

TEST(Routes, OfAFatTreeGoDownOneWayToEachHost) {
  const auto tree = network("fattree:4x4:2");
  EXPECT_EQ(route(*tree, 0, 3).size(), 2U);
  EXPECT_EQ(route(*tree, 0, 4).size(), 4U);
  const int last_of_4 = route(*tree, 0, 4)[2], last_of_5 = route(*tree, 0, 5)[2];
  EXPECT_NE(last_of_4, last_of_5) << "4 and 5 modulo the 2 links up";
  for (int from = 0; from < 4; ++from) EXPECT_EQ(route(*tree, from, 4)[2], last_of_4);
  for (int from = 0; from < 16; ++from)
    for (int to = 0; to < 16; ++to)
      if (from != to) path(*tree, from, to);
}

TEST(Routes, OfDeepFatTreesLeadFromHostToHost) {
  const auto tree = network("fattree:3x4x2:2x3");
  EXPECT_EQ(tree->hosts(), 24);
  for (int from = 0; from < 24; ++from)
    for (int to = 0; to < 24; ++to)
      if (from != to) path(*tree, from, to);
  EXPECT_EQ(route(*tree, 0, 23).size(), 6U);
}

TEST(Routes, OfAStarAreTwoLinks) {
  const auto star = network("ethernet:3");
  EXPECT_EQ(path(*star, 0, 2), (Path{0, 3, 2}));
  EXPECT_EQ(star->text_of_link(5), "into host 2");
}

TEST(Networks, ThatAreNoneAreRefusedInOneLine) {
  for (const char* shape : {"torus", "torus:", "torus:4x", "torus:0x4", "moon:3", "ethernet:4x4",
                            "fattree:4x4:2x2", "torus:4096x4096", "ethernet:4m", "torus:4mm"}) {
    const auto made = make_network(shape, Routing::minimal, kAnySpeeds);
    ASSERT_FALSE(made) << shape;
    EXPECT_EQ(made.error().find('\n'), std::string::npos);
  }
  EXPECT_FALSE(make_network("torus:4x4", Routing::adaptive, kAnySpeeds));
  EXPECT_FALSE(make_network("ethernet:4", Routing::directed, kAnySpeeds));
}

}  // namespace

}  // namespace unisono
