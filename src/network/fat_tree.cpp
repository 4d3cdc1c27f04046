#include "network/fat_tree.h"

#include <functional>
#include <numeric>

namespace unisono {

namespace {

int product(const std::vector<int>& factors) {
  return std::accumulate(factors.begin(), factors.end(), 1, std::multiplies<>());
}

}  // namespace

FatTree::FatTree(std::vector<int> down, std::vector<int> up, const NetworkSpeeds& speeds)
    : Network(product(down), speeds.flops), down_(std::move(down)), up_(std::move(up)) {
  vertices_ = 0;
  for (std::size_t level = 0; level <= down_.size(); ++level) {
    first_vertex_.push_back(vertices_);
    int nodes = 1;
    for (std::size_t digit = 0; digit < down_.size(); ++digit) nodes *= radix(digit, level);
    vertices_ += nodes;
  }
  for (std::size_t level = 0; level < down_.size(); ++level) {
    first_link_.push_back(static_cast<int>(links_.size()));
    for (int child = 0; child < first_vertex_[level + 1] - first_vertex_[level]; ++child)
      for (int choice = 0; choice < up_[level]; ++choice) {
        auto above = label(child, level);
        above[level] = choice;
        const int low = first_vertex_[level] + child;
        const int high = first_vertex_[level + 1] + node(above, level + 1);
        links_.push_back({low, high, speeds.bandwidth, speeds.latency});
        links_.push_back({high, low, speeds.bandwidth, speeds.latency});
      }
  }
}

int FatTree::node(const std::vector<int>& label, std::size_t level) const {
  int number = 0;
  for (std::size_t digit = label.size(); digit-- > 0;)
    number = number * radix(digit, level) + label[digit];
  return number;
}

std::vector<int> FatTree::label(int node, std::size_t level) const {
  std::vector<int> digits;
  for (std::size_t digit = 0; digit < down_.size(); ++digit) {
    digits.push_back(node % radix(digit, level));
    node /= radix(digit, level);
  }
  return digits;
}

void FatTree::route(int from, int to, std::uint8_t /*way*/, std::vector<int>& links) const {
  auto at = label(from, 0);
  const auto end = label(to, 0);
  std::size_t top = down_.size();
  while (top > 1 && at[top - 1] == end[top - 1]) --top;  // the lowest level above both
  int choices = to;
  for (std::size_t level = 0; level < top; ++level) {
    const int choice = choices % up_[level];
    choices /= up_[level];
    links.push_back(link(level, node(at, level), choice, false));
    at[level] = choice;
  }
  for (std::size_t level = top; level-- > 0;) {
    const int choice = std::exchange(at[level], end[level]);
    links.push_back(link(level, node(at, level), choice, true));
  }
}

std::string FatTree::text_of_link(int link) const {
  std::size_t level = 0;
  while (level + 1 < down_.size() && link >= first_link_[level + 1]) ++level;
  const auto name = [this](int vertex) {
    if (vertex < hosts_) return "host " + std::to_string(vertex);
    std::size_t level = 1;
    while (level < down_.size() && vertex >= first_vertex_[level + 1]) ++level;
    return "switch " + std::to_string(vertex - first_vertex_[level]) + " of level " +
           std::to_string(level);
  };
  const NetworkLink& ends = links_[static_cast<std::size_t>(link)];
  return name(ends.from) + " to " + name(ends.to);
}

Star::Star(int hosts, const NetworkSpeeds& speeds) : Network(hosts, speeds.flops) {
  vertices_ = hosts + 1;
  for (int host = 0; host < hosts; ++host) {
    links_.push_back({host, hosts, speeds.bandwidth, speeds.latency});
    links_.push_back({hosts, host, speeds.bandwidth, speeds.latency});
  }
}

void Star::route(int from, int to, std::uint8_t /*way*/, std::vector<int>& links) const {
  links.push_back(2 * from);
  links.push_back(2 * to + 1);
}

std::string Star::text_of_link(int link) const {
  return (link % 2 == 0 ? "out of host " : "into host ") + std::to_string(link / 2);
}

}  // namespace unisono
