// The copies of this layer.
#pragma once
#include <cstddef>
#include <cstring>

namespace unisono::node {

/// memcpy that allows nothing, and a block onto itself: what MPI_IN_PLACE comes to.
inline void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (to != from && bytes > 0) std::memcpy(to, from, bytes);
}

/// The same past the caches, where the processor can: nobody else sees it before the fence.
void stream_bytes(std::byte* to, const std::byte* from, std::size_t bytes);
void fence_streams();

}  // namespace unisono::node
