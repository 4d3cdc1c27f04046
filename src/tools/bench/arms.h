// From the --arms of the command line to what can be run for one collective.
#pragma once
#include <string>
#include <vector>

#include "tools/bench/measure.h"

namespace unisono::bench {

struct ArmList {
  std::vector<Arm> arms;
  std::vector<std::string> absent;  ///< specs whose algorithm this collective does not have
};

/// `specs` for the collective of `setting`; "all" stands for native, default and every algorithm
/// of the catalogue whose restrictions the setting meets.
ArmList arms_for(const Setting& setting, const std::vector<std::string>& specs);

/// Throws std::runtime_error when a spec names an algorithm that none of `collectives` has, or has
/// a bad parameter.
void check_arms(const std::vector<Collective>& collectives, const std::vector<std::string>& specs);

}  // namespace unisono::bench
