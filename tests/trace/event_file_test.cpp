#include "trace/event_file.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <vector>

namespace unisono::trace {
namespace {

constexpr std::uint64_t kWindow = EventFile::kWindowBytes / sizeof(Event);

bool append(EventFile& file, std::uint64_t i) {
  Event* event = file.append();
  if (event == nullptr) return false;
  event->begin_ns = static_cast<std::int64_t>(i + 1);
  event->bytes = 3 * i;
  return true;
}

class EventFileTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<EventFile> create() {
    auto made = EventFile::create(path_);
    EXPECT_TRUE(made) << made.error();
    return std::move(*made);
  }
  std::vector<Event> read() const {
    std::vector<Event> events(std::filesystem::file_size(path_) / sizeof(Event));
    std::ifstream file(path_, std::ios::binary);
    file.read(reinterpret_cast<char*>(events.data()),
              static_cast<std::streamsize>(events.size() * sizeof(Event)));
    return events;
  }

  std::string folder_ =
      std::filesystem::temp_directory_path() / ("unisono-event-file-" + std::to_string(getpid()));
  std::string path_ = folder_ + "/rank-00000.events";
};

TEST_F(EventFileTest, HoldsWhatWasAppendedOverManyWindows) {
  const std::uint64_t n = 3 * kWindow + 5;
  auto file = create();
  for (std::uint64_t i = 0; i < n; ++i) {
    ASSERT_TRUE(append(*file, i));
    ASSERT_EQ(file->events(), i + 1);
    if (i % 2 == 0) file->set_end(i, static_cast<std::int64_t>(2 * i));
  }
  // Threads finish calls whose windows are gone.
  file->set_end(1, 77);
  file->set_algorithm(3, 12);
  file->close();
  const std::vector<Event> events = read();
  ASSERT_EQ(events.size(), n);
  for (std::uint64_t i = 0; i < n; ++i) {
    ASSERT_EQ(events[i].begin_ns, static_cast<std::int64_t>(i + 1));
    ASSERT_EQ(events[i].bytes, 3 * i);
    const std::uint64_t end = i == 1 ? 77 : i % 2 == 0 ? 2 * i : 0;
    ASSERT_EQ(events[i].end_ns, static_cast<std::int64_t>(end));
    ASSERT_EQ(events[i].algorithm, i == 3 ? 12 : 0);
  }
}

TEST_F(EventFileTest, MapsOneWindowHoweverManyEvents) {
  const auto mapped = [this] {
    std::ifstream maps("/proc/self/maps");
    std::uint64_t windows = 0;
    for (std::string line; std::getline(maps, line);) windows += line.ends_with(path_);
    return windows;
  };
  auto file = create();
  for (std::uint64_t i = 0; i < 5 * kWindow; ++i) {
    append(*file, i);
    if (i % kWindow != 7) continue;
    ASSERT_EQ(mapped(), 1);
  }
  file->close();
  EXPECT_EQ(mapped(), 0);
}

TEST_F(EventFileTest, NoEventTakesAPageFault) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the sanitizer's own memory of each page is touched for the first time";
#endif
  auto file = create();
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  for (std::uint64_t i = 0; i < kWindow; ++i) append(*file, i);
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_minflt - before.ru_minflt, 8);  // of 256 pages; not all are the file's
}

TEST_F(EventFileTest, DoesNotTouchAFileThatIsThere) {
  std::ofstream(path_) << "older";
  const auto made = EventFile::create(path_);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error(), "File exists");
  EXPECT_EQ(std::filesystem::file_size(path_), 5);
}

TEST_F(EventFileTest, SaysWhyItCannotBeMade) {
  const auto made = EventFile::create(folder_ + "/missing/rank-00000.events");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error(), "No such file or directory");
}

/// Runs it in a process of its own; how that ended, as waitpid tells.
template <class Function>
int in_child(Function function) {
  const pid_t child = fork();
  if (child == 0) {
    function();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST_F(EventFileTest, ALimitIsAnErrorAndNoSignal) {
  const int status = in_child([&] {
    auto file = std::move(*EventFile::create(path_));
    const rlimit limit{2 * EventFile::kWindowBytes, 2 * EventFile::kWindowBytes};
    setrlimit(RLIMIT_FSIZE, &limit);
    for (std::uint64_t i = 0; i < 2 * kWindow; ++i)
      if (!append(*file, i)) _exit(1);
    for (int i = 0; i < 3; ++i)
      if (append(*file, 0)) _exit(2);
    file->set_end(5, 99);
    if (file->lost() != 3 || file->problem() != "File too large") _exit(3);
    file->close();
  });
  EXPECT_EQ(status, 0);
  const std::vector<Event> events = read();
  ASSERT_EQ(events.size(), 2 * kWindow);
  EXPECT_EQ(events[5].end_ns, 99);
}

TEST_F(EventFileTest, AKillLosesNothing) {
  const int status = in_child([&] {
    auto file = std::move(*EventFile::create(path_));
    for (std::uint64_t i = 0; i < kWindow + 100; ++i) append(*file, i);
    raise(SIGKILL);
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  const std::vector<Event> events = read();
  ASSERT_EQ(events.size(), 2 * kWindow);  // with zeros at the end
  for (std::uint64_t i = 0; i < events.size(); ++i)
    ASSERT_EQ(events[i].begin_ns, i < kWindow + 100 ? static_cast<std::int64_t>(i + 1) : 0);
}

TEST_F(EventFileTest, AForkedChildThatAbandonsItLeavesItAlone) {
  auto file = create();
  append(*file, 0);
  const int status = in_child([&] {
    file->abandon();
    if (append(*file, 8)) _exit(1);
    file->set_end(0, 5);
    file->close();
  });
  EXPECT_EQ(status, 0);
  append(*file, 1);
  file->close();
  const std::vector<Event> events = read();
  ASSERT_EQ(events.size(), 2);
  EXPECT_EQ(events[0].end_ns, 0);
  EXPECT_EQ(events[1].begin_ns, 2);
}

}  // namespace
}  // namespace unisono::trace
