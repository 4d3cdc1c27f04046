#include "patterns/exchange_run.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "patterns/partition.h"

namespace unisono {

// ---- parts --------------------------------------------------------------------------------------

PartRun::PartRun(Builder& b, const Butterfly& butterfly, int rank, std::vector<Count> begin)
    : b_(b),
      in_rings_(butterfly.form() == RingForm::whole),
      exchanges_(butterfly.exchanges(rank)),
      begin_(std::move(begin)),
      position_(butterfly.position(rank)),
      first_(position_) {}

void PartRun::start(Slice own) {
  held_ = own;
  first_ = 0;
  width_ = static_cast<int>(begin_.size()) - 1;
}

void PartRun::reduce(int step) {
  const Exchange& exchange = exchanges_[static_cast<std::size_t>(step)];
  width_ /= static_cast<int>(exchange.ranks.size());
  if (in_rings_)
    reduce_round(exchange);
  else
    reduce_directly(exchange);
  first_ += exchange.self * width_;
}

Slice PartRun::incoming(std::size_t i, Count length) {
  if (i == incoming_.size()) incoming_.push_back(b_.scratch(length));
  return incoming_[i].part(0, length);  // what is kept only becomes less
}

void PartRun::reduce_directly(const Exchange& exchange) {
  const auto radix = static_cast<int>(exchange.ranks.size());
  const auto part = [&](int i) {
    const Count begin = before(first_);
    const int at = first_ + i * width_;
    return held_.part(before(at) - begin, before(at + width_) - before(at));
  };
  for (int i = 0; i < radix; ++i)
    if (i != exchange.self) b_.send(exchange.ranks[static_cast<std::size_t>(i)], part(i));
  Slice kept = part(exchange.self);
  std::size_t buffer = 1;
  for (int i = 0; i < radix; ++i) {
    if (i == exchange.self) continue;
    const Slice term = writable_ ? incoming(buffer++, kept.length) : incoming(0, kept.length);
    b_.recv(exchange.ranks[static_cast<std::size_t>(i)], term);
    if (writable_) {
      b_.reduce(term, kept);
    } else {
      b_.reduce(kept, term);
      kept = term;
      writable_ = true;
    }
  }
  held_ = kept;
}

// As ring_reduce_scatter(): part i starts at member i + 1 and collects the others' on its way.
void PartRun::reduce_round(const Exchange& exchange) {
  const auto n = static_cast<int>(exchange.ranks.size());
  const auto wrap = [n](int i) { return (i % n + n) % n; };
  const auto rank = [&](int i) { return exchange.ranks[static_cast<std::size_t>(wrap(i))]; };
  const auto part = [&](int i) {
    const int at = first_ + wrap(i) * width_;
    return held_.part(before(at) - before(first_), before(at + width_) - before(at));
  };
  Count longest = 0;
  for (int i = 0; i < n; ++i) longest = std::max(longest, part(i).length);
  const Slice buffers[] = {b_.scratch(longest), b_.scratch(longest)};
  const int self = exchange.self;
  Slice passed = part(self - 1);
  for (int s = 0; s < n - 1; ++s) {
    const Slice own = part(self - 2 - s);
    const Slice sum = buffers[s % 2].part(0, own.length);
    for (const Slice segment : segments(passed, b_.args())) b_.send(rank(self + 1), segment);
    for (const Slice segment : segments(sum, b_.args())) {
      b_.recv(rank(self - 1), segment);
      b_.reduce(own.part(segment.offset - sum.offset, segment.length), segment);
    }
    passed = sum;
  }
  held_ = passed;
}

void PartRun::start_gather(Slice all) {
  all_ = all;
  first_ = position_;
  width_ = 1;
}

Slice PartRun::own_part(Slice all) const { return parts(all, position_, position_ + 1); }

void PartRun::gather(int step) {
  const Exchange& exchange = exchanges_[static_cast<std::size_t>(step)];
  const auto n = static_cast<int>(exchange.ranks.size());
  const int self = exchange.self;
  first_ -= self * width_;
  const auto rank = [&](int i) { return exchange.ranks[static_cast<std::size_t>((i + n) % n)]; };
  const auto part = [&](int i) {
    const int at = first_ + (i + n) % n * width_;
    return parts(all_, at, at + width_);
  };
  if (in_rings_) {
    for (int s = 0; s < n - 1; ++s) {
      for (const Slice segment : segments(part(self - s), b_.args()))
        b_.send(rank(self + 1), segment);
      for (const Slice segment : segments(part(self - 1 - s), b_.args()))
        b_.recv(rank(self - 1), segment);
    }
  } else {
    for (int i = 0; i < n; ++i)
      if (i != self) b_.send(rank(i), part(self));
    for (int i = 0; i < n; ++i)
      if (i != self) b_.recv(rank(i), part(i));
  }
  width_ *= n;
}

// ---- whole vectors ------------------------------------------------------------------------------

std::vector<WholeExchange> whole_exchanges(const Butterfly& butterfly, int rank) {
  std::vector<WholeExchange> result;
  for (const Exchange& exchange : butterfly.exchanges(rank) | std::views::reverse) {
    WholeExchange& whole = result.emplace_back(WholeExchange{exchange.ranks, exchange.self, {}});
    for (const int other : exchange.ranks)
      if (other != rank) whole.to.push_back(other);
  }
  return result;
}

WholeRun::WholeRun(Builder& b, Slice own, Slice workspace)
    : b_(b), value_(own), writable_(own == workspace) {
  if (!writable_ && workspace.length == own.length) free_.push_back(workspace);
}

Slice WholeRun::take() {
  if (free_.empty()) return b_.scratch(value_.length);
  const Slice slice = free_.back();
  free_.pop_back();
  return slice;
}

void WholeRun::step(const WholeExchange& exchange) {
  for (const int rank : exchange.to) b_.send(rank, value_);
  const Slice before = value_;
  std::vector<Slice> terms;
  for (int i = 0; i < std::ssize(exchange.from); ++i) {
    const int from = exchange.from[static_cast<std::size_t>(i)];
    if (i == exchange.self) {
      terms.push_back(before);
    } else if (from >= 0) {
      terms.push_back(take());
      b_.recv(from, terms.back());
    }
  }
  Slice sum = terms[0];
  for (std::size_t i = 1; i < terms.size(); ++i) {
    Slice term = terms[i];
    if (term == before && !writable_) {  // a sum is written into its right operand
      term = take();
      b_.copy(before, term);
    }
    b_.reduce(sum, term);
    if (sum != before || writable_) free_.push_back(sum);
    sum = term;
  }
  if (sum != before) writable_ = true;
  value_ = sum;
}

}  // namespace unisono
