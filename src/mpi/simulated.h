// Whether this library runs in the simulator.
#pragma once
#include <cstdint>

#ifdef UNISONO_FLAVOUR_SMPI
#include <simgrid/engine.h>
#endif

namespace unisono {

#ifdef UNISONO_FLAVOUR_SMPI
inline constexpr bool kSimulated = true;
/// Unlike MPI_Wtime, which lets others go on.
inline std::int64_t simulated_ns() { return static_cast<std::int64_t>(1e9 * simgrid_get_clock()); }
#else
inline constexpr bool kSimulated = false;
inline std::int64_t simulated_ns() { return 0; }
#endif

}  // namespace unisono
