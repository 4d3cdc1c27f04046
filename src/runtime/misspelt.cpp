#include "runtime/misspelt.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string_view>
#include <utility>

#include "base/config.h"
#include "schedule/semantics.h"

namespace unisono {

namespace {

constexpr std::string_view kPrefix = "UNISONO";
constexpr std::size_t kNear = 2;  // letters: two of them in the wrong order are two

/// Letters to be added, removed or changed (Levenshtein 1966).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t before = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = before + (a[i - 1] == b[j - 1] ? 0 : 1);
      before = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

/// What is wrong with a name that begins as ours do; empty: nothing that we know of.
std::string problem_of(std::string_view name) {
  const auto is_it = [name](const Variable& known) { return known.name == name; };
  if (std::any_of(std::begin(kVariables), std::end(kVariables), is_it)) return "";
  if (name == "UNISONO_LAB") return "";  // the Python command's
  const auto* nearest =
      std::min_element(std::begin(kVariables), std::end(kVariables),
                       [name](const Variable& one, const Variable& other) {
                         return distance(one.name, name) < distance(other.name, name);
                       });
  if (distance(nearest->name, name) > kNear) return "";
  return "there is no such variable; did you mean " + std::string(nearest->name) + "?";
}

}  // namespace

std::vector<std::string> misspelt_variables() {
  std::vector<std::string> lines;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!text.starts_with(kPrefix)) continue;
    const std::string_view name = text.substr(0, text.find('='));
    if (const std::string problem = problem_of(name); !problem.empty())
      lines.push_back(std::string(name) + ": " + problem);
  }
  return lines;
}

}  // namespace unisono
