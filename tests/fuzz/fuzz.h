// What fuzzers have in common: random numbers, inputs that run in children, and what is counted.
#pragma once
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <new>
#include <random>
#include <string>
#include <string_view>

namespace unisono::fuzz {

/// Of one input, by its number: so that one that failed can be run again alone.
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t input) : engine_(seed * 1'000'003 + input) {}
  /// From 0 to n - 1.
  std::size_t below(std::size_t n) { return n < 2 ? 0 : engine_() % n; }
  bool one_in(std::size_t n) { return below(n) == 0; }
  template <class List>
  const auto& of(const List& list) {
    return list[below(std::size(list))];
  }

 private:
  std::mt19937_64 engine_;
};

struct Options {
  std::uint64_t count = UINT64_MAX, seed = 1, first = 0;
  double seconds = 0;  ///< 0: until `count`
};

/// Written by the child that runs the inputs, read when it has ended, however it did.
struct Counts {
  std::uint64_t inputs = 0, crashes = 0, slow = 0, long_lines = 0, touched = 0;
  double slowest = 0;  ///< seconds
  std::uint64_t slowest_input = 0;
  std::size_t longest_line = 0;

  bool is_good() const { return crashes + slow + long_lines + touched == 0; }
  /// Seconds of a processor that the library has spent on this input.
  void note(double spent, std::uint64_t input) {
    constexpr double kMostSeconds = 0.05;
    slow += spent > kMostSeconds ? 1 : 0;
    if (spent > slowest) slowest = spent, slowest_input = input;
  }
};

inline Options options_of(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    if (name == "--count") options.count = std::strtoull(argv[i + 1], nullptr, 10);
    if (name == "--seed") options.seed = std::strtoull(argv[i + 1], nullptr, 10);
    if (name == "--first") options.first = std::strtoull(argv[i + 1], nullptr, 10);
    if (name == "--seconds") options.seconds = std::strtod(argv[i + 1], nullptr);
  }
  return options;
}

/// Of this thread, so that other processes decide nothing.
inline double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// What is written to standard error while it lives, by this process.
class Captured {
 public:
  Captured() : file_(static_cast<int>(::memfd_create("stderr", 0))), before_(::dup(STDERR_FILENO)) {
    ::dup2(file_, STDERR_FILENO);
  }
  ~Captured() {
    ::dup2(before_, STDERR_FILENO);
    ::close(file_);
    ::close(before_);
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  std::string take() const {
    const off_t size = ::lseek(file_, 0, SEEK_END);
    std::string text(static_cast<std::size_t>(size), '\0');
    if (::pread(file_, text.data(), text.size(), 0) != size) text.clear();
    static_cast<void>(::ftruncate(file_, 0));
    ::lseek(file_, 0, SEEK_SET);
    return text;
  }

 private:
  int file_, before_;
};

/// Lines that are too long, and those with bytes that a terminal obeys.
inline void count_lines(std::string_view text, std::size_t most, Counts& counts) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    counts.longest_line = std::max(counts.longest_line, line.size());
    const bool is_active = std::any_of(line.begin(), line.end(), [](char c) {
      return static_cast<unsigned char>(c) < ' ' || c == '\x7f';
    });
    counts.long_lines += line.size() > most || is_active ? 1 : 0;
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
}

/// `touched` says what that counter counts. Runs `one` for each input in children, a few hundred
/// each. A child that dies, or does not come to an input's end, has met a crash: the next goes on
/// behind that input.
inline int run(const Options& options,
               const std::function<void(std::uint64_t input, Counts& counts)>& one,
               const char* touched = "files touched") {
  constexpr std::uint64_t kOfAChild = 500;
  constexpr unsigned kMostSeconds = 10;  // by the clock: an input that takes longer hangs
  void* shared =
      ::mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 2;
  Counts& counts = *new (shared) Counts;
  const auto begin = std::chrono::steady_clock::now();
  const auto is_over = [&] {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    return counts.inputs >= options.count ||
           (options.seconds > 0 && spent.count() > options.seconds);
  };
  while (!is_over()) {
    const pid_t child = ::fork();
    if (child < 0) return 2;
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (std::uint64_t i = 0; i < kOfAChild && !is_over(); ++i) {
        const std::uint64_t input = options.first + counts.inputs++;
        ::alarm(kMostSeconds);
        one(input, counts);
      }
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    ++counts.crashes;
    std::fprintf(stderr, "input %llu: %s (status %d)\n",
                 static_cast<unsigned long long>(options.first + counts.inputs - 1),
                 WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "hangs" : "crashes", status);
  }
  std::printf(
      "%llu inputs, seed %llu: %llu crashes or hangs, %llu too slow (slowest %.1f ms, input %llu), "
      "%llu bad "
      "lines (longest %zu), %llu %s\n",
      static_cast<unsigned long long>(counts.inputs), static_cast<unsigned long long>(options.seed),
      static_cast<unsigned long long>(counts.crashes), static_cast<unsigned long long>(counts.slow),
      counts.slowest * 1e3, static_cast<unsigned long long>(counts.slowest_input),
      static_cast<unsigned long long>(counts.long_lines), counts.longest_line,
      static_cast<unsigned long long>(counts.touched), touched);
  return counts.inputs > 0 && counts.is_good() ? 0 : 1;
}

}  // namespace unisono::fuzz
