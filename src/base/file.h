// A whole file, as a text.
#pragma once
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

}  // namespace unisono
