#include "schedule/problem.h"

namespace unisono {

namespace {

// An irregular pattern with zeros in it, the mean near `count`.
Count block_length(Count count, int i) {
  constexpr int kPattern = 4;
  switch (i % kPattern) {
    case 1: return 0;
    case 2: return 2 * count;
    case 3: return count + 1;
    default: return count;
  }
}

// MPI_IN_PLACE is allowed on this rank: everywhere, but for gather, scatter and reduce on the root.
bool in_place_allowed(Collective c, bool is_root) {
  if (c == Collective::bcast || c == Collective::barrier) return false;
  return !is_rooted(c) || is_root;
}

}  // namespace

std::span<const Count> ArgsOfRanks::displacements(std::span<const Count> counts, bool gaps) {
  const std::size_t p = counts.size();
  std::vector<Count> displs(p);
  Count at = gaps ? 1 : 0;
  for (std::size_t k = 0; k < p; ++k) {
    const std::size_t i = gaps ? p - 1 - k : k;
    displs[i] = at;
    at += counts[i] + (gaps ? 2 : 0);
  }
  return displs_.emplace_back(std::move(displs));
}

ArgsOfRanks::ArgsOfRanks(const Problem& problem) : counts_(problem.counts) {
  const int p = problem.size;
  const auto up = static_cast<std::size_t>(p);
  const Collective c = problem.collective;
  const bool irregular = is_irregular(c);
  const bool all_to_all = c == Collective::alltoallv || c == Collective::alltoallw;

  if (irregular && counts_.empty()) {
    counts_.resize(all_to_all ? up * up : up);
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      // In place, MPI demands a symmetric matrix: what i sends to j is what i receives from j.
      const auto row = static_cast<int>(all_to_all ? i / up : 0);
      const auto column = static_cast<int>(i % up);
      counts_[i] = block_length(problem.count, row + column);
    }
  }
  if (all_to_all) {
    columns_.assign(up, std::vector<Count>(up));
    for (std::size_t i = 0; i < up; ++i)
      for (std::size_t j = 0; j < up; ++j) columns_[j][i] = counts_[i * up + j];
  }
  displs_.reserve(2 * up + 1);

  for (int r = 0; r < p; ++r) {
    const auto ur = static_cast<std::size_t>(r);
    Args a;
    a.collective = c;
    a.rank = r;
    a.size = p;
    a.root = is_rooted(c) ? problem.root : 0;
    a.unit_bytes = problem.unit_bytes;
    a.commutative = problem.commutative;
    a.params = problem.params;
    a.topology = problem.topology;
    a.count = problem.count;
    a.in_place = problem.in_place && in_place_allowed(c, r == a.root);
    a.send.count = a.recv.count = problem.count;
    if (c == Collective::gatherv || c == Collective::scatterv) {
      Layout& many = c == Collective::gatherv ? a.recv : a.send;
      Layout& own = c == Collective::gatherv ? a.send : a.recv;
      a.all_counts_known = problem.share_counts || r == a.root;
      own.count = counts_[ur];
      if (a.all_counts_known) many.counts = counts_;
      if (r == a.root) many.displs = displacements(counts_, problem.gaps);
    } else if (c == Collective::allgatherv) {
      a.recv.counts = counts_;
      a.recv.displs = displacements(counts_, problem.gaps);
    } else if (c == Collective::reduce_scatter) {
      a.recv.counts = counts_;
      a.recv.displs = displacements(counts_, false);
    } else if (all_to_all) {
      a.send.counts = std::span<const Count>(counts_).subspan(ur * up, up);
      a.send.displs = displacements(a.send.counts, problem.gaps);
      a.recv.counts = columns_[ur];
      a.recv.displs = displacements(a.recv.counts, problem.gaps);
      if (problem.share_counts) a.matrix = counts_;
    }
    args_.push_back(a);
  }
}

}  // namespace unisono
