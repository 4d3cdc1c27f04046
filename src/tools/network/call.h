// Reads which algorithm is to run.
#pragma once
#include <optional>
#include <string>

#include "schedule/problem.h"
#include "select/spec.h"
#include "tools/network/commands.h"
#include "tools/network/place.h"
#include "topology/topology.h"

namespace unisono {

Collective collective_of(const Call& call);
/// With a schedule, and a segment.
Spec spec_of(const Call& call, Collective collective);
/// What the runtime finds out of ranks on these hosts: who shares one, and where on a torus it is.
TopologyLabels labels_of(const Placed& where, const std::vector<int>& host_of_rank);
/// Where senders name their routes, the network is told those of the trees. `problem`: of ranks
/// somewhere on it.
void name_routes(const Placed& where, const Algorithm& row, const Problem& problem);
/// Why the call is left out.
std::optional<std::string> obstacle(const Problem& problem, const Spec& spec, Count bytes);

}  // namespace unisono
