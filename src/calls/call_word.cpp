#include "calls/call_word.h"

#include <mpi.h>

namespace unisono {

namespace {

constexpr int kBytesAt = kCollectiveBits + kRootBits;

Collective collective_of(node::CallWord word) {
  return static_cast<Collective>(word % (1 << kCollectiveBits) - 1);
}

}  // namespace

std::string text_of(node::CallWord word) {
  const Semantics& s = semantics(collective_of(word));
  std::string text = "MPI_" + std::string(s.name);
  text[4] = static_cast<char>(text[4] - 'a' + 'A');
  if (s.knows_bytes == Who::all && s.measure != Measure::nothing && s.peers == Peers::all)
    text += " of " + std::to_string(word >> kBytesAt) + " bytes";
  if (s.rooted)
    text += ", root " + std::to_string(word >> kCollectiveBits & ((1 << kRootBits) - 1));
  return text;
}

int error_of(const node::CallsDiffer& differ) {
  const bool known = differ.theirs != 0 && differ.mine != 0;
  const auto but_bytes = [](node::CallWord word) { return word % (node::CallWord{1} << kBytesAt); };
  return known && but_bytes(differ.theirs) == but_bytes(differ.mine) ? MPI_ERR_TRUNCATE
                                                                     : MPI_ERR_OTHER;
}

std::string text_of(const node::CallsDiffer& differ, int rank, int size) {
  const std::string where = " on a communicator of " + std::to_string(size) + " ranks";
  const std::string other = "rank " + std::to_string(differ.rank);
  const std::string own = "rank " + std::to_string(rank);
  if (differ.theirs == 0)
    return other + " has called other collectives than " + own + where +
           "; all ranks must call the same ones in the same order";
  return other + " called " + text_of(differ.theirs) + " where " + own + " called " +
         text_of(differ.mine) + where;
}

}  // namespace unisono
