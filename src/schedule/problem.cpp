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

void ArgsOfRanks::make_up_counts(const Problem& problem) {
  const auto p = static_cast<std::size_t>(problem.size);
  const bool all_to_all = has_matrix(semantics(problem.collective));
  std::size_t length = all_to_all ? p * p : p;
  if (all_to_all && graph_ != nullptr) {
    length = 0;
    for (int r = 0; r < problem.size; ++r) length += graph_->of(r).destinations.size();
  }
  counts_.resize(length);
  for (std::size_t i = 0; i < length; ++i) {
    // In place, MPI demands a symmetric matrix: what i sends to j is what i receives from j.
    const auto row = static_cast<int>(all_to_all ? i / p : 0);
    counts_[i] = block_length(problem.count, row + static_cast<int>(i % p));
  }
}

/// What each rank receives, and, among neighbours, where in counts_ it sends from.
void ArgsOfRanks::make_columns(const Problem& problem) {
  const auto p = static_cast<std::size_t>(problem.size);
  columns_.assign(p, std::vector<Count>(graph_ == nullptr ? p : 0));
  if (graph_ == nullptr) {
    matrix_ = CountMatrix(counts_, problem.size);
    for (std::size_t i = 0; i < p; ++i)
      for (std::size_t j = 0; j < p; ++j) columns_[j][i] = counts_[i * p + j];
    return;
  }
  const bool cuts = is_per_peer(semantics(problem.collective).send.shape);
  first_.assign(1, 0);
  for (int r = 0; r < problem.size; ++r) {
    first_.push_back(first_.back() + (cuts ? graph_->of(r).destinations.size() : 1));
    columns_[static_cast<std::size_t>(r)].resize(graph_->of(r).sources.size());
  }
  for (const NeighbourGraph::Edge& edge : graph_->edges())
    columns_[static_cast<std::size_t>(edge.to)][static_cast<std::size_t>(edge.received)] =
        counts_[first_[static_cast<std::size_t>(edge.from)] +
                static_cast<std::size_t>(cuts ? edge.sent : 0)];
}

/// Blocks of different lengths.
void ArgsOfRanks::lay_out(const Problem& problem, Args& a) {
  const Semantics& s = semantics(a.collective);
  const auto p = static_cast<std::size_t>(a.size), r = static_cast<std::size_t>(a.rank);
  if (s.rooted) {
    const bool gathers = s.receive.who == Who::root;
    Layout& many = gathers ? a.recv : a.send;
    Layout& own = gathers ? a.send : a.recv;
    a.all_counts_known = problem.share_counts || a.is_root();
    own.count = counts_[r];
    if (a.all_counts_known) many.counts = counts_;
    if (a.is_root()) many.displs = displacements(counts_, problem.gaps);
  } else if (columns_.empty()) {
    a.recv.counts = counts_;
    a.recv.displs = displacements(counts_, problem.gaps && !s.is_reducing());
  } else {
    const std::span<const Count> all = counts_;
    const std::span<const Count> sent =
        first_.empty() ? all.subspan(r * p, p) : all.subspan(first_[r], first_[r + 1] - first_[r]);
    if (is_per_peer(s.send.shape)) {
      a.send.counts = sent;
      a.send.displs = displacements(sent, problem.gaps);
    } else {
      a.send.count = sent.front();
    }
    a.recv.counts = columns_[r];
    a.recv.displs = displacements(a.recv.counts, problem.gaps);
    if (problem.share_counts && graph_ != nullptr) a.edge_counts = counts_;
    if (problem.share_counts && graph_ == nullptr) a.matrix = &matrix_;
  }
}

ArgsOfRanks::ArgsOfRanks(const Problem& problem) : graph_(problem.graph), counts_(problem.counts) {
  const Collective c = problem.collective;
  if (is_among_neighbours(c) && graph_ == nullptr)
    graph_ = &stencil_.emplace(NamedGrid::parse("stencil", problem.size)->graph());
  if (is_irregular(c)) {
    if (counts_.empty()) make_up_counts(problem);
    if (has_matrix(semantics(c)) || graph_ != nullptr) make_columns(problem);
  }
  displs_.reserve(2 * static_cast<std::size_t>(problem.size) + 1);

  for (int r = 0; r < problem.size; ++r) {
    Args a;
    a.collective = c;
    a.rank = r;
    a.size = problem.size;
    a.root = is_rooted(c) ? problem.root : 0;
    a.unit_bytes = problem.unit_bytes;
    a.commutative = problem.commutative;
    a.params = problem.params;
    a.topology = problem.topology;
    a.count = problem.count;
    a.in_place = is_in_place(problem, r);
    a.send.count = a.recv.count = problem.count;
    a.graph = graph_;
    if (graph_ != nullptr) a.neighbours = &graph_->of(r);
    if (is_irregular(c)) lay_out(problem, a);
    args_.push_back(a);
  }
}

}  // namespace unisono
