// What the memory of this machine does now, measured by the ranks of a team together.
//
// Some machines change within seconds what a line costs that another core has just written (their
// virtual processors move), and with it which store and which protocol is right. So a team measures
// all again after every GiB, and after every 16 MiB it has a glance at what a chunk costs with
// either store: it takes the cheaper one at once, and where a cost has changed by half all is
// measured in the next call. All ranks count the same bytes (Team::note), measure in the same call,
// and go on with the largest of their numbers: nothing here is one rank's own.
#pragma once
#include <cstddef>

#include "node/costs.h"
#include "node/team.h"

namespace unisono::node {

/// Before the first call: the team goes by prior_costs(), and will measure.
void begin(Team& team, const Probing& probing);

/// What is due, in a call of all ranks, while none of them uses slots.
[[gnu::cold]] void measure(Team& team);
/// All of it, due or not.
void measure_all(Team& team);

/// The cheaper store.
Store better(const SlotCosts& costs);
/// Whether a chunk is fetched in half as much time again, or two thirds of it, with either store.
bool has_changed(const SlotCosts& before, const SlotCosts& now);

}  // namespace unisono::node
