#include "files/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <tuple>
#include <vector>

#include "files/descriptor.h"
#include "files/file.h"
#include "files/names.h"

namespace unisono::cache {

namespace {

constexpr int kTries = 100;
constexpr useconds_t kBetweenTries = 2000;  // us
constexpr const char* kLock = "lock";
constexpr std::time_t kAbandoned = 3600;  // seconds after which nobody writes a part any more

/// The last component only: a home, or ~/.cache, may well be a link.
int open_folder() {
  return ::open(folder().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

/// XDG_CACHE_HOME=/dev/null is a way to say that nothing is to be kept.
bool is_nowhere() {
  struct stat facts {};
  return ::lstat(folder().c_str(), &facts) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

/// Why the folder, which has just been opened, is not to be used; empty: it is.
std::string problem_of(const Descriptor& home) {
  if (!home) {
    struct stat facts {};
    const std::string why = reason();
    const bool is_link = ::lstat(folder().c_str(), &facts) == 0 && S_ISLNK(facts.st_mode);
    return folder() + ": " + (is_link ? "it is a symbolic link" : why);
  }
  struct stat facts {};
  if (::fstat(home.get(), &facts) != 0) return reason();
  const std::string strange = stranger(facts);
  return strange.empty() ? "" : folder() + ": " + strange;
}

Result<std::string> read_in(const Descriptor& home, const std::string& name) {
  const Descriptor file(::openat(home.get(), name.c_str(),
                                 O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (!file) {
    if (errno == ENOENT) return std::string();
    if (errno == ELOOP) return Error{"it is a symbolic link"};
    if (errno == ENXIO) return Error{"it is no plain file"};
    return Error{"it cannot be read: " + reason()};
  }
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) return Error{reason()};
  if (!S_ISREG(facts.st_mode)) return Error{"it is no plain file"};
  if (const std::string strange = stranger(facts); !strange.empty()) return Error{strange};
  return read_whole(file, kMostBytes);
}

std::optional<std::string> write_in(const Descriptor& home, const std::string& name,
                                    const std::string& text) {
  if (text.empty()) {
    ::unlinkat(home.get(), name.c_str(), 0);
    return std::nullopt;
  }
  if (!may_have_file_of(text.size()))
    return "it cannot be written: " + std::string(std::strerror(EFBIG));
  const std::string part = part_of(name);
  Descriptor file(::openat(home.get(), part.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return "it cannot be written: " + reason();
  if (write_whole(file, text) && file.close() &&
      ::renameat(home.get(), part.c_str(), home.get(), name.c_str()) == 0)
    return std::nullopt;
  const std::string why = reason();
  ::unlinkat(home.get(), part.c_str(), 0);
  return "it cannot be written: " + why;
}

/// Without the lock an update of another job may be lost, and nothing else: it is not waited for
/// long.
void lock(const Descriptor& file) {
  for (int i = 0; file && i < kTries && ::flock(file.get(), LOCK_EX | LOCK_NB) != 0; ++i)
    ::usleep(kBetweenTries);
}

/// What is too old, or too much, of Unisono's own in the folder that this descriptor is of.
void tidy(const Descriptor& home) {
  const int again = ::openat(home.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(again), ::closedir);
  if (!entries) {
    if (again >= 0) ::close(again);
    return;
  }
  std::vector<std::tuple<std::time_t, long, std::string>> files;
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string name = entry->d_name;
    const bool is_part = is_part_of_memory(name);
    struct stat facts {};
    if ((!is_part && !is_memory_name(name)) ||
        ::fstatat(home.get(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(facts.st_mode))
      continue;
    if (!is_part)
      files.emplace_back(facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec, name);
    else if (facts.st_mtim.tv_sec + kAbandoned < std::time(nullptr))
      ::unlinkat(home.get(), name.c_str(), 0);
  }
  std::sort(files.begin(), files.end());
  for (std::size_t i = 0; i + kMostFiles < files.size(); ++i)
    ::unlinkat(home.get(), std::get<2>(files[i]).c_str(), 0);
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
  assert(is_memory_name(name));
  const Descriptor home(open_folder());
  if (!home && is_nowhere()) return std::string();
  if (const std::string problem = problem_of(home); !problem.empty()) return Error{problem};
  return read_in(home, name);
}

std::optional<std::string> update(const std::string& name,
                                  const std::function<std::string(const std::string&)>& renew) {
  assert(is_memory_name(name));
  if (folder().empty()) return "there is no home directory";
  std::error_code error;
  const std::filesystem::path path(folder());
  std::filesystem::create_directories(path.parent_path(), error);
  ::mkdir(path.c_str(), 0700);
  const Descriptor home(open_folder());
  if (std::string problem = problem_of(home); !problem.empty()) return problem;
  const Descriptor guard(
      ::openat(home.get(), kLock, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  lock(guard);
  const auto old = read_in(home, name);
  auto problem = write_in(home, name, renew(old ? *old : std::string()));
  tidy(home);
  return problem;
}

}  // namespace unisono::cache
