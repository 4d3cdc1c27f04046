// What online selection chooses from.
#pragma once
#include <vector>

#include "select/selector.h"

namespace unisono {

inline constexpr std::size_t kMostArms = 8;

/// The MPI library's own first; then `standard`, what would run without online selection; then the
/// list of this collective and size. Only what can serve such a call, and at most kMostArms.
std::vector<Spec> online_arms(const Facts& facts, const Choice& by_default);

}  // namespace unisono
