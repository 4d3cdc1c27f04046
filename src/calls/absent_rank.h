// What a call ends with that ranks have not made alike: an error, or nothing where the MPI library
// is to run it, as it then runs all that follows.
#pragma once
#include <cstdint>
#include <optional>

#include "calls/call.h"
#include "comm/communicator.h"
#include "node/calls.h"

namespace unisono {

/// Other ranks have made other calls.
std::optional<int> end_differing(Communicator& communicator, const Call& call,
                                 const node::CallsDiffer& differ);

/// Some rank takes no part in this call.
std::optional<int> end_without_rank(Communicator& communicator, const Call& call,
                                    const node::RankAbsent& absent);

/// An earlier call has ended in such a way. The error is of a call that another rank has completed
/// all the same.
std::optional<int> end_after_difference(Communicator& communicator, const Call& call,
                                        const node::CallsEnded& ended);

/// The same as end_without_rank() of a call in flight, by its number (Attendance).
std::optional<int> end_flight_without_rank(Communicator& communicator, Collective collective,
                                           std::uint64_t call, const node::RankAbsent& absent);

}  // namespace unisono
