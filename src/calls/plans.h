// From an algorithm and its arguments to a plan: looked up by what the schedule depends on, or
// made.
#pragma once
#include <memory>
#include <string>

#include "algorithms/catalogue.h"
#include "comm/communicator.h"
#include "exec/plan.h"
#include "schedule/args.h"

namespace unisono {

/// Into `memory`: what the schedule of a call depends on, without addresses and handles. Size, rank
/// and topology are those of the communicator that holds the plans.
void describe_plan(std::string& memory, const Algorithm& algorithm, const Args& args);

std::shared_ptr<const Plan> plan_for(Communicator& communicator, const Algorithm& algorithm,
                                     const Args& args);

}  // namespace unisono
