#include "files/descriptor.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace unisono {

Descriptor::~Descriptor() { close(); }

bool Descriptor::close() {
  const int number = std::exchange(number_, -1);
  return number < 0 || ::close(number) == 0;
}

std::string reason() { return std::strerror(errno); }

std::string stranger(const struct stat& facts) {
  if (facts.st_uid != ::geteuid()) return "it belongs to another user";
  if ((facts.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "others may write it";
  return "";
}

Result<std::string> read_whole(const Descriptor& file, std::size_t most_bytes) {
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) return Error{"it cannot be read: " + reason()};
  if (!S_ISREG(facts.st_mode)) return Error{"it is no plain file"};
  // One byte more tells a file that grows.
  std::string text;
  if (static_cast<std::size_t>(facts.st_size) <= most_bytes)
    text.resize(static_cast<std::size_t>(facts.st_size) + 1);
  std::size_t length = 0;
  while (length < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + length, text.size() - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error{"it cannot be read: " + reason()};
    if (got == 0) break;
    length += static_cast<std::size_t>(got);
  }
  if (text.empty() || length > most_bytes)
    return Error{"it is too large: it may have " + std::to_string(most_bytes) + " bytes"};
  text.resize(length);
  return text;
}

bool write_whole(const Descriptor& file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace unisono
