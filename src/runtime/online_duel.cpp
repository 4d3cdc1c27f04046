// Two ways, the MPI library's own and another: within a node duels with its kernels, between hosts
// checks of a safe arm.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/config.h"
#include "comm/communicator.h"
#include "runtime/memory.h"
#include "runtime/online.h"
#include "runtime/online_job.h"
#include "select/safe_arms.h"

namespace unisono {

namespace {

/// What a measurement is worth, and a text is short.
double rounded(double seconds) {
  char text[16];
  std::snprintf(text, sizeof text, "%.3e", seconds);
  return std::strtod(text, nullptr);
}

}  // namespace

std::unique_ptr<Online::Kind> Online::make_duel(const Facts& facts,
                                                const Choice& by_default) const {
  const bool has_default = by_default.algorithm != nullptr;
  const Spec kernels = has_default ? Spec{by_default.algorithm, false, by_default.params}
                                   : *parse_spec(facts.collective, "shm");
  if ((kernels.algorithm->restrictions & kOneNode) == 0 ||
      unmet_restriction(*kernels.algorithm, conditions(facts), kernels.params))
    return nullptr;
  if (auto shuffled = make_policy(online_job().settings, 2))
    return make_check(std::move(shuffled), facts, kernels);
  // Not by how this rank waits, which is its own affair.
  const bool shares_cores = online_job().here.ranks_per_core > 0;
  const int prior = has_default ? 1 : 0;
  auto policy = std::make_unique<Duel>(prior, first_calls(facts), shares_cores,
                                       patience(prior, shares_cores, hopeless_));
  Duel* duel = policy.get();
  if (online_job().keeps_verdicts && facts.graph == nullptr)
    duel->recall(recall_verdicts(facts, kernels));
  auto kind = make_check(std::move(policy), facts, kernels);
  kind->duel = duel;
  return kind;
}

/// Whether calls of this kind can be told beforehand, by collective and length alone: where an arm
/// leads for another root or operation they cannot. Nor where the class has shorter calls that have
/// no safe arm: only ranks that log look at these, and would count them.
bool Online::may_leave(const Kind& kind) const {
  const Facts& facts = kind.facts;
  const Count least = bytes_of_class(size_class(facts.bytes)).first;
  if (kind.learner.policy().leader() != 0 ||
      (facts.nodes > 1 && !SafeRule(online_job().here.flavour)
                               .reach(facts.collective, facts.size, facts.nodes)
                               .holds(least)))
    return false;
  return std::none_of(kinds_.begin(), kinds_.end(), [&](const auto& entry) {
    const Kind* other = entry.second.get();
    return other != nullptr && other->facts.collective == kind.facts.collective &&
           size_class(other->facts.bytes) == size_class(kind.facts.bytes) &&
           other->learner.policy().leader() != 0;
  });
}

/// Of so many calls that need not be looked at this is the first.
Choice Online::pass(Communicator& communicator, Kind& kind, int calls) const {
  const auto others = static_cast<std::uint32_t>(calls - 1);
  if (may_leave(kind))
    communicator.leave(kind.facts.collective, kind.facts.bytes, others);
  else
    kind.to_pass.allow(others);
  return passed(kind);
}

Choice Online::passed(Kind& kind) {
  const int arm = kind.learner.policy().leader();
  const Spec& spec = kind.arms[static_cast<std::size_t>(arm)];
  return {.algorithm = spec.algorithm,
          .params = spec.params,
          .why = why(kind),
          .to_pass = &kind.to_pass};
}

/// Nothing is measured any more, and what stays native does not come here again.
Choice Online::settled(Communicator& communicator, Kind& kind) {
  const int arm = kind.learner.policy().leader();
  if (arm == 0) communicator.leave(kind.facts.collective, kind.facts.bytes);
  const Spec& spec = kind.arms[static_cast<std::size_t>(arm)];
  return {spec.algorithm, spec.params, why(kind)};
}

/// For other communicators of this job.
void Online::tell_others(const Kind& kind) {
  if (kind.facts.graph != nullptr) return;  // whose neighbours are others
  if (const auto verdict = kind.duel->verdict()) note_verdict(kind.facts, *verdict);
}

/// For jobs to come. What was remembered and holds is as old as before, and will be asked anew.
void Online::keep_verdict(const Kind& kind) {
  const auto found = kind.learner.policy().found();
  if (!found || kind.facts.graph != nullptr || !online_job().keeps_verdicts ||
      !is_standard("UNISONO_WAIT"))
    return;
  KeptVerdict kept{.collective = kind.facts.collective,
                   .size_class = size_class(kind.facts.bytes),
                   .ranks = kind.facts.size,
                   .nodes = kind.facts.nodes,
                   .ranks_per_core = online_job().here.ranks_per_core,
                   .bytes = kind.facts.bytes,
                   .other = kind.arms[1],
                   .verdict = *found};
  for (WayTimes& way : kept.verdict.times) way = {rounded(way.in_calls), rounded(way.all)};
  remember(kept);
}

}  // namespace unisono
