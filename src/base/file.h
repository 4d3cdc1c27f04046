// A whole file, as a text.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace unisono {

/// Plain files only, up to 256 MB: a pipe or a device might never end. The error says what is wrong
/// with the file and does not name it.
Result<std::string> read_file(const std::string& path);

/// Replaces the file as a whole: whoever reads it meanwhile has the old text or the new one. The
/// error, which does not name the file, or nothing.
std::optional<std::string> write_file(const std::string& path, const std::string& text);

/// Whether this process may have a file of so many bytes (RLIMIT_FSIZE): the kernel ends a process
/// that goes beyond.
bool may_have_file_of(std::uint64_t bytes);

}  // namespace unisono
