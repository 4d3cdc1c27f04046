#include "tools/schedule/trees.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "patterns/torus_trees.h"
#include "topology/name_lists.h"
#include "topology/torus_in_file.h"

namespace unisono {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kMostHosts = 1 << 16;
constexpr std::array<std::string_view, 3> kUseNames = {"broadcast", "reduction", "both"};

std::shared_ptr<const Torus> torus_of(const std::string& sizes, const std::string& wrap) {
  const auto wraps = wrap.empty() ? std::optional(std::vector<bool>{}) : parse_wraps(wrap);
  auto torus = wraps ? parse_torus(sizes, *wraps) : std::nullopt;
  if (!torus || torus->hosts() > kMostHosts)
    throw CLI::ValidationError("--torus " + sizes + (wrap.empty() ? "" : " --wrap " + wrap) +
                               ": sizes as in 8x8x16, of at most " + std::to_string(kMostHosts) +
                               " hosts, and yes or no for each dimension, as in yes,no");
  return std::make_shared<const Torus>(std::move(*torus));
}

/// all, 0-30,45 or without:5,17.
std::vector<int> hosts_of(const std::string& text, int hosts) {
  const auto wrong = [&](const std::string& why) {
    return CLI::ValidationError("--members " + text + ": " + why);
  };
  std::string_view list = text;
  const std::string_view kWithout = "without:";
  const bool all = list == "all", without = list.substr(0, kWithout.size()) == kWithout;
  if (without) list.remove_prefix(kWithout.size());
  std::vector<bool> named(static_cast<std::size_t>(hosts));
  const auto parts = all ? std::optional(std::vector<std::string_view>{}) : by_commas(list);
  for (const auto part : parts.value_or(std::vector<std::string_view>{""})) {
    const auto range = part.empty() ? std::nullopt : number_range(part);
    if (!range) throw wrong("all, or numbers of hosts as in 0-30,45 or without:5,17");
    if (range->last >= hosts) throw wrong("the last host is " + std::to_string(hosts - 1));
    for (int host = range->first; host <= range->last; ++host)
      named[static_cast<std::size_t>(host)] = true;
  }
  std::vector<int> members;
  for (int host = 0; host < hosts; ++host)
    if (named[static_cast<std::size_t>(host)] != (all || without)) members.push_back(host);
  if (members.empty()) throw wrong("nobody is left");
  return members;
}

template <std::size_t n>
int place_of(const std::array<std::string_view, n>& names, const std::string& name,
             std::string_view option) {
  std::string valid;
  for (std::size_t i = 0; i < n; ++i) {
    if (names[i] == name) return static_cast<int>(i);
    valid += (i == 0 ? " " : ", ") + std::string(names[i]);
  }
  throw CLI::ValidationError("--" + std::string(option) + " " + name + ": valid are" + valid);
}

/// By member, the hosts that the message between it and its parent passes, both ends included.
Json routes(const TorusMembers& members, const TorusTree& tree) {
  Json all = Json::array();
  for (int member = 0; member < members.size(); ++member) {
    Json passed = Json::array();
    for_links(members, tree, member, [&](LinkId link) {
      if (passed.empty()) passed.push_back(members.torus().from(link));
      passed.push_back(members.torus().to(link));
    });
    all.push_back(std::move(passed));
  }
  return all;
}

Json forest(const TorusMembers& members, const TorusTrees& trees) {
  Json all = Json::array();
  for (const auto* some : {&trees.out, &trees.in})
    for (const TorusTree& tree : *some) {
      Json parents = Json::array();
      for (const int parent : tree.parent)
        parents.push_back(parent < 0 ? -1 : members.host(parent));
      all.push_back({{"flow", tree.flow == Flow::out ? "out" : "in"},
                     {"depth", use_of(members, std::span(&tree, 1)).depth},
                     {"parents", std::move(parents)},
                     {"routes", routes(members, tree)}});
    }
  return all;
}

std::string plural(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace

TreesCommand::TreesCommand(CLI::App& app)
    : command_(app.add_subcommand("trees", "spanning trees over hosts of a torus")) {
  command_->add_option("--torus", torus_, "sizes, as in 8x8x16")->required();
  command_->add_option("--wrap", wrap_, "whether dimensions are rings: yes,no,... (all are)");
  command_->add_option("--members", hosts_, "all, 0-30,45 or without:5,17 (all)");
  command_->add_option("--root", root_, "a member (the first)")->check(CLI::NonNegativeNumber);
  command_->add_option("--trees", trees_, "auto, 2k, box, raster, snake or greedy (auto)");
  command_->add_option("--for", use_, "broadcast, reduction or both (broadcast)");
  command_->add_option("--routing", routing_, "minimal, directed, source or adaptive (minimal)");
  command_->add_flag("--json", json_, "as JSON");
}

std::string TreesCommand::run() const {
  if (!*command_) return "";
  const auto torus = torus_of(torus_, wrap_);
  const TorusMembers members(torus, hosts_of(hosts_, torus->hosts()));
  const int root = root_ < 0 ? members.host(0) : root_;
  if (root >= torus->hosts() || members.member(root) < 0)
    throw CLI::ValidationError("--root " + std::to_string(root) + " is no member");
  const auto kind = static_cast<TreeKind>(place_of(kTreeKindNames, trees_, "trees"));
  const auto use = static_cast<TreesFor>(place_of(kUseNames, use_, "for"));
  const auto routing = static_cast<Routing>(place_of(kRoutingNames, routing_, "routing"));
  const auto made = make_trees(kind, members, members.member(root), use, routing);
  if (!made)
    throw CLI::ValidationError("--trees " + trees_ + ": there are none for these members with " +
                               routing_ + " routing");
  const LinkUse load = use_of(members, made->all());
  const std::string summary =
      plural(made->out.size() + made->in.size(), "tree") + " over " +
      plural(static_cast<std::size_t>(members.size()), "host") + " of a torus of " + torus_ +
      ", root " + torus->text(root) + ", " + routing_ + " routing: depth " +
      std::to_string(load.depth) + ", " + plural(static_cast<std::size_t>(load.used), "link") +
      ", at most " + plural(static_cast<std::size_t>(load.most), "message") + " on each" +
      (load.most > 1 ? ", most on " + torus->text_of_link(load.busiest) : "") + "\n";
  if (!json_) return summary;
  Json sizes = Json::array(), wraps = Json::array();
  for (int d = 0; d < torus->dimensions(); ++d) {
    sizes.push_back(torus->size(d));
    wraps.push_back(torus->wraps(d));
  }
  return Json{{"summary", summary.substr(0, summary.size() - 1)},
              {"torus", sizes},
              {"wraps", wraps},
              {"root", root},
              {"members", std::vector<int>(members.hosts().begin(), members.hosts().end())},
              {"links", {{"used", load.used}, {"most", load.most}}},
              {"trees", forest(members, *made)}}
             .dump() +
         "\n";
}

}  // namespace unisono
