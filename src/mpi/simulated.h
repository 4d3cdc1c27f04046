// Whether this library runs in the simulator.
#pragma once

namespace unisono {

#ifdef UNISONO_FLAVOUR_SMPI
inline constexpr bool kSimulated = true;
#else
inline constexpr bool kSimulated = false;
#endif

}  // namespace unisono
