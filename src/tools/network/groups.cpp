#include "network/groups.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <numeric>
#include <random>
#include <regex>
#include <sstream>

#include "algorithms/torus.h"
#include "base/size.h"
#include "files/file.h"
#include "files/json.h"
#include "model/price.h"
#include "network/flows.h"
#include "tools/network/call.h"

namespace unisono {

namespace {

[[noreturn]] void wrong(const std::string& groups, const std::string& why) {
  throw CLI::ValidationError(line_about("--groups " + groups, why));
}

/// All hosts dealt to so many groups, the same on every machine.
std::vector<TorusGroup> dealt(const std::string& text, int hosts, int groups, unsigned seed) {
  if (groups < 1 || groups > hosts) wrong(text, "there are " + std::to_string(hosts) + " hosts");
  std::vector<int> order(static_cast<std::size_t>(hosts));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(seed);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  std::vector<TorusGroup> found(static_cast<std::size_t>(groups));
  for (std::size_t i = 0; i < order.size(); ++i) found[i % found.size()].hosts.push_back(order[i]);
  return found;
}

/// A group a line.
std::vector<TorusGroup> listed(const std::string& path, int hosts) {
  const auto text = read_file(path);
  if (!text) wrong(path, text.error() + "; write random:N, random:N:seed=S, or a file");
  std::vector<bool> is_in(static_cast<std::size_t>(hosts));
  std::vector<TorusGroup> found;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    TorusGroup group;
    for (std::string word; words >> word;) {
      int host = -1;
      if (!CLI::detail::lexical_cast(word, host) || host < 0 || host >= hosts)
        wrong(path, in_quotes(word) + " is none of the hosts 0 to " + std::to_string(hosts - 1));
      if (is_in[static_cast<std::size_t>(host)])
        wrong(path, "host " + word + " stands there twice");
      is_in[static_cast<std::size_t>(host)] = true;
      group.hosts.push_back(host);
    }
    if (!group.hosts.empty()) found.push_back(std::move(group));
  }
  if (found.empty()) wrong(path, "it names no host");
  return found;
}

/// The first host of each is its root.
std::vector<TorusGroup> groups_of(const std::string& text, int hosts) {
  std::smatch found;
  auto groups =
      std::regex_match(text, found, std::regex("random:([0-9]{1,6})(:seed=([0-9]{1,9}))?"))
          ? dealt(text, hosts, std::stoi(found[1]),
                  found[3].matched ? static_cast<unsigned>(std::stoul(found[3])) : 0)
          : listed(text, hosts);
  for (TorusGroup& group : groups) group.root = group.hosts[0];
  return groups;
}

struct Programs {
  std::vector<Program> of_ranks;
  Json told = Json::object();
  std::optional<std::string> left_out;
};

Programs left_out(std::string why) {
  Programs none;
  none.left_out = std::move(why);
  return none;
}

std::vector<Program> must(Result<std::vector<Program>> programs, const Call& call) {
  if (!programs) throw CLI::ValidationError(call.algorithm + ": " + programs.error());
  return std::move(*programs);
}

Problem problem_in(const Call& call, Collective collective, int ranks, const Params& params,
                   const Topology* topology = nullptr) {
  return problem_of({.collective = collective, .ranks = ranks, .bytes = call.bytes}, params,
                    topology);
}

/// Of "cooperate" or "cooperate:segment=16K".
Count segment_in(const std::string& algorithm) {
  constexpr std::string_view kName = "cooperate", kWanted = "cooperate:segment=";
  const auto segment = parse_size(
      algorithm == kName ? "16K" : algorithm.substr(std::min(algorithm.size(), kWanted.size())));
  if ((algorithm != kName && !algorithm.starts_with(kWanted)) || !segment || *segment <= 0)
    throw CLI::ValidationError("--algorithm " + algorithm +
                               ": write cooperate or cooperate:segment=16K");
  return *segment;
}

Programs together(const Placed& where, const Call& call, std::span<const TorusGroup> groups) {
  const Collective collective = collective_of(call);
  if (collective != Collective::bcast && collective != Collective::reduce &&
      collective != Collective::allreduce)
    throw CLI::ValidationError("--collective " + call.collective +
                               ": groups cooperate in bcast, reduce and allreduce");
  Params params;
  params.segment = segment_in(call.algorithm);
  const TreesFor use = collective == Collective::allreduce ? TreesFor::both : TreesFor::broadcast;
  const auto made = cooperating_trees(where.torus()->shared_torus(), groups, use);
  if (!made) return left_out("there are no trees from these roots");
  if (const char* why = unmet_cooperation(*made)) return left_out(why);
  const Problem problem = problem_in(call, collective, where.network->hosts(), params);
  const Json told{{"trees_of_each", made->trees_of_each},
                  {"sharing", made->sharing},
                  {"depth", made->depth},
                  {"rate", made->rate()}};
  return {must(programs_together(*made, problem, groups, 2), call), told, {}};
}

Programs apart(const Placed& where, const Call& call, std::span<const TorusGroup> groups) {
  const Collective collective = collective_of(call);
  const Spec spec = spec_of(call, collective);
  std::vector<std::unique_ptr<Topology>> topologies;
  std::vector<Problem> problems;
  std::vector<TorusMembers> members;
  std::vector<TorusTrees> trees;
  for (const TorusGroup& group : groups) {
    const int ranks = static_cast<int>(group.hosts.size());
    topologies.push_back(std::make_unique<Topology>(ranks, labels_of(where, group.hosts)));
    problems.push_back(problem_in(call, collective, ranks, spec.params, topologies.back().get()));
    if (auto why = obstacle(problems.back(), spec, call.bytes)) return left_out(*why);
    name_routes(where, *spec.algorithm, problems.back());
    if ((spec.algorithm->restrictions & kTorus) == 0) continue;
    const TorusPlacement& placement = *topologies.back()->torus();
    members.push_back(placement.members());
    trees.push_back(*torus_trees(placement, ArgsOfRanks(problems.back())[0]));
  }
  Json told = Json::object();
  if (!trees.empty()) told["rate"] = rate_apart(members, trees);
  auto programs = programs_apart(*spec.algorithm, problems, groups, where.network->hosts(), 2);
  return {must(std::move(programs), call), told, {}};
}

}  // namespace

