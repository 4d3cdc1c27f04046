// Memory of accelerators, which the processor cannot touch: recognised and copied by the driver
// that the program has loaded, CUDA's or HIP's. Nothing is linked, and nothing is loaded.
#pragma once
#include <atomic>
#include <cstddef>

namespace unisono {

/// A driver was found. The one thing that is looked at where there is none.
extern constinit std::atomic<bool> g_has_devices;
inline bool has_devices() { return g_has_devices.load(std::memory_order_relaxed); }

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
