#include "base/file.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace unisono {

Result<std::string> read_file(const std::string& path) {
  constexpr std::uintmax_t kMostBytes = std::uintmax_t{256} << 20;
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (error) return Error{"it cannot be read: " + error.message()};
  if (!std::filesystem::is_regular_file(status)) return Error{"it is no plain file"};
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (!error && size > kMostBytes) return Error{"it is larger than 256 MB"};
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{std::string("it cannot be read: ") + std::strerror(errno)};
  std::string text(error ? 0 : static_cast<std::size_t>(size), '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

std::optional<std::string> write_file(const std::string& path, const std::string& text) {
  if (!may_have_file_of(text.size()))
    return std::string("it cannot be written: ") + std::strerror(EFBIG);
  const std::string part = path + ".part." + std::to_string(::getpid());
  {
    std::ofstream file(part, std::ios::binary | std::ios::trunc);
    file << text << std::flush;
    if (!file) {
      std::string error = std::string("it cannot be written: ") + std::strerror(errno);
      static_cast<void>(std::remove(part.c_str()));
      return error;
    }
  }
  std::error_code error;
  std::filesystem::rename(part, path, error);
  if (!error) return std::nullopt;
  static_cast<void>(std::remove(part.c_str()));
  return "it cannot be written: " + error.message();
}

bool may_have_file_of(std::uint64_t bytes) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
         bytes <= limit.rlim_cur;
}

}  // namespace unisono