std::string groups_line(const Place& place, const Call& call, const std::string& text) {
  const Placed where = placed(place);
  if (where.torus() == nullptr || !place.hosts.empty() || place.root != 0)
    throw CLI::ValidationError("--groups: of all hosts of a torus, without --hosts and --root");
  const auto groups = groups_of(text, where.network->hosts());
  const bool cooperate = call.algorithm == "cooperate" || call.algorithm.starts_with("cooperate:");
  Programs made = (cooperate ? together : apart)(where, call, groups);
  Json line{{"collective", call.collective},
            {"bytes", call.bytes},
            {"algorithm", call.algorithm},
            {"groups", groups.size()}};
  if (made.left_out) {
    line["left_out"] = *made.left_out;
    return line.dump();
  }
  const auto times = simulate_flows(std::move(made.of_ranks), *where.network, where.host_of_rank,
                                    {.eager = call.eager, .element_bytes = 4});
  if (!times) throw CLI::ValidationError(call.algorithm + ": " + times.error());
  line.update(made.told);
  line["seconds"] = times->seconds;
  Json of_groups;
  double bandwidth = 0;
  for (const TorusGroup& group : groups) {
    double seconds = 0;
    for (const int host : group.hosts)
      seconds = std::max(seconds, times->seconds_of_rank[static_cast<std::size_t>(host)]);
    of_groups.push_back(seconds);
    if (seconds > 0) bandwidth += static_cast<double>(call.bytes) / seconds;
  }
  line["seconds_of_group"] = of_groups;
  line["bandwidth"] = bandwidth;
  line["messages"] = times->messages;
  line["sent"] = times->bytes;
  line["slowed"] = times->slowed;
  return line.dump();
}

}  // namespace unisono
