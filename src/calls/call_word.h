// A call in one word, by which the ranks of a node tell whether they make the same calls.
#pragma once
#include <string>

#include "calls/call.h"
#include "node/calls.h"
#include "schedule/semantics.h"

namespace unisono {

constexpr int kCollectiveBits = 6, kRootBits = 18;
static_assert(kCollectives < 1 << kCollectiveBits);

/// Collective, root, and the bytes where all ranks know them. The lower bits of the two numbers,
/// where one is larger.
[[gnu::always_inline]] inline node::CallWord word_of(const Call& call, Count bytes) {
  const Semantics& s = semantics(call.collective);
  node::CallWord word = 1 + static_cast<node::CallWord>(call.collective);
  if (s.rooted)
    word |= static_cast<node::CallWord>(call.root) % (1 << kRootBits) << kCollectiveBits;
  if (s.knows_bytes == Who::all && s.peers == Peers::all)
    word |= static_cast<node::CallWord>(bytes) << (kCollectiveBits + kRootBits);
  return word;
}

/// "MPI_Bcast".
std::string mpi_name(Collective collective);

/// "MPI_Bcast of 16 bytes, root 1".
std::string text_of(node::CallWord word);

/// MPI_ERR_TRUNCATE where the bytes are all that differs, as where a message has another length
/// than its receiver asks for.
int error_of(const node::CallsDiffer& differ);

/// What a rank tells its user.
std::string text_of(const node::CallsDiffer& differ, int rank, int size);

}  // namespace unisono
