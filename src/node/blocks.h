// What the collectives have in common whose blocks have different lengths.
//
// All ranks must take the same steps, and where none knows all lengths they cannot foresee how
// many. So the first step carries data like any other and, in the cells beside it, what the others
// need to know: a call whose blocks fit in the cells takes this step only.
//
// Long blocks are copied directly, each as its own two ranks decide, who both know its length: in
// the first step one shows the other where its end is. All see in it whether there is such a block,
// and take a step more, after which everybody is through with the others' memory.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "node/copy.h"
#include "node/kernels.h"
#include "node/pipeline.h"
#include "node/rule.h"

namespace unisono::node {

inline std::size_t bytes_of(PerRank counts, int rank) {
  return static_cast<std::size_t>(counts[static_cast<std::size_t>(rank)]);
}

inline std::size_t largest_of(PerRank counts) {
  std::int64_t largest = 0;
  for (const std::int64_t count : counts) largest = std::max(largest, count);
  return static_cast<std::size_t>(largest);
}

// To divide takes as long as much of a short call's bookkeeping.
inline std::size_t quotient_up(std::size_t total, std::size_t each) {
  if (total <= each) return total == 0 ? 0 : 1;
  return (total + each - 1) / each;
}

// A block without bytes may have no address.
inline void copy_in(const Team& team, std::byte* to, const std::byte* input, PerRank displs,
                    int rank, Chunk part) {
  const std::int64_t begin = displs[static_cast<std::size_t>(rank)];
  if (part.size > 0) team.put(to, input + begin + part.begin, part.size);
}
inline void copy_out(std::byte* output, PerRank displs, int rank, Chunk part,
                     const std::byte* from) {
  const std::int64_t begin = displs[static_cast<std::size_t>(rank)];
  if (part.size > 0) copy_bytes(output + begin + part.begin, from, part.size);
}

/// Of a block in the memory of the rank that shows it.
template <class Byte>
inline void show_address(std::byte* where, Byte* address) {
  std::memcpy(where, &address, sizeof address);
}
inline std::byte* address_at(const std::byte* where) {
  std::byte* address = nullptr;
  std::memcpy(&address, where, sizeof address);
  return address;
}

}  // namespace unisono::node
