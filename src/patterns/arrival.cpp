#include "patterns/arrival.h"

#include <algorithm>
#include <mutex>
#include <ranges>
#include <set>
#include <utility>

namespace unisono {

const std::vector<int>* intern(const std::vector<int>& ranks) {
  static std::mutex& mutex = *new std::mutex;
  static auto& all = *new std::set<std::vector<int>>;  // its nodes stay where they are
  const std::lock_guard lock(mutex);
  return &*all.insert(ranks).first;
}

// ---- the order ----------------------------------------------------------------------------------

ArrivalOrder::ArrivalOrder(const Args& args) : size_(args.size) {
  if (args.params.late != nullptr) {
    late_ = *args.params.late;
    std::erase_if(late_, [this](int rank) { return rank >= size_; });
  }
  if (late_.empty()) late_ = {size_ - 1};
  if (std::cmp_equal(late_.size(), size_)) late_.erase(late_.begin());
  sorted_ = late_;
  std::sort(sorted_.begin(), sorted_.end());
}

bool ArrivalOrder::is_late(int rank) const {
  return std::binary_search(sorted_.begin(), sorted_.end(), rank);
}

int ArrivalOrder::rank(int position) const {
  const Rotation others = early();
  if (position < others.size) return others.rank(position);
  return late_[static_cast<std::size_t>(position - others.size)];
}

int ArrivalOrder::position(int rank) const {
  const Rotation others = early();
  if (!is_late(rank)) return others.position(rank);
  const auto found = std::find(late_.begin(), late_.end(), rank);
  return others.size + static_cast<int>(found - late_.begin());
}

int ArrivalOrder::neighbour(int rank, int step, int without) const {
  for (int at = position(rank) + step; at >= 0 && at < size_; at += step)
    if (this->rank(at) != without) return this->rank(at);
  return -1;
}

// ---- sums ---------------------------------------------------------------------------------------

Slice ChainSum::place(Slice segment) {
  if (workspace_.length == 0) return slots_.next(segment.length);
  return workspace_.part(segment.offset - b_.input().offset, segment.length);
}

void ChainSum::receive(int from, Slice sum, std::size_t window) {
  if (received_.size() >= window) b_.after(received_[received_.size() - window]);
  received_.push_back(b_.recv(from, sum));
}

// A sum goes to the left of another: from the last to the first.
Slice ChainSum::add(std::span<const int> from, Slice segment) {
  if (from.empty()) return segment;
  const auto window = static_cast<std::size_t>(b_.args().params.window) * from.size();
  const Slice sum = place(segment);
  receive(from.back(), sum, window);
  for (const int other : from.first(from.size() - 1) | std::views::reverse) {
    const Slice received = others_.next(segment.length);
    receive(other, received, window);
    b_.reduce(received, sum);
  }
  b_.reduce(segment, sum);
  return sum;
}

std::vector<Piece> pieces(const Builder& b, const ArrivalOrder& order) {
  const Partition blocks(b.output(), order.early().size);
  std::vector<Piece> all;
  for (int v = 0; v < blocks.parts(); ++v)
    for (const Slice segment : segments(blocks.block(v), b.args()))
      all.push_back({v, segment.offset - b.output().offset, segment});
  return all;
}

void add_late(Builder& b, const ArrivalOrder& order, std::span<const Piece> pieces,
              const std::function<int(int)>& source) {
  if (!order.is_late(b.rank())) return;
  const bool first = b.rank() == order.late().front();
  const int before = order.before(b.rank());
  const int next = order.after(b.rank());
  ChainSum sums(b, b.args().in_place ? Slice{} : b.output());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Slice own = b.input().part(pieces[i].at, pieces[i].output.length);
    const Slice sum = sums.add(first ? source(static_cast<int>(i)) : before, own);
    next < 0 ? b.copy(sum, pieces[i].output) : b.send(next, sum);
  }
}

}  // namespace unisono
