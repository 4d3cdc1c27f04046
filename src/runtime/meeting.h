// The first thing that the ranks of a job do together: whether all have Unisono, and read the same.
#pragma once
#include <cstdint>

#include "base/hash.h"
#include "base/version.h"
#include "comm/placement.h"

namespace unisono {

/// What a rank brings to it. A flavour library that cannot be opened sends a stub in its place
/// (interpose/join/join.cpp), which says so in the same words.
struct OwnSettings {
  std::uint64_t version = fnv1a(UNISONO_VERSION);
  std::uint64_t variables = 0;  ///< a hash
  std::uint64_t profile = 0;    ///< a hash
  std::uint64_t topology = 0;   ///< a hash
  std::uint64_t wrapped = 0;    ///< wrapped_collectives()
  bool can_run = false;         ///< the rank could read them
  OwnPlace place;
};

enum class Meeting {
  agreed,
  other_version,  ///< of Unisono, whose schedules and messages may be others
  other_variables,
  other_profile,
  other_topology,
  other_wrappers,
  some_session,  ///< some rank has made a session before MPI_Init
  some_cannot,   ///< some rank could not load Unisono, or had no memory
  some_missing,  ///< some rank runs without Unisono; all are on this node
};

/// The same answer on all ranks that have Unisono, and a line about ranks that have not. Does not
/// wait for ranks without it for ever: where these are not known, it ends the job with a line.
/// `job`: where the ranks are, as far as one collective can tell; if they have agreed.
Meeting meet(const OwnSettings& own, JobPlace& job) noexcept;
/// What one rank says of a meeting that has not agreed; empty: it has been said.
std::string problem_of(Meeting meeting);

}  // namespace unisono
