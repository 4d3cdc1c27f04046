// What a call ends with that ranks have not made alike.
#pragma once
#include <cstdint>
#include <optional>

#include "comm/communicator.h"
#include "node/calls.h"
#include "schedule/collective.h"

namespace unisono {

/// Of a call, by its number (Attendance), in which some rank takes no part: an error. Nothing where
/// that rank leaves all calls to the MPI library, and this one, which the others leave as well. All
/// that follows is the MPI library's.
std::optional<int> end_without_rank(Communicator& communicator, Collective collective,
                                    std::uint64_t call, const node::RankAbsent& absent);

/// The same of the last call, where other ranks have made others.
std::optional<int> end_differing(Communicator& communicator, const node::CallsDiffer& differ);

/// The same of a call after such a one, which another rank may have begun all the same.
std::optional<int> end_after_difference(Communicator& communicator, const node::CallsEnded& ended);

}  // namespace unisono
