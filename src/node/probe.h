// What the memory of this machine does now, measured by the ranks of a team together.
//
// Some machines change within seconds what a line costs that another core has just written (their
// virtual processors move), and with it which store and which protocol is right. So a team measures
// again after every so many bytes. All ranks count the same bytes (Team::note), measure in the same
// call, and go on with the largest of their numbers: nothing here is one rank's own.
#pragma once
#include <cstddef>

#include "node/costs.h"
#include "node/team.h"

namespace unisono::node {

/// Before the first call: the team goes by prior_costs(), and will measure.
void begin(Team& team, const Probing& probing);

/// In a call of all ranks, while none of them uses slots; ends Team::is_probe_due().
[[gnu::cold]] void probe(Team& team);

/// The cheaper of two stores, of which the ranks found so much.
struct StoreCosts {
  double write = 0, fetch = 0;
};
Store better(const StoreCosts& plain, const StoreCosts& nontemporal);

}  // namespace unisono::node
