// What a home may hold: nothing of it may be believed, waited for, or make the program fail.
#include "files/cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "files/names.h"

namespace unisono {
namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "mpich-0123456789abcdef.json";

class Cache : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "unisono-cache-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    home_ = pattern;
    ::setenv("XDG_CACHE_HOME", home_.c_str(), 1);
    file_ = home_ / "unisono" / kName;
  }
  void TearDown() override {
    fs::permissions(home_, fs::perms::owner_all);
    fs::remove_all(home_);
  }
  static std::optional<std::string> put(const std::string& text) {
    return cache::update(kName, [&](const std::string&) { return text; });
  }
  static std::string error() {
    const auto text = cache::read(kName);
    return text ? "no error, but: " + *text : text.error();
  }

  fs::path home_, file_;
};

TEST_F(Cache, KeepsWhatWasWritten) {
  EXPECT_EQ(*cache::read(kName), "") << "there is no folder yet";
  EXPECT_EQ(put("one"), std::nullopt);
  EXPECT_EQ(*cache::read(kName), "one");
  EXPECT_EQ(cache::update(kName, [](const std::string& old) { return old + " two"; }),
            std::nullopt);
  EXPECT_EQ(*cache::read(kName), "one two");
  EXPECT_EQ(fs::status(file_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(put(""), std::nullopt);
  EXPECT_FALSE(fs::exists(file_));
}

TEST_F(Cache, HomesByTheSpecification) {
  ::setenv("HOME", "/somebody", 1);
  EXPECT_EQ(cache::folder(), (home_ / "unisono").string());
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(cache::folder(), "/somebody/.cache/unisono");
  ::unsetenv("HOME");
  EXPECT_EQ(cache::folder(), "");
  EXPECT_EQ(*cache::read(kName), "");
  EXPECT_EQ(put("one"), "there is no home directory");
}

TEST_F(Cache, WhatIsNoPlainFileOfOnesOwnIsNotRead) {
  ASSERT_EQ(put("one"), std::nullopt);
  fs::rename(file_, home_ / "elsewhere");
  fs::create_symlink(home_ / "elsewhere", file_);
  EXPECT_EQ(error(), "it is a symbolic link");
  fs::remove(file_);
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  EXPECT_EQ(error(), "it is no plain file") << "and nobody waits for its writer";
  fs::remove(file_);
  fs::create_directory(file_);
  EXPECT_EQ(error(), "it is no plain file");
  fs::remove(file_);
  fs::rename(home_ / "elsewhere", file_);
  fs::permissions(file_, fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(error(), "others may write it");
  if (::geteuid() != 0) return;
  fs::permissions(file_, fs::perms::owner_read);
  ASSERT_EQ(::chown(file_.c_str(), 12345, 12345), 0);
  EXPECT_EQ(error(), "it belongs to another user");
}

TEST_F(Cache, AFolderThatOthersMayWriteIsNotTrusted) {
  ASSERT_EQ(put("one"), std::nullopt);
  fs::permissions(file_.parent_path(), fs::perms::all);
  EXPECT_NE(error().find("others may write it"), std::string::npos);
  EXPECT_NE(put("two"), std::nullopt);
}

TEST_F(Cache, HugeFilesAreNotRead) {
  ASSERT_EQ(put("one"), std::nullopt);
  fs::resize_file(file_, std::uintmax_t{1} << 40);  // a hole
  EXPECT_EQ(error(), "it is too large: it may have 1048576 bytes");
}

TEST_F(Cache, SymbolicLinksAreReplacedAndNotFollowed) {
  ASSERT_EQ(put("one"), std::nullopt);
  std::ofstream(home_ / "victim") << "precious";
  fs::remove(file_);
  fs::create_symlink(home_ / "victim", file_);
  EXPECT_EQ(put("two"), std::nullopt);
  EXPECT_EQ(*cache::read(kName), "two");
  EXPECT_EQ(fs::file_size(home_ / "victim"), 8U);
}

TEST_F(Cache, WhatCannotBeWrittenIsToldAndNothingIsLeft) {
  std::ofstream(home_ / "unisono") << "a file";
  EXPECT_NE(put("one"), std::nullopt);
  fs::remove(home_ / "unisono");
  fs::create_directories(file_);  // a folder where the file belongs
  std::ofstream(file_ / "full");
  EXPECT_NE(put("one"), std::nullopt);
  std::size_t parts = 0;
  for (const auto& entry : fs::directory_iterator(file_.parent_path()))
    parts += entry.path().string().find(".part.") != std::string::npos ? 1 : 0;
  EXPECT_EQ(parts, 0U);
}

// The lock is held by somebody who never gives it back.
TEST_F(Cache, NobodyIsWaitedForForEver) {
  ASSERT_EQ(put("one"), std::nullopt);
  const int held = ::open((file_.parent_path() / "lock").c_str(), O_RDWR);
  ASSERT_EQ(::flock(held, LOCK_EX), 0);
  EXPECT_EQ(put("two"), std::nullopt);
  ::close(held);
  EXPECT_EQ(*cache::read(kName), "two");
}

TEST_F(Cache, UpdatesAtOnceAreAllKept) {
  constexpr int kWriters = 2, kTimes = 40;
  std::vector<std::thread> writers;
  for (int i = 0; i < kWriters; ++i)
    writers.emplace_back([] {
      for (int n = 0; n < kTimes; ++n) {
        EXPECT_EQ(cache::update(kName, [](const std::string& old) { return old + "x"; }),
                  std::nullopt);
        // The other looks for the lock every 2 ms, and not for ever: it must find it free.
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    });
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(cache::read(kName)->size(), static_cast<std::size_t>(kWriters * kTimes));
}

TEST_F(Cache, OldFilesGo) {
  for (std::size_t i = 0; i < cache::kMostFiles + 3; ++i)
    EXPECT_EQ(cache::update(memory_name("mpich", i), [](const auto&) { return "one"; }),
              std::nullopt);
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(file_.parent_path()))
    files += entry.path().filename() != "lock" ? 1 : 0;
  EXPECT_EQ(files, cache::kMostFiles);
}

// With more of them than Unisono keeps, and older than anything of its own.
TEST_F(Cache, FilesOfTheUsersOwnStay) {
  const fs::path folder = home_ / "unisono";
  fs::create_directory(folder);
  std::vector<fs::path> own = {"mpich-0.json",
                               "notes.json",
                               "mpich-0123456789abcdef.json.bak",
                               "MPICH-0123456789abcdef.json",
                               "mpich-0123456789abcdef.json.part.backup",
                               ".mpich-0123456789abcdef.json",
                               "thesis.part.0123456789abcdef"};
  for (int i = 0; i < 100; ++i) own.push_back("file" + std::to_string(i));
  for (const fs::path& name : own) {
    std::ofstream(folder / name) << "precious";
    fs::last_write_time(folder / name, fs::file_time_type::min());
  }
  for (std::size_t i = 0; i < cache::kMostFiles + 3; ++i)
    EXPECT_EQ(cache::update(memory_name("mpich", i), [](const auto&) { return "one"; }),
              std::nullopt);
  for (const fs::path& name : own) EXPECT_TRUE(fs::exists(folder / name)) << name;
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder)) ++files;
  EXPECT_EQ(files, own.size() + cache::kMostFiles + 1) << "and the lock";
}

TEST_F(Cache, AFolderThatIsALinkIsLeftAlone) {
  fs::create_directory(home_ / "documents");
  for (int i = 0; i < 100; ++i)
    std::ofstream(home_ / "documents" / std::to_string(i)) << "precious";
  fs::create_directory_symlink(home_ / "documents", home_ / "unisono");
  EXPECT_EQ(put("one"), cache::folder() + ": it is a symbolic link");
  EXPECT_EQ(error(), cache::folder() + ": it is a symbolic link");
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(home_ / "documents")) ++files;
  EXPECT_EQ(files, 100U);
}

TEST_F(Cache, ALockThatIsALinkMakesNoFileElsewhere) {
  fs::create_directory(home_ / "unisono");
  fs::create_symlink(home_ / "elsewhere", home_ / "unisono" / "lock");
  EXPECT_EQ(put("one"), std::nullopt);
  EXPECT_FALSE(fs::exists(home_ / "elsewhere"));
}

TEST_F(Cache, WhatDeadJobsLeftGoesAfterAnHour) {
  ASSERT_EQ(put("one"), std::nullopt);
  const fs::path dead = part_of(file_.string()), alive = part_of(file_.string());
  std::ofstream{dead} << "half";
  std::ofstream{alive} << "half";
  fs::last_write_time(dead, fs::file_time_type::clock::now() - std::chrono::hours(2));
  fs::last_write_time(alive, fs::file_time_type::clock::now() - std::chrono::minutes(50));
  EXPECT_EQ(put("two"), std::nullopt);
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_TRUE(fs::exists(alive));
}

}  // namespace
}  // namespace unisono
