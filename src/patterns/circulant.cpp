#include "patterns/circulant.h"

#include <algorithm>

namespace unisono {

Circulant::Circulant(int size) : size_(size) {
  while ((std::int64_t{1} << q_) < size) ++q_;
  skip_[static_cast<std::size_t>(q_)] = size;
  for (int k = q_ - 1; k >= 0; --k)
    skip_[static_cast<std::size_t>(k)] = skip(k + 1) - skip(k + 1) / 2;
}

int Circulant::base_block(int rank) const {
  int k = q_;
  while (rank > 0) {
    --k;
    if (rank >= skip(k)) rank -= skip(k);
  }
  return k;
}

namespace {

/// Depth-first search over sums of skips, largest first, for the ranks on the ways to `target`
/// whose base blocks are to be received. Ranks are counted up to 2 p, so that none is negative.
class ReceiveSearch {
 public:
  ReceiveSearch(const Circulant& graph, int rank)
      : graph_(graph), q_(graph.rounds()), target_(std::int64_t{rank} + graph.size()) {
    for (int e = 0; e <= q_; ++e) {
      next_[index(e)] = e - 1;
      previous_[index(e)] = e == q_ ? -1 : e + 1;
    }
    const int base = graph.base_block(rank);
    unlink(base);
    search(0, 2 * std::int64_t{graph.size()}, q_, 0);
    for (int k = 0; k < q_; ++k) {
      auto& found = found_[index(k)];
      found = static_cast<std::int8_t>(found == q_ ? base : found - q_);
    }
  }

  const Circulant::Receives& found() const { return found_; }

 private:
  // Accepted ranks must strictly decrease (`bound`); without that the schedules of p = 33, 65, ...
  // do not match. Returns the number of rounds settled.
  int search(std::int64_t at, std::int64_t bound, int e, int k) {
    for (; e != -1; e = next_[index(e)]) {
      const std::int64_t reached = at + graph_.skip(e);
      if (reached > target_ - graph_.skip(k) || reached >= bound) continue;
      if (reached <= target_ - graph_.skip(k + 1)) k = search(reached, bound, e, k);
      if (k == q_ || at > target_ - graph_.skip(k + 1)) return k;
      bound = reached;
      found_[index(k++)] = static_cast<std::int8_t>(e);
      unlink(e);
      if (k == q_) return k;
    }
    return k;
  }

  // The indices not yet used form a list from q down to 0, so that a search skips the others.
  void unlink(int e) {
    if (previous_[index(e)] != -1) next_[index(previous_[index(e)])] = next_[index(e)];
    if (next_[index(e)] != -1) previous_[index(next_[index(e)])] = previous_[index(e)];
  }

  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  const Circulant& graph_;
  int q_;
  std::int64_t target_;
  std::array<int, kMaxLog + 1> next_, previous_;
  Circulant::Receives found_{};
};

}  // namespace

Circulant::Receives Circulant::receive_schedule(int rank) const {
  return ReceiveSearch(*this, rank).found();
}

CirculantBroadcast::CirculantBroadcast(int size, int rank, Count blocks)
    : graph_(size), rank_(rank), blocks_(blocks) {
  const int q = graph_.rounds();
  rounds_ = size == 1 || blocks == 0 ? 0 : blocks - 1 + q;
  if (rounds_ == 0) return;
  idle_ = (q - rounds_ % q) % q;
  own_ = graph_.receive_schedule(rank);
  for (int k = 0; k < q; ++k) {
    const std::int64_t to = std::int64_t{rank} + graph_.skip(k);
    next_[static_cast<std::size_t>(k)] = graph_.receive_schedule(static_cast<int>(to % size));
  }
}

BroadcastRound CirculantBroadcast::round(Count i) const {
  i += idle_;
  const int p = graph_.size();
  const auto k = static_cast<int>(i % graph_.rounds());
  const int skip = graph_.skip(k);
  const int to = rank_ >= p - skip ? rank_ - (p - skip) : rank_ + skip;
  const int from = rank_ >= skip ? rank_ - skip : rank_ + (p - skip);
  return {.to = to,
          .from = from,
          .sent = to == 0 ? -1 : block(next_[static_cast<std::size_t>(k)], i),
          .received = rank_ == 0 ? -1 : block(own_, i)};
}

int CirculantBroadcast::idle_rank(Count i) const {
  return graph_.size() - graph_.skip(static_cast<int>((i + idle_) % graph_.rounds()));
}

// Round i, idle rounds counted. Phases advance by q blocks, and the last one counts from block n -
// 1: there a rank's base block, and no other, lies beyond the end, and stands for the last block.
// So that one too is delivered once.
Count CirculantBroadcast::block(const Circulant::Receives& schedule, Count i) const {
  const int q = graph_.rounds();
  const Count block = schedule[static_cast<std::size_t>(i % q)] + i / q * q - idle_;
  return std::clamp<Count>(block, -1, blocks_ - 1);
}

}  // namespace unisono
