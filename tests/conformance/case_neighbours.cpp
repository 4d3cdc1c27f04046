// Plans of the collectives among neighbours.
#include <algorithm>

#include "case.h"

namespace conformance {

/// How many blocks of the same neighbour stand before.
int Case::nth_edge(const std::vector<int>& peers, std::size_t i) const {
  if (!neighbours_.numbered) return 0;
  return static_cast<int>(
      std::count(peers.begin(), peers.begin() + static_cast<std::ptrdiff_t>(i), peers[i]));
}

std::vector<long long> Case::edges(const std::vector<int>& peers, bool sending) const {
  std::vector<long long> lengths;
  for (std::size_t i = 0; i < peers.size(); ++i)
    lengths.push_back(sending ? matrix(rank_, peers[i], nth_edge(peers, i))
                              : matrix(peers[i], rank_, nth_edge(peers, i)));
  return lengths;
}

void Case::plan_neighbours() {
  const std::vector<int>&sources = neighbours_.sources, &destinations = neighbours_.destinations;
  const auto in = static_cast<int>(sources.size()), out = static_cast<int>(destinations.size());
  if (in_.collective == Collective::neighbor_alltoallw) {
    send_argument_ = recv_argument_ = Argument::buffer;
    plan_blocks(false, sources);
    plan_blocks(true, destinations);
    // Not null without neighbours.
    in_.sendtypes.push_back(MPI_INT), in_.recvtypes.push_back(MPI_INT);
  } else {
    draw_unit(common_, {1, 1, 2, 3, 4, 6});
    avoid_native_defects();
    const long long length = random_length();
    switch (in_.collective) {
      case Collective::neighbor_allgather:
        recv_equal(length, in);
        send_equal(length, 1);
        break;
      case Collective::neighbor_allgatherv: {
        // A rank sends the same to all.
        std::vector<long long> lengths;
        for (const int source : sources) lengths.push_back(matrix(source, 0));
        recv_lengths(lengths);
        send_equal(matrix(rank_, 0), 1);
        break;
      }
      case Collective::neighbor_alltoall:
        recv_equal(length, in);
        send_equal(length, out);
        break;
      default:
        recv_lengths(edges(sources, false));
        send_lengths(edges(destinations, true));
        break;
    }
  }
  if (recv_blocks_.size() == 1 && in != 1) {  // one behind the other
    const Block all = recv_blocks_.front();
    recv_blocks_.clear();
    for (int i = 0; i < in; ++i)
      recv_blocks_.push_back({all.type, in_.recvcount, i * in_.recvcount * all.type->extent()});
  }
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (sources[i] == MPI_PROC_NULL) idle_blocks_.push_back(recv_blocks_[i]);
  comm_text_ += ", " + std::to_string(in) + " in, " + std::to_string(out) + " out";
}

}  // namespace conformance
