// How the runtime says what it has found.
#pragma once
#include <string>
#include <vector>

#include "schedule/schedule.h"
#include "select/profile.h"

namespace unisono {

/// ", for 4 ranks on 1 node, 16 ranks on 16 nodes".
std::string shapes_text(const std::vector<ProfileCell>& cells);
/// What a job of so many ranks on so many nodes is told of a profile that has no cell for all of
/// them together; else nothing.
std::string lacking_text(const std::vector<ProfileCell>& cells, int ranks, int nodes);
/// How many ranks are in each domain.
std::string domains_text(const std::vector<int>& domains);
/// "64KB".
std::string bytes_text(Count bytes);

}  // namespace unisono
