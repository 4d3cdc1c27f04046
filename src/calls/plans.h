// From an algorithm and its arguments to a plan: looked up by what the schedule depends on, or
// made.
#pragma once
#include <memory>

#include "algorithms/catalogue.h"
#include "comm/communicator.h"
#include "exec/plan.h"
#include "schedule/args.h"

namespace unisono {

std::shared_ptr<const Plan> plan_for(Communicator& communicator, const Algorithm& algorithm,
                                     const Args& args);

}  // namespace unisono
