// The one copy of this layer.
#pragma once
#include <cstddef>
#include <cstring>

namespace unisono::node {

/// memcpy that allows nothing, and a block onto itself: what MPI_IN_PLACE comes to.
inline void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (to != from && bytes > 0) std::memcpy(to, from, bytes);
}

}  // namespace unisono::node
