#include "tools/network/call.h"

#include <CLI/CLI.hpp>

#include "algorithms/torus.h"
#include "model/price.h"
#include "schedule/semantics.h"

namespace unisono {

Collective collective_of(const Call& call) {
  const auto collective = collective_named(call.collective);
  if (!collective || is_among_neighbours(*collective))
    throw CLI::ValidationError("--collective " + call.collective + ": no such collective here");
  return *collective;
}

Spec spec_of(const Call& call, Collective collective) {
  const auto parsed = parse_spec(collective, call.algorithm);
  if (!parsed) throw CLI::ValidationError("--algorithm " + parsed.error());
  Spec spec = *parsed;
  if (spec.algorithm == nullptr)
    throw CLI::ValidationError("--algorithm " + call.algorithm + ": it has no schedule");
  spec.params = with_standard_segment(*spec.algorithm, spec.params);
  return spec;
}

TopologyLabels labels_of(const Placed& where, const std::vector<int>& host_of_rank) {
  TopologyLabels labels;
  labels.at(Level::node) = host_of_rank;
  if (where.torus() != nullptr)
    labels.torus = {where.torus()->shared_torus(), where.routing, host_of_rank};
  return labels;
}

void name_routes(const Placed& where, const Algorithm& row, const Problem& problem) {
  if (where.routing != Routing::source || (row.restrictions & kTorus) == 0) return;
  const TorusPlacement& placement = *problem.topology->torus();
  const ArgsOfRanks ranks(problem);
  const auto trees = torus_trees(placement, ranks[0]);
  where.torus()->name_routes(placement.members(), trees->all());
}

// Blocks of a byte or an element at least: a simulated call has no shorter ones.
std::optional<std::string> obstacle(const Problem& problem, const Spec& spec, Count bytes) {
  if ((spec.algorithm->restrictions & (kOneNode | kMulticast)) != 0)
    return "runs through the memory of a node, or by multicast, which is not simulated";
  if (!can_serve(*spec.algorithm, problem)) {
    const Conditions conditions{
        .size = problem.size, .messages = true, .topology = problem.topology};
    const auto unmet = unmet_restriction(*spec.algorithm, conditions, problem.params);
    return std::string(unmet.value_or("cannot serve this call"));
  }
  const Measure measure = semantics(problem.collective).measure;
  const Count blocks = measure == Measure::blocks ? problem.size : 1;
  if (measure != Measure::nothing && bytes < blocks * problem.unit_bytes)
    return "less than one element";
  return std::nullopt;
}

}  // namespace unisono
