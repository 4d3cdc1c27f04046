// Memory of accelerators, which the processor cannot touch: recognised and copied by the driver
// that the program has loaded, CUDA's, HIP's or Level Zero's. Nothing is linked, and nothing
// loaded.
#pragma once
#include <atomic>
#include <cstddef>

#include "mpi/loaded_libraries.h"

namespace unisono {

/// Calls on a device's memory may run on copies of it in the memory of the host: UNISONO_DEVICE.
inline constinit std::atomic<bool> g_stages_devices{false};

/// A driver was found.
extern constinit std::atomic<bool> g_has_devices;
inline bool has_devices() { return g_has_devices.load(std::memory_order_relaxed); }

/// False: there is none, and none was loaded since. All that a short call looks at; otherwise it
/// calls look_for_devices().
[[gnu::always_inline]] inline bool may_have_devices() { return may_have_unseen_libraries(); }

/// Looks among the loaded libraries, if there are new ones: in MPI_Init, when a communicator is met
/// for the first time, and in every call that takes the long way.
void look_for_devices();

/// Whether only the device can touch what is at `address`. Not memory that it shares with the
/// processor (managed or pinned). A fact of this rank: nothing may be decided by it.
bool is_on_device(const void* address);

/// False: the driver refused.
bool copy_from_device(std::byte* host, const std::byte* device, std::size_t bytes);
bool copy_to_device(std::byte* device, const std::byte* host, std::size_t bytes);

}  // namespace unisono
