#include "topology/torus_in_file.h"

#include <algorithm>

#include "base/printable.h"
#include "topology/name_lists.h"

namespace unisono {

namespace {

constexpr int kMostHosts = 1 << 22;

/// The value of a digit in base 36, as Slurm writes coordinates; -1: none.
int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'z') return c - 'a' + 10;
  return c >= 'A' && c <= 'Z' ? c - 'A' + 10 : -1;
}

}  // namespace

std::optional<std::vector<bool>> parse_wraps(std::string_view text) {
  const auto items = by_commas(text);
  std::vector<bool> wraps;
  if (!items) return std::nullopt;
  for (const std::string_view item : *items) {
    if (item != "yes" && item != "no") return std::nullopt;
    wraps.push_back(item == "yes");
  }
  return wraps;
}

std::optional<Routing> routing_named(std::string_view name) {
  const auto* at = std::find(kRoutingNames.begin(), kRoutingNames.end(), name);
  if (at == kRoutingNames.end()) return std::nullopt;
  return static_cast<Routing>(at - kRoutingNames.begin());
}

std::optional<Torus> parse_torus(std::string_view sizes, std::vector<bool> wraps) {
  std::vector<int> numbers;
  std::int64_t hosts = 1;
  while (true) {
    const std::size_t x = sizes.find('x');
    const auto size = sizes.empty() ? std::nullopt : plain_number(sizes.substr(0, x));
    if (!size || *size < 1 || (hosts *= *size) > kMostHosts) return std::nullopt;
    numbers.push_back(*size);
    if (x == std::string_view::npos) break;
    sizes.remove_prefix(x + 1);
  }
  if (!wraps.empty() && wraps.size() != numbers.size()) return std::nullopt;
  return Torus(std::move(numbers), std::move(wraps));
}

std::optional<std::string> TorusLines::read_torus(const TopologyItems& items) {
  if (known() || as_cart_) return "there is a torus already";
  const std::string_view sizes = items.at("torus");
  std::vector<bool> wraps;
  for (const auto& [key, value] : items) {
    if (key == "wrap") {
      const auto read = parse_wraps(value);
      if (!read) return "Wrap=" + std::string(value) + " is no list of yes and no";
      wraps = *read;
    } else if (key == "routing") {
      const auto routing = routing_named(value);
      if (!routing)
        return "Routing=" + std::string(value) + ": valid are minimal, directed, source, adaptive";
      routing_ = *routing;
    } else if (key != "torus") {
      return "with Torus= go Wrap= and Routing= only";
    }
  }
  if (sizes == "cart") {
    as_cart_ = true;
    return wraps.empty() ? std::nullopt : std::optional("with Torus=cart MPI says what wraps");
  }
  auto torus = parse_torus(sizes, std::move(wraps));
  if (!torus || torus->hosts() < 2)
    return "Torus=" + std::string(sizes) +
           " is no list of sizes like 8x8x16, or Wrap= has not as many entries";
  torus_ = std::make_shared<const Torus>(std::move(*torus));
  return std::nullopt;
}

std::optional<int> TorusLines::host_at(std::span<const int> coordinates) const {
  if (std::ssize(coordinates) != torus_->dimensions()) return std::nullopt;
  for (int d = 0; d < torus_->dimensions(); ++d) {
    const int c = coordinates[static_cast<std::size_t>(d)];
    if (c < 0 || c >= torus_->size(d)) return std::nullopt;
  }
  return torus_->host(coordinates);
}

std::optional<int> TorusLines::host_by_suffix(std::string_view node) const {
  const auto digits = static_cast<std::size_t>(torus_->dimensions());
  node = without_domain(node);
  if (node.size() < digits) return std::nullopt;
  std::vector<int> coordinates;
  for (const char c : node.substr(node.size() - digits)) coordinates.push_back(digit(c));
  return host_at(coordinates);
}

std::optional<std::string> TorusLines::place(std::string_view node, int host) {
  const std::string name(without_domain(node));
  if (!host_of_node_.emplace(name, host).second) return in_quotes(name) + " is on two hosts";
  if (!node_on_host_.emplace(host, name).second)
    return in_quotes(name) + " and " + in_quotes(node_on_host_.at(host)) + " are both at " +
           torus_->text(host);
  return std::nullopt;
}

std::optional<std::string> TorusLines::read_nodes(const TopologyItems& items,
                                                  std::ptrdiff_t& left) {
  const auto nodes = names_in(items.at("nodename"), left);
  if (!nodes) return no_names("NodeName", items.at("nodename"), left);
  const auto given = items.find("coordinates");
  const bool by_suffix = given != items.end() && given->second == "suffix";
  std::vector<int> coordinates;
  if (given != items.end() && !by_suffix) {
    const auto list = by_commas(given->second);
    for (const std::string_view item : list.value_or(std::vector<std::string_view>{}))
      coordinates.push_back(plain_number(item).value_or(-1));
    if (!host_at(coordinates) || nodes->size() != 1)
      return "Coordinates=" + std::string(given->second) +
             " are not those of one node on the torus, nor 'suffix'";
  }
  for (const std::string& node : *nodes) {
    std::optional<int> host = next_;
    if (by_suffix)
      host = host_by_suffix(node);
    else if (given != items.end())
      host = host_at(coordinates);
    else
      ++next_;
    if (!host) return in_quotes(node) + " does not end with coordinates on the torus";
    if (*host >= torus_->hosts())
      return in_quotes(node) + " is one node more than the torus has hosts";
    if (const auto wrong = place(node, *host)) return wrong;
  }
  return std::nullopt;
}

std::optional<int> TorusLines::host_of(std::string_view node) const {
  const auto at = host_of_node_.find(without_domain(node));
  if (at == host_of_node_.end()) return std::nullopt;
  return at->second;
}

}  // namespace unisono
