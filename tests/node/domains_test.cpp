// On machines that hwloc makes up.
#include "node/domains.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <initializer_list>
#include <vector>

namespace unisono::node {
namespace {

using Domains = std::vector<int>;

CpuMask on(std::initializer_list<unsigned> cpus) {
  CpuMask mask{};
  for (const unsigned cpu : cpus) mask[cpu / 8] |= static_cast<unsigned char>(1 << cpu % 8);
  return mask;
}

std::vector<CpuMask> one_on_each(std::initializer_list<unsigned> cpus) {
  std::vector<CpuMask> masks;
  for (const unsigned cpu : cpus) masks.push_back(on({cpu}));
  return masks;
}

class DomainsOf : public testing::Test {
 protected:
  void SetUp() override {
#ifndef UNISONO_HWLOC
    GTEST_SKIP() << "built without hwloc";
#endif
    setenv("HWLOC_SYNTHETIC", "package:2 numa:1 l3:2 core:4 pu:1", 1);
  }
  void TearDown() override { unsetenv("HWLOC_SYNTHETIC"); }
};

TEST_F(DomainsOf, AreCaches) {
  EXPECT_TRUE(may_have_domains());
  EXPECT_EQ(domains_of(one_on_each({0, 1, 4, 5, 8, 9, 12, 13})), (Domains{0, 0, 1, 1, 2, 2, 3, 3}));
}

TEST_F(DomainsOf, AreNumberedByTheirFirstRanks) {
  EXPECT_EQ(domains_of(one_on_each({15, 0, 14, 1})), (Domains{0, 1, 0, 1}));
}

TEST_F(DomainsOf, AreLargerWhereCachesHaveOneRankEach) {
  EXPECT_EQ(domains_of(one_on_each({0, 4, 8, 12})), (Domains{0, 0, 1, 1}));
}

TEST_F(DomainsOf, LeaveOutWhoRunsInSeveral) {
  std::vector<CpuMask> masks = one_on_each({0, 1, 4, 5});
  masks.push_back(on({3, 4}));
  masks.push_back(on({6, 7}));
  EXPECT_EQ(domains_of(masks), (Domains{0, 0, 1, 1, kNoDomain, 1}));
}

TEST_F(DomainsOf, KnowNoProcessorsThatAreNotThere) {
  std::vector<CpuMask> masks = one_on_each({0, 1, 4, 5, 4000});
  masks[0][500] = 0xff;
  EXPECT_EQ(domains_of(masks), (Domains{0, 0, 1, 1, kNoDomain}));
}

TEST_F(DomainsOf, AreNoneWhereThereAreNoTwo) {
  EXPECT_EQ(domains_of({}), Domains());
  EXPECT_EQ(domains_of(one_on_each({0, 1, 2, 3})), Domains());
  EXPECT_EQ(domains_of(one_on_each({0, 8})), Domains());
  std::vector<CpuMask> unbound(4);
  for (CpuMask& mask : unbound) mask.fill(0xff);
  EXPECT_EQ(domains_of(unbound), Domains());
}

TEST_F(DomainsOf, AreNumaNodesWhereTheseAreSmaller) {
  setenv("HWLOC_SYNTHETIC", "package:1 l3:1 numa:2 core:2 pu:2", 1);
  EXPECT_EQ(domains_of(one_on_each({0, 3, 4, 7})), (Domains{0, 0, 1, 1}));
}

TEST_F(DomainsOf, ThisMachineIsRead) {
  unsetenv("HWLOC_SYNTHETIC");
  // Whatever it has: ranks that may run everywhere are in no domain of several.
  const std::vector<CpuMask> same(4, affinity());
  EXPECT_EQ(domains_of(same), Domains());
}

}  // namespace
}  // namespace unisono::node
