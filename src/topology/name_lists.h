// Lists as in Slurm's configuration: "tux[008-010,12],login", "0-3,8".
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace unisono {

/// A file may list more than any machine has by mistake only.
inline constexpr int kMostRanksListed = 1 << 24;
/// Of all names that a file lists, each with kOfAName more: some 250,000 nodes.
inline constexpr std::ptrdiff_t kMostCharacters = std::ptrdiff_t{6} << 20, kOfAName = 16;

struct HashOfName {
  using is_transparent = void;
  std::size_t operator()(std::string_view name) const {
    return std::hash<std::string_view>()(name);
  }
};
template <class Value>
using ByName = std::unordered_map<std::string, Value, HashOfName, std::equal_to<>>;

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

/// "a[01-03,7],b" in full, or nothing. What it costs is taken from `left`, which is negative where
/// that is why.
std::optional<std::vector<std::string>> names_in(std::string_view list, std::ptrdiff_t& left);

/// What is wrong with such a list that is the value of a key.
std::string no_names(std::string_view key, std::string_view list, std::ptrdiff_t left);

}  // namespace unisono
