#include "runtime/words.h"

#include <map>
#include <set>
#include <utility>

#include "base/size.h"
#include "node/domains.h"

namespace unisono {

std::string shapes_text(const std::vector<ProfileCell>& cells) {
  std::set<std::pair<int, int>> shapes;
  for (const ProfileCell& cell : cells) shapes.emplace(cell.ranks, cell.nodes);
  std::string text;
  for (const auto& [ranks, nodes] : shapes)
    text += (text.empty() ? ", for " : ", ") + std::to_string(ranks) + " ranks on " +
            std::to_string(nodes) + (nodes == 1 ? " node" : " nodes");
  return text;
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
