// Files as wholes.
#include "base/file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <string>

namespace unisono {
namespace {

// Written, it would end this process by a signal.
TEST(WriteFile, BeyondTheLimitIsAnError) {
  const std::string path = ::testing::TempDir() + "unisono_file_test";
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit limit{1000, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const auto good = write_file(path, std::string(1000, 'x'));
  const auto refused = write_file(path, std::string(1001, 'y'));
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_FALSE(good);
  ASSERT_TRUE(refused);
  EXPECT_EQ(*refused, "it cannot be written: File too large");
  EXPECT_EQ(*read_file(path), std::string(1000, 'x'));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace unisono
