// Text that came from elsewhere, such as a file, on its way into a line for the user.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace unisono {

/// Of what is said about a file, with what stands before it.
inline constexpr std::size_t kLongestLine = 300;

/// The text as it may stand in one line of a terminal. Control characters, those that turn the
/// direction of writing, and bytes that are no UTF-8 become \x1b, \u009b, ...; what is longer than
/// `most` bytes loses its middle.
std::string printable(std::string_view text, std::size_t most);

/// In quotes, and no longer than a name that one can recognise.
std::string in_quotes(std::string_view text);

/// "subject: wrong; so", printable, with the line's beginning ("unisono: ") in kLongestLine bytes.
/// Without `so` and what is before it where that is empty.
std::string line_about(std::string_view subject, std::string_view wrong, std::string_view so = "");

}  // namespace unisono
