#include "files/file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "files/descriptor.h"
#include "files/names.h"

namespace unisono {

namespace {

constexpr std::size_t kLooksAt = 4096;
constexpr int kOpen = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

/// Whether the beginning of an existing file is without the mark, though there is one.
bool is_of_another_kind(const std::string& path, std::string_view mark) {
  const Descriptor file(::open(path.c_str(), kOpen | O_NOFOLLOW));
  char text[kLooksAt];
  const ssize_t got = file ? ::read(file.get(), text, sizeof text) : -1;
  if (got < 0) return true;
  return got > 0 &&
         std::string_view(text, static_cast<std::size_t>(got)).find(mark) == std::string_view::npos;
}

/// Why the file of this name is not to be replaced; empty: it is, or there is none.
std::string keeps(const std::string& path, std::string_view mark, mode_t& mode) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0) return "";
  if (S_ISLNK(facts.st_mode)) return "it is a symbolic link: name the file itself";
  if (!S_ISREG(facts.st_mode)) return "it is no plain file";
  mode = facts.st_mode & 0777;
  if (mark.empty() || !is_of_another_kind(path, mark)) return "";
  return "a file of another kind has this name: name another, or remove it";
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t most_bytes) {
  // Some devices act when they are opened, so that it is asked before; what counts is the
  // descriptor.
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return Error{"it cannot be read: " + reason()};
  if (!S_ISREG(facts.st_mode)) return Error{"it is no plain file"};
  const Descriptor file(::open(path.c_str(), kOpen));
  if (!file) return Error{"it cannot be read: " + reason()};
  return read_whole(file, most_bytes);
}

std::optional<std::string> write_file(const std::string& path, std::string_view text,
                                      std::string_view mark) {
  if (!may_have_file_of(text.size()))
    return std::string("it cannot be written: ") + std::strerror(EFBIG);
  mode_t mode = 0;
  if (std::string why = keeps(path, mark, mode); !why.empty()) return why;
  const std::string part = part_of(path);
  Descriptor file(::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!file) return "it cannot be written: " + reason();
  if ((mode == 0 || ::fchmod(file.get(), mode) == 0) && write_whole(file, text) && file.close() &&
      ::rename(part.c_str(), path.c_str()) == 0)
    return std::nullopt;
  std::string error = "it cannot be written: " + reason();
  ::unlink(part.c_str());
  return error;
}

bool may_have_file_of(std::uint64_t bytes) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
         bytes <= limit.rlim_cur;
}

}  // namespace unisono
