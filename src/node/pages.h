// Pages of memory that processes share.
#pragma once
#include <cstddef>
#include <span>

namespace unisono::node {

/// Whether parts of a mapping can be allocated: from Linux 5.14 on.
bool allocates_parts(void* page);
/// Really allocates this part, near to the processor that asks where nobody has before. Before it
/// is used: where there is no room any more the answer is false, and nobody gets SIGBUS later.
/// Where the system cannot, true.
bool allocate(std::span<const std::byte> part);

}  // namespace unisono::node
