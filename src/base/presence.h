// Which ranks of this node Unisono is loaded in, found out without a message and without waiting
// for those in which it is not: each that has it shows a name, a socket in Linux's abstract
// namespace, which ends with the process. Other users can take such names too, and are told apart.
#pragma once

namespace unisono::presence {

/// Shows this rank, if it can see others. Before its MPI_Init, which no rank leaves before all have
/// entered it. `may_ask`: the MPI library does not talk to the launcher meanwhile; else a rank that
/// was spawned is not seen.
void announce(bool may_ask = true) noexcept;

/// The ranks of this job on this node, as the launcher counts them.
struct Attendance {
  int ranks = 0;         ///< 0: the launcher is not one that tells, or has not told all of them
  int absent = 0;        ///< all, where this rank cannot show itself
  bool usurped = false;  ///< another user's process holds the name of an absent one
  bool speaks = false;   ///< this rank is the first of those that are there, or of all
};

/// After MPI_Init. The same counts on all ranks of the node that are there.
Attendance look_around() noexcept;

/// While this rank waits for others to look around: they call, and so may any other process, until
/// the system turns callers away.
void admit() noexcept;

/// When all have looked around. Where some rank is missing nobody knows when that is, and a name
/// that goes too early is one more that is missing, and another rank that speaks: it stays until
/// the end.
void withdraw() noexcept;

}  // namespace unisono::presence
