#include "runtime/words.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/size.h"
#include "node/domains.h"

namespace unisono {

namespace {

std::string shape_text(int ranks, int nodes) {
  return std::to_string(ranks) + " ranks on " + std::to_string(nodes) +
         (nodes == 1 ? " node" : " nodes");
}

}  // namespace

std::string shapes_text(const std::vector<ProfileCell>& cells) {
  std::set<std::pair<int, int>> shapes;
  for (const ProfileCell& cell : cells) shapes.emplace(cell.ranks, cell.nodes);
  std::string text;
  for (const auto& [ranks, nodes] : shapes)
    text += (text.empty() ? ", for " : ", ") + shape_text(ranks, nodes);
  return text;
}

std::string lacking_text(const std::vector<ProfileCell>& cells, int ranks, int nodes) {
  if (std::any_of(cells.begin(), cells.end(), [&](const ProfileCell& cell) {
        return cell.ranks == ranks && cell.nodes == nodes;
      }))
    return "";
  return "it has nothing for " + shape_text(ranks, nodes) +
         (cells.empty() ? "" : ", only" + shapes_text(cells).substr(1)) +
         "; MPI_COMM_WORLD goes on as without a profile; unisono tune -n " + std::to_string(ranks) +
         " makes one for it";
}

std::string domains_text(const std::vector<int>& domains) {
  std::map<int, int> ranks;
  for (const int domain : domains) ++ranks[domain];
  const auto several = ranks.extract(node::kNoDomain);
  std::string text;
  for (const auto& [domain, count] : ranks)
    text += (text.empty() ? "" : " + ") + std::to_string(count);
  if (several) text += ", and " + std::to_string(several.mapped()) + " that may run in several";
  return "ranks of this node by cache or memory: " + text;
}

std::string bytes_text(Count bytes) { return format_size(bytes) + "B"; }

}  // namespace unisono
