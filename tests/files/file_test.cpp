// Files as wholes.
#include "files/file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
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

namespace fs = std::filesystem;

class Written : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "unisono-file-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    path_ = folder_ / "profile.json";
  }
  void TearDown() override { fs::remove_all(folder_); }
  static std::string text_in(const fs::path& path) { return *read_file(path.string()); }
  static void make(const fs::path& path) { std::ofstream(path) << "precious"; }

  fs::path folder_, path_;
};

TEST_F(Written, AFileThatLooksLikeOnesOwnTemporaryOneStays) {
  const fs::path part = folder_ / ("profile.json.part." + std::to_string(::getpid()));
  make(part);
  make(folder_ / "profile.json.part");
  EXPECT_EQ(write_file(path_.string(), "one"), std::nullopt);
  EXPECT_EQ(text_in(part), "precious");
  EXPECT_EQ(text_in(folder_ / "profile.json.part"), "precious");
  EXPECT_EQ(text_in(path_), "one");
}

TEST_F(Written, LinksPipesAndFoldersAreNotReplaced) {
  make(folder_ / "elsewhere");
  fs::create_symlink(folder_ / "elsewhere", path_);
  EXPECT_EQ(write_file(path_.string(), "one"), "it is a symbolic link: name the file itself");
  EXPECT_TRUE(fs::is_symlink(path_));
  EXPECT_EQ(text_in(folder_ / "elsewhere"), "precious");
  fs::remove(path_);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(write_file(path_.string(), "one"), "it is no plain file");
  EXPECT_EQ(read_file(path_.string()).error(), "it is no plain file") << "and nobody waits";
  EXPECT_TRUE(fs::is_fifo(path_));
  fs::remove(path_);
  fs::create_directory(path_);
  EXPECT_EQ(write_file(path_.string(), "one"), "it is no plain file");
}

TEST_F(Written, OnlyFilesOfItsKindAreReplacedWhereThereIsAMark) {
  make(path_);
  EXPECT_EQ(write_file(path_.string(), "{\"kind\"}", "\"kind\""),
            "a file of another kind has this name: name another, or remove it");
  EXPECT_EQ(text_in(path_), "precious");
  fs::resize_file(path_, 0);
  EXPECT_EQ(write_file(path_.string(), "{\"kind\"}", "\"kind\""), std::nullopt);
  fs::permissions(path_, fs::perms::owner_all);
  EXPECT_EQ(write_file(path_.string(), "{\"kind\"} 2", "\"kind\""), std::nullopt);
  EXPECT_EQ(text_in(path_), "{\"kind\"} 2");
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms::owner_all);
}

TEST_F(Written, WhatIsTooLargeIsNotRead) {
  make(path_);
  EXPECT_EQ(*read_file(path_.string(), 8), "precious");
  EXPECT_EQ(read_file(path_.string(), 7).error(), "it is too large: it may have 7 bytes");
}

}  // namespace
}  // namespace unisono
