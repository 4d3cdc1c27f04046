#include <stdexcept>

#include "algorithms/composition.h"
#include "files/json.h"
#include "schedule/metrics.h"
#include "schedule/printer.h"
#include "schedule/reader.h"
#include "tools/schedule/commands.h"

namespace unisono {

namespace {

// Of all ranks together. That many make 200 MB of text; the ring of 5000 ranks would make 10 GB.
constexpr std::size_t kMostOps = 2'000'000;

[[noreturn]] void refuse(const Show& what) {
  throw std::invalid_argument(std::string(name(what.problem.collective)) + " " + text(what.spec) +
                              " on " + std::to_string(what.problem.size) +
                              " ranks has more than 2 million operations, the most that is shown: "
                              "take fewer ranks, or fewer segments");
}

std::string headline(const Show& what, const Metrics& metrics) {
  const Problem& problem = what.problem;
  std::string line = std::string(name(problem.collective)) + " " + text(what.spec) + ", " +
                     std::to_string(problem.size) + " ranks";
  if (is_rooted(problem.collective)) line += ", root " + std::to_string(problem.root);
  if (semantics(problem.collective).measure != Measure::nothing)
    line += ", " + std::to_string(problem.count) + " units of " +
            std::to_string(problem.unit_bytes) + " B";
  if (problem.params.composition != nullptr && has_calls(*problem.params.composition))
    line += "; textbook algorithms in place of the MPI library's";
  if ((what.spec.algorithm->restrictions & kBindsPeers) != 0)
    line += "; as though all wait when the root comes, in rank order";
  if ((what.spec.algorithm->restrictions & kOneNode) != 0)
    line += "; a model: what goes through shared memory as messages";
  return line + "\n" + std::to_string(metrics.rounds) + " rounds, depth " +
         std::to_string(metrics.depth) + "; per rank at most " + std::to_string(metrics.messages) +
         " messages and " + std::to_string(metrics.sent) + " units sent\n";
}

Json json(const Metrics& metrics) {
  return {{"rounds", metrics.rounds},     {"depth", metrics.depth},
          {"messages", metrics.messages}, {"sent", metrics.sent},
          {"received", metrics.received}, {"reduced", metrics.reduced},
          {"copied", metrics.copied},     {"scratch", metrics.scratch}};
}

std::string show_json(const Show& what, std::span<const Schedule> schedules,
                      const Timeline& timeline, const Metrics& metrics) {
  Json ranks = Json::array();
  for (int r = 0; r < what.problem.size; ++r) {
    if (what.rank >= 0 && r != what.rank) continue;
    const auto i = static_cast<std::size_t>(r);
    Json one = parse_json(write_json({r, what.problem.size, schedules[i]}));
    one["rounds"] = timeline.round[i];
    ranks.push_back(std::move(one));
  }
  return Json{{"collective", name(what.problem.collective)},
              {"algorithm", text(what.spec)},
              {"size", what.problem.size},
              {"root", what.problem.root},
              {"count", what.problem.count},
              {"unit_bytes", what.problem.unit_bytes},
              {"metrics", json(metrics)},
              {"ranks", std::move(ranks)}}
             .dump() +
         "\n";
}

}  // namespace

std::string show(const Show& what) {
  const auto size = static_cast<std::size_t>(what.problem.size);
  if (has_matrix(semantics(what.problem.collective)) && size * size > kMostOps) refuse(what);
  const ArgsOfRanks ranks(what.problem);
  for (const Args& args : ranks.args())
    if (const auto unmet = unmet_restriction(*what.spec.algorithm, args))
      throw std::invalid_argument(std::string(what.spec.algorithm->name) + " " +
                                  std::string(*unmet));
  std::size_t ops = 0;
  for (const Args& args : ranks.args()) {
    ops += build(*what.spec.algorithm, args).ops().size();
    if (ops > kMostOps) refuse(what);
  }
  const auto schedules = build_all(*what.spec.algorithm, ranks.args());
  if (what.format == "dot") return print_dot(schedules);
  const Timeline timeline = one_ported(schedules);
  const Metrics metrics = measure(schedules);
  if (what.format == "json") return show_json(what, schedules, timeline, metrics);

  std::string out = headline(what, metrics);
  for (int r = 0; r < what.problem.size; ++r) {
    if (what.rank >= 0 && r != what.rank) continue;
    const auto i = static_cast<std::size_t>(r);
    out += "\nrank " + std::to_string(r) + "\n" + print_text(schedules[i], timeline.round[i]);
  }
  return out;
}

}  // namespace unisono
