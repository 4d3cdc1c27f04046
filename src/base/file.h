// A whole file, as a text.
#pragma once
#include <string>

#include "base/result.h"

namespace unisono {

/// Plain files only, up to 256 MB: a pipe or a device might never end. The error says what is wrong
/// with the file and does not name it.
Result<std::string> read_file(const std::string& path);

}  // namespace unisono
