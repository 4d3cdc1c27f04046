#include "base/say.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <mutex>
#include <string_view>

#include "base/printable.h"
#include "base/standard_error.h"

namespace unisono {

namespace {

constinit std::mutex g_one_at_a_time;
unisono_standard_error g_at_load = unisono_standard_error_now();

// Whatever a file, a variable or an MPI library put into it, it stays one line.
constexpr std::size_t kMostBytes = 2000;

/// In this thread SIGPIPE comes to nobody: a reader may go between two looks.
class WithoutSignal {
 public:
  WithoutSignal() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    was_pending_ = sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutSignal() {
    const timespec now{};
    while (!was_pending_ && sigtimedwait(&pipe_, nullptr, &now) == -1 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSignal(const WithoutSignal&) = delete;
  WithoutSignal& operator=(const WithoutSignal&) = delete;

 private:
  sigset_t pipe_, before_;
  bool was_pending_ = false;
};

void write_line(std::string_view line) noexcept {
  const int error = errno;
  {
    const std::lock_guard lock(g_one_at_a_time);
    const WithoutSignal without;
    if (unisono_user_reads(&g_at_load) != 0) {
      [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
    }
  }
  errno = error;
}

}  // namespace

void set_standard_error(const unisono_standard_error& at_load) { g_at_load = at_load; }

bool user_reads() noexcept {
  const std::lock_guard lock(g_one_at_a_time);
  return unisono_user_reads(&g_at_load) != 0;
}

void say(const std::string& text) { write_line("unisono: " + printable(text, kMostBytes) + "\n"); }

void say_in_need(const char* text) noexcept {
  std::array<char, kMostBytes> line{};
  const int length = std::snprintf(line.data(), line.size(), "unisono: %s\n", text);
  if (length > 0) write_line({line.data(), std::min<std::size_t>(length, line.size() - 1)});
}

}  // namespace unisono
