// Variables of the environment that are nearly, but not quite, Unisono's.
#pragma once
#include <string>
#include <vector>

namespace unisono {

/// A line for each. Names that are like no variable of Unisono's may be somebody else's, and are
/// left to `unisono doctor`.
std::vector<std::string> misspelt_variables();

}  // namespace unisono
