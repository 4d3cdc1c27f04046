#include "tools/schedule/decide.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "base/config.h"
#include "base/printable.h"
#include "base/size.h"
#include "files/file.h"
#include "select/online/key.h"
#include "select/online/settings.h"
#include "select/profile.h"
#include "topology/topology_file.h"

namespace unisono {

namespace {

using Json = nlohmann::ordered_json;

/// What may decide. Which goes before which, only the Selector knows: it is asked, what has decided
/// is taken away, and it is asked again.
enum Source : std::uint8_t { kForcedBy, kFixed, kProfile, kMemory, kOnlineBy, kSafely, kSources };

constexpr std::array<std::string_view, kSources> kNames = {"forced",     "reproducible", "profile",
                                                           "remembered", "online",       "safe"};

struct Question {
  Facts facts;
  Platform here;
  std::string remembered;  ///< a spec
  std::string mode;
};

struct Setup {
  Selector selector;
  std::array<bool, kSources> has{};
  std::vector<std::string> complaints;
};

void force(const Question& question, Setup& setup) {
  const std::string name = variable_of_collective(unisono::name(question.facts.collective));
  const auto spec = setup.selector.force(question.facts.collective, variable(name));
  setup.has[kForcedBy] = !spec || !spec->is_default;
  if (spec) return;
  setup.complaints.push_back(setting(name) + ": " + spec.error() + "; the MPI library's own runs");
  static_cast<void>(setup.selector.force(question.facts.collective, "native"));
}

void use_profile(const Question& question, Setup& setup) {
  const std::string path = variable("UNISONO_PROFILE");
  if (path.empty()) return;
  const auto text = read_file(path);
  const auto profile = text ? read_profile(*text) : Error{text.error()};
  auto cells = profile ? cells_for(*profile, question.here) : Error{profile.error()};
  if (!cells) {
    setup.complaints.push_back(line_about("UNISONO_PROFILE=" + path, cells.error()));
    return;
  }
  setup.has[kProfile] = true;
  setup.selector.use(std::move(*cells), "profile");
}

void use_memory(const Question& question, Setup& setup) {
  const auto spec = parse_spec(question.facts.collective, question.remembered);
  if (question.remembered.empty() || !spec) return;
  const auto [least, most] = bytes_of_class(size_class(question.facts.bytes));
  setup.selector.use(
      {{question.facts.collective, question.facts.size, question.facts.nodes, least, most, *spec}},
      "remembered", true);
  setup.has[kMemory] = true;
}

void leave_online(Setup& setup) {
  auto settings = parse_online(variable("UNISONO_ONLINE"));
  if (!settings) {
    setup.complaints.push_back(setting("UNISONO_ONLINE") + ": " + settings.error() +
                               "; nothing is selected online");
    return;
  }
  setup.has[kOnlineBy] =
      setup.selector.leave_online(left_online_by(*settings, is_of_two_ways(*settings)));
}

/// As use_network() has it: of networks that are faster than any Ethernet nothing is known.
void lead_safely(const Question& question, Setup& setup) {
  const auto settings = parse_online(variable("UNISONO_ONLINE"));
  if (question.here.place == Place::elsewhere || (settings && is_star(*settings))) return;
  setup.selector.lead_safely();
  setup.has[kSafely] = true;
}

/// With all sources but those that are taken away; in the order of Engine::read_environment().
Setup set_up(const Question& question, const std::array<bool, kSources>& away) {
  Setup setup{Selector(question.here.flavour, question.here.place), {}, {}};
  if (!away[kForcedBy]) force(question, setup);
  if (!away[kFixed] && is_reducing(question.facts.collective)) {
    const auto what = parse_reproducible(variable("UNISONO_REPRODUCIBLE"));
    if (!what) setup.complaints.push_back(setting("UNISONO_REPRODUCIBLE") + ": " + what.error());
    setup.selector.reproduce(what ? *what : Reproducible::runs);
    setup.has[kFixed] = true;
  }
  if (!away[kProfile]) use_profile(question, setup);
  if (!away[kMemory] && question.mode == "fixed") use_memory(question, setup);
  if (!away[kOnlineBy] && question.mode != "fixed") leave_online(setup);
  if (!away[kSafely]) lead_safely(question, setup);
  return setup;
}

std::optional<Source> source_of(const Setup& setup, const Facts& facts, const Choice& choice) {
  if (setup.selector.is_online(facts)) return kOnlineBy;
  for (const Source source : {kFixed, kProfile, kMemory, kSafely})
    if (setup.has[source] && choice.why == kNames[source]) return source;
  if (setup.has[kForcedBy] &&
      (choice.is_forced || choice.why == kNames[kForcedBy] || choice.unmet != nullptr))
    return kForcedBy;
  return std::nullopt;
}

Json rule(std::string_view name, const Choice& choice) {
  return {{"rule", name},
          {"algorithm", text(Spec{choice.algorithm, false, choice.params})},
          {"why", choice.why},
          {"unmet", choice.unmet != nullptr ? Json(choice.unmet->name) : Json()}};
}

Json decide(const Question& question) {
  Json rules = Json::array();
  std::vector<std::string> complaints;
  std::array<bool, kSources> away{};
  if (question.mode == "off") {
    rules.push_back({{"rule", "off"}, {"algorithm", "native"}, {"why", "UNISONO=off"}});
  }
  for (bool first = true;; first = false) {
    const Setup setup = set_up(question, away);
    if (first) complaints = setup.complaints;
    const Choice choice = setup.selector.choose(question.facts);
    const auto source = source_of(setup, question.facts, choice);
    if (!source) {
      rules.push_back(rule(choice.algorithm != nullptr ? "defaults" : "native", choice));
      break;
    }
    rules.push_back(rule(kNames[*source], choice));
    away[*source] = true;
  }
  return {{"mode", question.mode}, {"rules", rules}, {"complaints", complaints}};
}

/// By UNISONO_TOPOLOGY; without it the ranks are on the nodes in blocks, null where each has its
/// own or all are on one.
std::unique_ptr<const Topology> topology_of(int ranks, int nodes) {
  const std::string path = variable("UNISONO_TOPOLOGY");
  if (path.empty()) {
    if (nodes == 1 || nodes >= ranks) return nullptr;
    TopologyLabels blocks;
    for (int rank = 0; rank < ranks; ++rank)
      blocks.at(Level::node).push_back(static_cast<int>(std::int64_t{rank} * nodes / ranks));
    return std::make_unique<Topology>(ranks, blocks);
  }
  const auto text = read_file(path);
  const auto file = text ? TopologyFile::parse(*text) : Error{text.error()};
  const auto labels = file ? file->labels(ranks) : Error{file.error()};
  if (!labels) throw CLI::ValidationError(line_about("UNISONO_TOPOLOGY=" + path, labels.error()));
  return std::make_unique<Topology>(ranks, *labels);
}

}  // namespace

DecideCommand::DecideCommand(CLI::App& app)
    : command_(app.add_subcommand("decide", "what would run a call, by the environment; as JSON")) {
  command_->add_option("--collective", collective_, "bcast, allreduce, ...")->required();
  command_->add_option("--bytes", bytes_, "as a profile counts them (0)");
  command_->add_option("--ranks", ranks_, "how many (2)")->check(CLI::Range(1, 100000));
  command_->add_option("--nodes", nodes_, "that they are on (1)")->check(CLI::Range(1, 100000));
  command_->add_option("--flavour", flavour_, "mpich, openmpi, ...")->required();
  command_->add_option("--library", library_, "what the MPI library calls itself");
  command_->add_option("--place", place_, "undersubscribed, oversubscribed, ethernet, elsewhere");
  command_->add_option("--cores", cores_, "of a node (1)");
  command_->add_option("--network-rate", rate_, "bit/s (0: not known)");
  command_->add_option("--remembered", remembered_, "the choice of earlier jobs");
}

std::string DecideCommand::run() const {
  if (!*command_) return "";
  Question question;
  const auto collective = collective_named(collective_);
  const auto bytes = parse_size(bytes_);
  if (!collective) throw CLI::ValidationError("no collective '" + collective_ + "'");
  if (!bytes) throw CLI::ValidationError("--bytes " + bytes_ + " is no size");
  const auto* place = std::find(std::begin(kPlaceNames), std::end(kPlaceNames), place_);
  if (place == std::end(kPlaceNames)) throw CLI::ValidationError("no place '" + place_ + "'");
  question.facts.collective = *collective;
  question.facts.size = ranks_;
  question.facts.nodes = nodes_;
  question.facts.bytes = *bytes;
  question.facts.shared = question.facts.messages = nodes_ == 1;
  question.facts.kernels_in_nodes = nodes_ > 1 && ranks_ > nodes_;
  const auto topology = topology_of(ranks_, nodes_);
  question.facts.topology = topology.get();
  question.facts.order_matters = is_reducing(*collective) && ranks_ > 2;  // as in sums of doubles
  question.here = {flavour_, library_, static_cast<Place>(place - std::begin(kPlaceNames)),
                   rate_,    cores_,   0};
  question.remembered = remembered_;
  question.mode = is_switched_off() ? "off" : variable("UNISONO");
  return decide(question).dump(1) + "\n";
}

}  // namespace unisono
