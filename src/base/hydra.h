// What the launcher of MPICH and Intel MPI, Hydra, says of a job beyond the environment
// (base/launcher.h).
#pragma once
#include <cstdint>

namespace unisono::hydra {

/// A number of this process's job, the same on all its ranks of this node, and of no other job
/// here. 0: Hydra has not started it.
std::uint64_t job() noexcept;

/// The same of processes that MPI_Comm_spawn has started, whose job is one of several of a proxy:
/// it is asked for the name of the job. Only where the MPI library does not talk to it meanwhile.
std::uint64_t spawned_job() noexcept;

}  // namespace unisono::hydra
