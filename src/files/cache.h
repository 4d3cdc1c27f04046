// Small files that one user's jobs keep for each other: $XDG_CACHE_HOME/unisono, or
// ~/.cache/unisono. What lies there may be anybody's: nothing but a plain file of the user's own,
// of bounded size, is read, and nothing is removed whose name is not one of names.h. A folder that
// is a link, or that others may write, is not used at all.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"

namespace unisono::cache {

inline constexpr std::size_t kMostBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMostFiles =
    64;  ///< that Unisono wrote: the oldest go where there are more

/// Empty: there is no home.
std::string folder();

/// `name` is one of names.h. Empty where there is no such file yet; the error says why what is
/// there is not to be read. Never waits for anything, such as the writer of a pipe.
Result<std::string> read(const std::string& name);

/// Replaces the file by renew(its text, empty where it cannot be read), as a whole: whoever reads
/// it meanwhile has the old one or the new one. Jobs that do so at once wait for each other, but
/// for some 200 ms at most; an empty text takes the file away. The error, or nothing.
std::optional<std::string> update(const std::string& name,
                                  const std::function<std::string(const std::string&)>& renew);

}  // namespace unisono::cache
