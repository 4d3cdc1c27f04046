#include "base/cores.h"

#include <gtest/gtest.h>

#include <climits>
#include <filesystem>
#include <fstream>
#include <string>

namespace unisono {
namespace {

class Cores : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "cores_test." + std::to_string(getpid());
    std::filesystem::create_directories(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ + "/" + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  int cores() const { return quota_cores_in(root_.c_str(), (root_ + "/own").c_str()); }

  std::string root_;
};

TEST_F(Cores, WithoutQuotaAreNotLimited) {
  EXPECT_EQ(cores(), INT_MAX);
  write("own", "0::/job\n");
  write("job/cpu.max", "max 100000\n");
  EXPECT_EQ(cores(), INT_MAX);
  write("own", "nonsense\n1:cpu\n");
  EXPECT_EQ(cores(), INT_MAX);
}

TEST_F(Cores, OfTheTightestGroupOnTheWayUp) {
  write("own", "0::/slice/job\n");
  write("slice/job/cpu.max", "800000 100000\n");
  EXPECT_EQ(cores(), 8);
  write("slice/cpu.max", "350000 100000\n");
  EXPECT_EQ(cores(), 3);
  write("cpu.max", "50000 100000\n");
  EXPECT_EQ(cores(), 1);
}

TEST_F(Cores, OfVersionOne) {
  write("own", "4:memory:/a\n2:cpuacct,cpu:/job\n0::/\n");
  write("cpu/job/cpu.cfs_quota_us", "-1\n");
  write("cpu/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cores(), INT_MAX);
  write("cpu/job/cpu.cfs_quota_us", "250000\n");
  EXPECT_EQ(cores(), 2);
}

TEST_F(Cores, OfVersionOneWithoutALinkOfThatName) {
  write("own", "2:cpu,cpuacct:/job\n");
  write("cpu,cpuacct/job/cpu.cfs_quota_us", "250000\n");
  write("cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cores(), 2);
}

TEST_F(Cores, OfAContainerThatSeesItsHostsPath) {
  write("own", "0::/docker/0123\n");
  write("cpu.max", "150000 100000\n");
  EXPECT_EQ(cores(), 1);
}

TEST_F(Cores, OfALongPath) {
  write("own", "0::/" + std::string(5000, 'a') + "\n");
  EXPECT_EQ(cores(), INT_MAX);
}

}  // namespace
}  // namespace unisono
