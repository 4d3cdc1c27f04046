// Ranks of a job that nobody has launched: processes with a launcher's variables, which show
// themselves and look around when they are told to; and strangers, who take names of ranks.
#pragma once
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <new>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/presence.h"

namespace unisono::presence {

constexpr uid_t kStranger = 65533;  // of no account: only root can become it
constexpr int kNoRank = -1;  // of a rank that knows neither its number nor how many there are

/// The names of this network namespace, without the byte that begins them.
inline std::set<std::string> names_shown() {
  std::set<std::string> names;
  std::ifstream file("/proc/net/unix");
  for (std::string line; std::getline(file, line);)
    if (const auto at = line.find('@'); at != std::string::npos) names.insert(line.substr(at + 1));
  return names;
}

inline int take_name(const std::string& name, int type, int callers) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
  const int file = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (bind(file, reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
      (type != SOCK_DGRAM && listen(file, callers) != 0)) {
    close(file);
    return -1;
  }
  return file;
}

/// Another process's end of a connection to that name; -1: nobody admits it.
inline int call(const std::string& name, int type) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
  const int file = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (connect(file, reinterpret_cast<const sockaddr*>(&address), length) == 0) return file;
  close(file);
  return -1;
}

/// Not by usleep(), which fuzzers replace.
inline void rest() {
  const timespec while_others_run{0, 200'000};
  nanosleep(&while_others_run, nullptr);
}

class MadeUpJob {
 public:
  explicit MadeUpJob(int ranks, const std::string& name) : ranks_(ranks) {
    setenv("PMIX_NAMESPACE", name.c_str(), 1);
    void* page =
        mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    page_ = new (page) Page;
    find_names();
  }
  ~MadeUpJob() {
    for (const pid_t child : children_) kill(child, SIGKILL);
    for (const pid_t child : children_) waitpid(child, nullptr, 0);
    munmap(page_, sizeof(Page));
  }
  MadeUpJob(const MadeUpJob&) = delete;
  MadeUpJob& operator=(const MadeUpJob&) = delete;

  std::string name_of(int rank) const { return stem_ + std::to_string(rank); }

  /// A rank that shows itself, and looks around when look() lets it. What it does before each:
  void start_rank(
      int rank, const std::function<void()>& before_showing = [] {},
      const std::function<void()>& before_looking = [] {}) {
    start([this, rank, before_showing, before_looking] {
      before_showing();
      announce_as(rank);
      ++page_->ready;
      while (!page_->looks) rest();
      before_looking();
      const std::size_t place = page_->finished_places++;
      timespec before{}, after{};
      clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
      page_->found[place] = look_around();
      clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
      page_->cpu[place] = static_cast<double>(after.tv_sec - before.tv_sec) +
                          1e-9 * static_cast<double>(after.tv_nsec - before.tv_nsec);
      ++page_->finished;
      for (;;) {
        admit();
        rest();
      }
    });
  }
  /// A process of this user, or another one, that does `what` and stays.
  void start_stranger(uid_t user, const std::function<void()>& what) {
    start([this, user, what] {
      if (user != geteuid() &&
          (setresgid(user, user, user) != 0 || setresuid(user, user, user) != 0))
        _exit(1);
      what();
      ++page_->ready;
      for (;;) pause();
    });
  }

  /// What the ranks see that were started, in no order, when all have looked.
  std::vector<Attendance> look() {
    page_->looks = true;
    const int looking = rank_processes();
    while (page_->finished < looking) rest();
    return {page_->found.begin(), page_->found.begin() + looking};
  }
  /// The most seconds of a processor that a rank has looked for.
  double longest_look() const { return *std::max_element(page_->cpu.begin(), page_->cpu.end()); }
  /// So many of the ranks that were started have been ended, and will not look.
  void forget_dead(std::size_t ranks) { page_->ranks -= static_cast<int>(ranks); }
  /// Ends the process that was started as the n-th.
  void end(std::size_t n) {
    kill(children_[n], SIGKILL);
    waitpid(children_[n], nullptr, 0);
  }

 private:
  static constexpr std::size_t kMost = 64;
  struct Page {
    std::atomic<int> ready{0}, finished{0}, ranks{0};
    std::atomic<std::size_t> finished_places{0};
    std::atomic<bool> looks{false};
    std::array<Attendance, kMost> found{};
    std::array<double, kMost> cpu{};
  };

  int rank_processes() const { return page_->ranks; }

  void announce_as(int rank) const {
    if (rank == kNoRank) {
      unsetenv("OMPI_COMM_WORLD_LOCAL_RANK");
    } else {
      setenv("OMPI_COMM_WORLD_LOCAL_RANK", std::to_string(rank).c_str(), 1);
      setenv("OMPI_COMM_WORLD_LOCAL_SIZE", std::to_string(ranks_).c_str(), 1);
    }
    ++page_->ranks;
    announce();
  }

  void start(const std::function<void()>& what) {
    const int before = page_->ready;
    const pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      what();
      _exit(0);
    }
    children_.push_back(child);
    while (page_->ready == before && waitpid(child, nullptr, WNOHANG) == 0) rest();
  }

  /// What is new when a rank has shown itself.
  void find_names() {
    static std::string known_job, known_stem;
    const std::string job = std::getenv("PMIX_NAMESPACE");
    if (job == known_job) return void(stem_ = known_stem);
    const std::set<std::string> before = names_shown();
    start_rank(0);
    for (const std::string& name : names_shown())
      if (!before.contains(name) && name.starts_with("unisono-") && name.ends_with("-0"))
        stem_ = name.substr(0, name.size() - 1);
    end(0);
    children_.clear();
    page_->ready = 0;
    page_->ranks = 0;
    known_job = job;
    known_stem = stem_;
  }

  int ranks_;
  Page* page_;
  std::string stem_;
  std::vector<pid_t> children_;
};

}  // namespace unisono::presence
