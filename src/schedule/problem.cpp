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

// Where MPI lets ranks differ, about every other one, by no pattern that an algorithm could have.
bool is_drawn(unsigned seed, int rank) {
  const unsigned mixed = (seed * 0x9E3779B9U + static_cast<unsigned>(rank)) * 0x85EBCA6BU;
  return ((mixed ^ (mixed >> 15)) & 1U) != 0;
}

bool is_in_place(const Problem& problem, int rank) {
  switch (semantics(problem.collective).in_place) {
    case InPlace::nowhere: return false;
    case InPlace::root_send:
    case InPlace::root_receive: return problem.in_place && rank == problem.root;
    case InPlace::all: return problem.in_place;
    case InPlace::each:
      return problem.in_place && (problem.differ == 0 || is_drawn(problem.differ, rank));
  }
  return false;
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

void ArgsOfRanks::make_up_counts(const Problem& problem, bool all_to_all) {
  const auto up = static_cast<std::size_t>(problem.size);
  counts_.resize(all_to_all ? up * up : up);
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    // In place, MPI demands a symmetric matrix: what i sends to j is what i receives from j.
    const auto row = static_cast<int>(all_to_all ? i / up : 0);
    counts_[i] = block_length(problem.count, row + static_cast<int>(i % up));
  }
}

ArgsOfRanks::ArgsOfRanks(const Problem& problem) : counts_(problem.counts) {
  const int p = problem.size;
  const auto up = static_cast<std::size_t>(p);
  const Collective c = problem.collective;
  const bool irregular = is_irregular(c);
  const Semantics& s = semantics(c);
  const bool all_to_all = has_matrix(s);

  if (irregular && counts_.empty()) make_up_counts(problem, all_to_all);
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
    a.in_place = is_in_place(problem, r);
    a.send.count = a.recv.count = problem.count;
    if (!irregular) {
      // Equal blocks.
    } else if (s.rooted) {
      const bool gathers = s.receive.who == Who::root;
      Layout& many = gathers ? a.recv : a.send;
      Layout& own = gathers ? a.send : a.recv;
      a.all_counts_known = problem.share_counts || r == a.root;
      own.count = counts_[ur];
      if (a.all_counts_known) many.counts = counts_;
      if (r == a.root) many.displs = displacements(counts_, problem.gaps);
    } else if (all_to_all) {
      a.send.counts = std::span<const Count>(counts_).subspan(ur * up, up);
      a.send.displs = displacements(a.send.counts, problem.gaps);
      a.recv.counts = columns_[ur];
      a.recv.displs = displacements(a.recv.counts, problem.gaps);
      if (problem.share_counts) a.matrix = counts_;
    } else {
      a.recv.counts = counts_;
      a.recv.displs = displacements(counts_, problem.gaps && !s.is_reducing());
    }
    args_.push_back(a);
  }
}

}  // namespace unisono
