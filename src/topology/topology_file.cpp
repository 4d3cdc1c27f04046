#include "topology/topology_file.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>
#include <vector>

namespace unisono {

namespace {

constexpr std::string_view kValid =
    "valid are lines like SwitchName=leaf1 Nodes=node[01-16] and NodeName=node01 Ranks=0-3";
/// A list may be longer than any machine by mistake only.
constexpr int kMostNames = 1 << 22;

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

std::string_view without_domain(std::string_view host) { return host.substr(0, host.find('.')); }

/// A number of at most 9 digits, or nothing.
std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = code == std::errc{} && end == text.data() + text.size();
  if (!whole || text.size() > 9 || text.front() == '-') return std::nullopt;
  return value;
}

struct Range {
  int first = 0, last = 0;
  std::size_t digits = 0;  ///< with leading zeros
};

std::optional<Range> range(std::string_view text) {
  const std::size_t dash = text.find('-');
  const std::string_view from = text.substr(0, dash);
  const auto first = number(from);
  const auto last = dash == std::string_view::npos ? first : number(text.substr(dash + 1));
  if (!first || !last || *last < *first || *last - *first > kMostNames) return std::nullopt;
  return Range{*first, *last, from.size()};
}

std::string padded(int value, std::size_t digits) {
  const std::string text = std::to_string(value);
  return std::string(digits - std::min(digits, text.size()), '0') + text;
}

/// Calls use(item) for what stands between the commas outside of brackets; false: an item is wrong.
template <class Use>
bool by_commas(std::string_view list, Use use) {
  std::size_t begin = 0;
  bool inside = false;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size() && list[i] == '[') inside = true;
    if (i < list.size() && list[i] == ']') inside = false;
    if (i < list.size() && (list[i] != ',' || inside)) continue;
    if (i == begin || !use(list.substr(begin, i - begin))) return false;
    begin = i + 1;
  }
  return true;
}

/// "a[01-03,7],b" in full, or nothing.
std::optional<std::vector<std::string>> names_in(std::string_view list) {
  std::vector<std::string> names;
  const auto expand = [&](std::string_view item) {
    const std::size_t open = item.find('[');
    if (open == std::string_view::npos) {
      names.emplace_back(item);
      return item.find(']') == std::string_view::npos;
    }
    const std::size_t close = item.find(']', open);
    if (close == std::string_view::npos || item.find('[', close) != std::string_view::npos)
      return false;
    const std::string before(item.substr(0, open)), behind(item.substr(close + 1));
    return by_commas(item.substr(open + 1, close - open - 1), [&](std::string_view text) {
      const auto numbers = range(text);
      if (!numbers || static_cast<int>(names.size()) > kMostNames) return false;
      for (int i = numbers->first; i <= numbers->last; ++i) {
        std::string name = before;
        name += padded(i, numbers->digits);
        names.push_back(name + behind);
      }
      return true;
    });
  };
  if (!by_commas(list, expand)) return std::nullopt;
  return names;
}

std::vector<std::string_view> words(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r";
  std::vector<std::string_view> result;
  line = line.substr(0, line.find('#'));
  while (true) {
    const std::size_t begin = line.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return result;
    line.remove_prefix(begin);
    const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
    result.push_back(word);
    line.remove_prefix(word.size());
  }
}

}  // namespace

class TopologyReader {
 public:
  /// What is wrong with the line, or nothing.
  std::optional<std::string> read(std::string_view line) {
    std::map<std::string, std::string_view> items;
    for (const std::string_view word : words(line)) {
      const std::size_t equals = word.find('=');
      if (equals == std::string_view::npos || equals + 1 == word.size())
        return quoted(word) + " is no KEY=VALUE";
      std::string key(word.substr(0, equals));
      for (char& c : key) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      if (!items.emplace(key, word.substr(equals + 1)).second)
        return quoted(key) + " is given twice";
    }
    if (items.empty()) return std::nullopt;
    for (const auto& [key, value] : items)
      if (key != "switchname" && key != "nodename" && key != "nodes" && key != "switches" &&
          key != "ranks" && key != "linkspeed")
        return "no key " + quoted(key);
    if (items.contains("switchname") && !items.contains("nodename") && !items.contains("ranks"))
      return read_switch(items);
    if (items.contains("nodename") && items.contains("ranks") && items.size() == 2)
      return read_node(items["nodename"], items["ranks"]);
    return "it names neither the nodes of a switch nor the ranks of a node";
  }

  TopologyFile take() { return std::move(file_); }

 private:
  std::optional<std::string> read_switch(const std::map<std::string, std::string_view>& items) {
    const bool of_switches = items.contains("switches");
    if (of_switches == items.contains("nodes")) return "a switch has either Nodes= or Switches=";
    if (of_switches) return std::nullopt;
    const auto nodes = names_in(items.at("nodes"));
    if (!nodes) return "Nodes=" + std::string(items.at("nodes")) + " is no list of names";
    for (const std::string& node : *nodes)
      if (!file_.switch_of_node_.emplace(without_domain(node), switches_).second)
        return quoted(node) + " is under two switches";
    ++switches_;
    return std::nullopt;
  }

  std::optional<std::string> read_node(std::string_view name, std::string_view ranks) {
    const bool good =
        by_commas(ranks, [](std::string_view item) { return range(item).has_value(); });
    if (!good) return "Ranks=" + std::string(ranks) + " is no list of ranks";
    std::optional<std::string> wrong;
    by_commas(ranks, [&](std::string_view item) {
      const Range numbers = *range(item);
      for (int rank = numbers.first; rank <= numbers.last && !wrong; ++rank)
        if (!file_.node_of_rank_.emplace(rank, name).second)
          wrong = "rank " + std::to_string(rank) + " is on two nodes";
      return true;
    });
    return wrong;
  }

  TopologyFile file_;
  int switches_ = 0;
};

Result<TopologyFile> TopologyFile::parse(std::string_view text) {
  TopologyReader reader;
  for (int line = 1; !text.empty(); ++line) {
    const std::size_t end = text.find('\n');
    if (const auto wrong = reader.read(text.substr(0, end)))
      return Error{"line " + std::to_string(line) + ": " + *wrong + "; " + std::string(kValid)};
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  TopologyFile file = reader.take();
  if (!file.names_switches() && !file.places_ranks())
    return Error{"it says nothing of any node; " + std::string(kValid)};
  return file;
}

std::optional<int> TopologyFile::switch_of(std::string_view host) const {
  const auto at = switch_of_node_.find(without_domain(host));
  if (at == switch_of_node_.end()) return std::nullopt;
  return at->second;
}

std::string TopologyFile::node_of(int rank) const {
  const auto at = node_of_rank_.find(rank);
  return at == node_of_rank_.end() ? std::string() : at->second;
}

Result<TopologyLabels> TopologyFile::labels(int size) const {
  TopologyLabels labels;
  std::map<std::string, int> nodes;
  for (int rank = 0; rank < size; ++rank) {
    const std::string node = node_of(rank);
    if (node.empty()) return Error{"it places rank " + std::to_string(rank) + " on no node"};
    labels.at(Level::node)
        .push_back(nodes.try_emplace(node, static_cast<int>(nodes.size())).first->second);
    if (!names_switches()) continue;
    const auto under = switch_of(node);
    if (!under) return Error{"node " + node + " is under no switch"};
    labels.at(Level::network_switch).push_back(*under);
  }
  return labels;
}

}  // namespace unisono
