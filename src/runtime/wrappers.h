// Profilers that are linked to a program: they define MPI's functions and call PMPI's, so that the
// program's calls never come to Unisono.
#pragma once

namespace unisono {

/// The collectives, a bit for each, whose calls by the main program go elsewhere first.
unsigned long long wrapped_collectives();

}  // namespace unisono
