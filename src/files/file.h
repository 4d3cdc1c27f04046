// A file that the user named, as a text.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace unisono {

/// What no file of a kind that people write is larger than.
inline constexpr std::size_t kMostOfAFile = std::size_t{64} << 20;

/// Plain files only: a pipe or a device might never end, or do something when it is opened. The
/// error says what is wrong with the file and does not name it.
Result<std::string> read_file(const std::string& path, std::size_t most_bytes = kMostOfAFile);

/// Replaces the file as a whole: whoever reads it meanwhile has the old text or the new one. What
/// is replaced is a plain file with `mark` in its first 4 KiB, or an empty one: a link, a device,
/// or a file of somebody's own that was named by mistake stays as it is. The error, which does not
/// name the file, or nothing.
std::optional<std::string> write_file(const std::string& path, std::string_view text,
                                      std::string_view mark = "");

/// Whether this process may have a file of so many bytes (RLIMIT_FSIZE): the kernel ends a process
/// that goes beyond.
bool may_have_file_of(std::uint64_t bytes);

}  // namespace unisono
