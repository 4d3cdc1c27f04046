#include "node/domains.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "tests/node/made_up_machine.h"

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

/// Two packages, each with two caches of four processors.
class DomainsOf : public testing::Test {
 protected:
  Domains of(const std::vector<CpuMask>& ranks) const {
    return domains_of(ranks, machine_.folder());
  }

  MadeUpMachine machine_{2, 1, 2, 4};
};

TEST_F(DomainsOf, AreCaches) {
  EXPECT_TRUE(may_have_domains(machine_.folder()));
  EXPECT_EQ(of(one_on_each({0, 1, 4, 5, 8, 9, 12, 13})), (Domains{0, 0, 1, 1, 2, 2, 3, 3}));
}

TEST_F(DomainsOf, AreNumberedByTheirFirstRanks) {
  EXPECT_EQ(of(one_on_each({15, 0, 14, 1})), (Domains{0, 1, 0, 1}));
}

TEST_F(DomainsOf, AreLargerWhereCachesHaveOneRankEach) {
  EXPECT_EQ(of(one_on_each({0, 4, 8, 12})), (Domains{0, 0, 1, 1}));
}

TEST_F(DomainsOf, LeaveOutWhoRunsInSeveral) {
  std::vector<CpuMask> masks = one_on_each({0, 1, 4, 5});
  masks.push_back(on({3, 4}));
  masks.push_back(on({6, 7}));
  masks.push_back(on({4000}));  // nothing is known of it
  masks.push_back(CpuMask{});
  EXPECT_EQ(of(masks), (Domains{0, 0, 1, 1, kNoDomain, 1, kNoDomain, kNoDomain}));
}

TEST_F(DomainsOf, AreNoneWhereThereAreNoTwo) {
  EXPECT_EQ(of({}), Domains());
  EXPECT_EQ(of(one_on_each({0, 1, 2, 3})), Domains());
  EXPECT_EQ(of(one_on_each({0, 8})), Domains());
  std::vector<CpuMask> unbound(4);
  for (CpuMask& mask : unbound) mask.fill(0xff);
  EXPECT_EQ(of(unbound), Domains());
}

TEST_F(DomainsOf, MayBeListedInPieces) {
  for (const int cpu : {0, 1, 8, 9})
    machine_.write("cpu/cpu" + std::to_string(cpu) + "/cache/index3/shared_cpu_list", "0-1,8-9");
  EXPECT_EQ(of(one_on_each({0, 9, 4, 5})), (Domains{0, 0, 1, 1}));
}

TEST(Domains, AreNumaNodesWhereTheseAreSmaller) {
  const MadeUpMachine machine(1, 2, 1, 4);
  for (int cpu = 0; cpu < 8; ++cpu)
    machine.write("cpu/cpu" + std::to_string(cpu) + "/cache/index3/shared_cpu_list", "0-7");
  EXPECT_TRUE(may_have_domains(machine.folder()));
  EXPECT_EQ(domains_of(one_on_each({0, 3, 4, 7}), machine.folder()), (Domains{0, 0, 1, 1}));
}

TEST(Domains, OneCacheAndOneMemoryHaveNone) {
  const MadeUpMachine machine(1, 1, 1, 4);
  EXPECT_FALSE(may_have_domains(machine.folder()));
  EXPECT_EQ(domains_of(one_on_each({0, 1, 2, 3}), machine.folder()), Domains());
}

TEST(Domains, NothingIsKnownOfNoMachine) {
  EXPECT_FALSE(may_have_domains("/no/such/folder"));
  EXPECT_EQ(domains_of(one_on_each({0, 1, 2, 3}), "/no/such/folder"), Domains());
}

/// Whatever it has: ranks that may run everywhere are in no domain of several.
TEST(Domains, ThisMachineIsRead) {
  EXPECT_EQ(domains_of(std::vector<CpuMask>(4, affinity())), Domains());
}

TEST_F(DomainsOf, SayWhichCacheIsACoresOwn) {
  const auto cache = [this](const std::string& index, const std::string& type,
                            const std::string& size, const std::string& cpus) {
    const std::string folder = "cpu/cpu4/cache/index" + index;
    machine_.write(folder + "/type", type);
    machine_.write(folder + "/size", size);
    machine_.write(folder + "/shared_cpu_list", cpus);
  };
  EXPECT_EQ(private_cache_bytes(on({4}), machine_.folder()), 0U);
  machine_.write("cpu/cpu4/topology/thread_siblings_list", "4-5");
  cache("0", "Data", "48K", "4-5");
  cache("1", "Instruction", "8M", "4-5");
  cache("2", "Unified", "2048K", "4-5");
  cache("3", "Unified", "32M", "4-7");
  EXPECT_EQ(private_cache_bytes(on({4, 5}), machine_.folder()), 2U << 20);
}

}  // namespace
}  // namespace unisono::node
