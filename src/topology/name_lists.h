// Lists as in Slurm's configuration: "tux[008-010,12],login", "0-3,8".
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace unisono {

/// A list may be longer than any machine by mistake only.
inline constexpr int kMostNames = 1 << 22;

std::string in_quotes(std::string_view text);

/// "node7" of "node7.example.org".
std::string_view without_domain(std::string_view host);

/// A number of at most 9 digits, or nothing.
std::optional<int> plain_number(std::string_view text);

struct NumberRange {
  int first = 0, last = 0;
  std::size_t digits = 0;  ///< with leading zeros
};
/// "008-010", "12", or nothing.
std::optional<NumberRange> number_range(std::string_view text);

/// What stands between the commas outside of brackets, or nothing: an item is empty.
std::optional<std::vector<std::string_view>> by_commas(std::string_view list);

/// "a[01-03,7],b" in full, or nothing.
std::optional<std::vector<std::string>> names_in(std::string_view list);

}  // namespace unisono
