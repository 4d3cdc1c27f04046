#include "topology/topology_file.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <iterator>
#include <utility>
#include <vector>

#include "base/printable.h"
#include "topology/name_lists.h"

namespace unisono {

namespace {

constexpr std::string_view kValid =
    "valid are lines like SwitchName=leaf1 Nodes=node[01-16], NodeName=node01 Ranks=0-3 and "
    "Torus=8x8x16";

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

constexpr std::array<std::string_view, 10> kKeys = {
    "switchname", "nodes", "switches", "linkspeed",   "nodename",
    "ranks",      "torus", "wrap",     "coordinates", "routing"};

}  // namespace

class TopologyReader {
 public:
  /// What is wrong with the line, or nothing.
  std::optional<std::string> read(std::string_view line) {
    TopologyItems items;
    for (const std::string_view word : words(line)) {
      const std::size_t equals = word.find('=');
      if (equals == std::string_view::npos || equals + 1 == word.size())
        return in_quotes(word) + " is no KEY=VALUE";
      std::string key(word.substr(0, equals));
      for (char& c : key) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      if (!items.emplace(key, word.substr(equals + 1)).second)
        return in_quotes(key) + " is given twice";
    }
    if (items.empty()) return std::nullopt;
    for (const auto& [key, value] : items)
      if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end())
        return "no key " + in_quotes(key);
    const auto only = [&items](std::initializer_list<const char*> keys) {
      return std::all_of(items.begin(), items.end(), [&keys](const auto& item) {
        return std::find(keys.begin(), keys.end(), item.first) != keys.end();
      });
    };
    if (items.contains("torus")) return file_.torus_.read_torus(items);
    if (items.contains("switchname") && only({"switchname", "nodes", "switches", "linkspeed"}))
      return read_switch(items);
    if (items.contains("nodename") && only({"nodename", "coordinates", "ranks"}))
      return read_nodes(items);
    return "it names neither the nodes of a switch, nor the ranks of a node, nor a torus";
  }

  TopologyFile take() { return std::move(file_); }

 private:
  std::optional<std::string> read_switch(const TopologyItems& items) {
    const bool of_switches = items.contains("switches");
    if (of_switches == items.contains("nodes")) return "a switch has either Nodes= or Switches=";
    if (of_switches) return std::nullopt;
    const auto nodes = names_in(items.at("nodes"), left_);
    if (!nodes) return no_names("Nodes", items.at("nodes"), left_);
    for (const std::string& node : *nodes)
      if (!file_.switch_of_node_.emplace(without_domain(node), switches_).second)
        return in_quotes(node) + " is under two switches";
    ++switches_;
    return std::nullopt;
  }

  /// Where they are on the torus, and which ranks are on them.
  std::optional<std::string> read_nodes(const TopologyItems& items) {
    const bool on_torus = file_.torus_.known();
    if (!on_torus && items.contains("coordinates")) return "Coordinates= before Torus=";
    if (!on_torus && !items.contains("ranks")) return "NodeName= without Ranks=, before Torus=";
    if (on_torus && (items.contains("coordinates") || !items.contains("ranks")))
      if (auto wrong = file_.torus_.read_nodes(items, left_)) return wrong;
    if (items.contains("ranks")) return read_ranks(items.at("nodename"), items.at("ranks"));
    return std::nullopt;
  }

  std::optional<std::string> read_ranks(std::string_view name, std::string_view ranks) {
    const auto list = by_commas(ranks);
    if (!list) return "Ranks=" + std::string(ranks) + " is no list of ranks";
    for (const std::string_view item : *list) {
      const auto numbers = number_range(item);
      if (!numbers) return "Ranks=" + std::string(ranks) + " is no list of ranks";
      if (numbers->last >= kMostRanksListed)
        return "rank " + std::to_string(numbers->last) + " is beyond the " +
               std::to_string(kMostRanksListed) + " ranks that a file may place";
      if (auto wrong = place(*numbers, name)) return wrong;
    }
    return std::nullopt;
  }

  std::optional<std::string> place(const NumberRange& ranks, std::string_view node) {
    auto& all = file_.nodes_of_ranks_;
    const auto next = all.upper_bound(ranks.last);
    if (next != all.begin())
      if (const auto& [first, before] = *std::prev(next); before.last >= ranks.first)
        return "rank " + std::to_string(std::max(first, ranks.first)) + " is on two nodes";
    all.emplace_hint(next, ranks.first, TopologyFile::Ranks{ranks.last, std::string(node)});
    return std::nullopt;
  }

  TopologyFile file_;
  int switches_ = 0;
  std::ptrdiff_t left_ = kMostCharacters;
};

Result<TopologyFile> TopologyFile::parse(std::string_view text) {
  constexpr std::size_t kMostQuoted = 120;
  if (text.size() > kMostBytes)
    return Error{"it has more than the " + std::to_string(kMostBytes) + " bytes that it may have"};
  TopologyReader reader;
  for (int line = 1; !text.empty(); ++line) {
    const std::size_t end = text.find('\n');
    if (const auto wrong = reader.read(text.substr(0, end)))
      return Error{"line " + std::to_string(line) + ": " + printable(*wrong, kMostQuoted) + "; " +
                   std::string(kValid)};
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  TopologyFile file = reader.take();
  if (!file.names_switches() && !file.places_ranks() && !file.torus().known() &&
      !file.torus().as_cart())
    return Error{"it says nothing of any node; " + std::string(kValid)};
  return file;
}

std::optional<int> TopologyFile::switch_of(std::string_view host) const {
  const auto at = switch_of_node_.find(without_domain(host));
  if (at == switch_of_node_.end()) return std::nullopt;
  return at->second;
}

std::string TopologyFile::node_of(int rank) const {
  const auto next = nodes_of_ranks_.upper_bound(rank);
  if (next == nodes_of_ranks_.begin()) return "";
  const Ranks& ranks = std::prev(next)->second;
  return rank <= ranks.last ? ranks.node : "";
}

Result<TopologyLabels> TopologyFile::labels(int size) const {
  TopologyLabels labels;
  std::map<std::string, int> nodes;
  for (int rank = 0; rank < size; ++rank) {
    const std::string node = node_of(rank);
    if (node.empty()) return Error{"it places rank " + std::to_string(rank) + " on no node"};
    labels.at(Level::node)
        .push_back(nodes.try_emplace(node, static_cast<int>(nodes.size())).first->second);
    if (names_switches()) {
      const auto under = switch_of(node);
      if (!under) return Error{"node " + node + " is under no switch"};
      labels.at(Level::network_switch).push_back(*under);
    }
    if (!torus_.known()) continue;
    const auto host = torus_.host_of(node);
    if (!host) return Error{"node " + node + " is nowhere on the torus"};
    labels.torus.of_rank.push_back(*host);
  }
  labels.torus.torus = torus_.torus();
  labels.torus.routing = torus_.routing();
  return labels;
}

}  // namespace unisono
