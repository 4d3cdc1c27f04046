#include "calls/call_word.h"

#include <mpi.h>

namespace unisono {

namespace {

constexpr int kBytesAt = kCollectiveBits + kRootBits;

Collective collective_of(node::CallWord word) {
  return static_cast<Collective>(word % (1 << kCollectiveBits) - 1);
}

}  // namespace

std::string mpi_name(Collective collective) {
  std::string text = "MPI_" + std::string(name(collective));
  text[4] = static_cast<char>(text[4] - 'a' + 'A');
  return text;
}

std::string text_of(node::CallWord word) {
  const Semantics& s = semantics(collective_of(word));
  std::string text = mpi_name(s.collective);
  if (s.knows_bytes == Who::all && s.measure != Measure::nothing && s.peers == Peers::all)
    text += " of " + std::to_string(word >> kBytesAt) + " bytes";
  if (s.rooted)
    text += ", root " + std::to_string(word >> kCollectiveBits & ((1 << kRootBits) - 1));
  return text;
}

int error_of(const node::CallsDiffer& differ) {
  const auto but_bytes = [](node::CallWord word) { return word % (node::CallWord{1} << kBytesAt); };
  return but_bytes(differ.theirs) == but_bytes(differ.mine) ? MPI_ERR_TRUNCATE : MPI_ERR_OTHER;
}

std::string text_of(const node::CallsDiffer& differ, int rank, int size) {
  return "rank " + std::to_string(differ.rank) + " called " + text_of(differ.theirs) +
         " where rank " + std::to_string(rank) + " called " + text_of(differ.mine) +
         " on a communicator of " + std::to_string(size) + " ranks";
}

}  // namespace unisono
