#include "base/cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/file.h"

namespace unisono::cache {

namespace {

constexpr int kTries = 100;
constexpr useconds_t kBetweenTries = 2000;  // us
constexpr const char* kLock = "lock";

std::string reason() { return std::strerror(errno); }

/// A descriptor that closes itself.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  explicit operator bool() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

/// Why it is not this user's own; empty: it is. Who may write it may have written anything.
std::string stranger(const struct stat& facts) {
  if (facts.st_uid != ::geteuid()) return "it belongs to another user";
  if ((facts.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "others may write it";
  return "";
}

int open_folder() {
  return ::open(folder().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
}

/// Of the folder; empty: it is good.
std::string problem_of(const File& home) {
  struct stat facts {};
  if (::fstat(home.get(), &facts) != 0) return reason();
  const std::string strange = stranger(facts);
  return strange.empty() ? "" : folder() + ": " + strange;
}

Result<std::string> read_in(const File& home, const std::string& name) {
  const File file(
      ::openat(home.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) {
    if (errno == ENOENT) return std::string();
    if (errno == ELOOP) return Error{"it is a symbolic link"};
    return Error{"it cannot be read: " + reason()};
  }
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) return Error{reason()};
  if (!S_ISREG(facts.st_mode)) return Error{"it is no plain file"};
  if (const std::string strange = stranger(facts); !strange.empty()) return Error{strange};
  if (static_cast<std::uintmax_t>(facts.st_size) > kMostBytes) return Error{"it is too large"};
  std::string text(static_cast<std::size_t>(facts.st_size), '\0');
  std::size_t length = 0;
  while (length < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + length, text.size() - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error{"it cannot be read: " + reason()};
    if (got == 0) break;
    length += static_cast<std::size_t>(got);
  }
  text.resize(length);
  return text;
}

std::optional<std::string> write_in(const File& home, const std::string& name,
                                    const std::string& text) {
  if (text.empty()) {
    ::unlinkat(home.get(), name.c_str(), 0);
    return std::nullopt;
  }
  if (!may_have_file_of(text.size()))
    return "it cannot be written: " + std::string(std::strerror(EFBIG));
  // Hosts that share a home count their processes alike.
  const auto time = std::chrono::system_clock::now().time_since_epoch().count();
  const std::string part =
      name + ".part." + std::to_string(::getpid()) + "." + std::to_string(time);
  const auto failed = [&] {
    const std::string why = reason();
    ::unlinkat(home.get(), part.c_str(), 0);
    return "it cannot be written: " + why;
  };
  const File file(::openat(home.get(), part.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return "it cannot be written: " + reason();
  for (std::size_t written = 0; written < text.size();) {
    const ssize_t now = ::write(file.get(), text.data() + written, text.size() - written);
    if (now < 0 && errno == EINTR) continue;
    if (now < 0) return failed();
    written += static_cast<std::size_t>(now);
  }
  if (::renameat(home.get(), part.c_str(), home.get(), name.c_str()) != 0) return failed();
  return std::nullopt;
}

/// Without the lock an update of another job may be lost, and nothing else: it is not waited for
/// long.
void lock(const File& file) {
  for (int i = 0; file && i < kTries && ::flock(file.get(), LOCK_EX | LOCK_NB) != 0; ++i)
    ::usleep(kBetweenTries);
}

void remove_oldest() {
  std::error_code error;
  std::vector<std::pair<std::filesystem::file_time_type, std::filesystem::path>> files;
  // Not a loop over the range, which throws where the next entry cannot be read.
  for (std::filesystem::directory_iterator entry(folder(), error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;  // another job may have taken it away
    if (entry->path().filename() != kLock && entry->is_regular_file(gone))
      files.emplace_back(entry->last_write_time(gone), entry->path());
  }
  std::sort(files.begin(), files.end());
  for (std::size_t i = 0; i + kMostFiles < files.size(); ++i)
    std::filesystem::remove(files[i].second, error);
}

}  // namespace

// A relative path is to be ignored, says the XDG Base Directory Specification.
std::string folder() {
  const auto absolute = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value != nullptr && value[0] == '/' ? value : "";
  };
  if (const std::string home = absolute("XDG_CACHE_HOME"); !home.empty()) return home + "/unisono";
  const std::string home = absolute("HOME");
  return home.empty() ? "" : home + "/.cache/unisono";
}

Result<std::string> read(const std::string& name) {
  const File home(open_folder());
  // XDG_CACHE_HOME=/dev/null is a way to say that nothing is to be kept.
  const bool is_nowhere = errno == ENOENT || errno == ENOTDIR;
  if (!home) return is_nowhere ? Result<std::string>(std::string()) : Error{reason()};
  if (const std::string problem = problem_of(home); !problem.empty()) return Error{problem};
  return read_in(home, name);
}

std::optional<std::string> update(const std::string& name,
                                  const std::function<std::string(const std::string&)>& renew) {
  if (folder().empty()) return "there is no home directory";
  std::error_code error;
  const std::filesystem::path path(folder());
  std::filesystem::create_directories(path.parent_path(), error);
  ::mkdir(path.c_str(), 0700);
  const File home(open_folder());
  if (!home) return path.string() + ": " + reason();
  if (std::string problem = problem_of(home); !problem.empty()) return problem;
  const File guard(
      ::openat(home.get(), kLock, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  lock(guard);
  const auto old = read_in(home, name);
  auto problem = write_in(home, name, renew(old ? *old : std::string()));
  remove_oldest();
  return problem;
}

}  // namespace unisono::cache
