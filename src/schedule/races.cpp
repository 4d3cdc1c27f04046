#include "schedule/races.h"

#include <algorithm>
#include <tuple>

namespace unisono {

namespace {

bool writes(const Op& op) { return op.kind != OpKind::send; }
bool reads_another(const Op& op) { return op.kind == OpKind::copy || op.kind == OpKind::reduce; }

struct Access {
  Slice slice;
  OpId op;
  bool writes;
  Count end() const { return slice.offset + slice.length; }
};

/// By place. Without those to the input, which are all reads.
std::vector<Access> accesses(std::span<const Op> ops) {
  std::vector<Access> all;
  const auto add = [&all](Slice slice, OpId op, bool writes) {
    if (slice.length > 0 && slice.buffer != kInput) all.push_back({slice, op, writes});
  };
  for (OpId id = 0; id < ops.size(); ++id) {
    if (ops[id].kind == OpKind::join) continue;
    add(ops[id].slice(), id, writes(ops[id]));
    if (reads_another(ops[id])) add(ops[id].from(), id, false);
  }
  std::sort(all.begin(), all.end(), [](const Access& a, const Access& b) {
    return std::tie(a.slice.buffer, a.slice.offset) < std::tie(b.slice.buffer, b.slice.offset);
  });
  return all;
}

Slice conflict(const Op& early, const Op& late) {
  const bool in_slice = overlap(early.slice(), late.slice()) && (writes(early) || writes(late));
  const bool is_read = reads_another(late) && overlap(early.slice(), late.from());
  return !in_slice && is_read ? late.from() : late.slice();
}

}  // namespace

Order::Order(const Schedule& schedule) : words_((schedule.ops().size() + 63) / 64) {
  const std::size_t n = schedule.ops().size();
  before_.assign(n * words_, 0);
  for (OpId id = 0; id < n; ++id)
    for (const OpId d : schedule.dependencies(id)) {
      std::uint64_t* row = &before_[id * words_];
      for (std::size_t w = 0; w <= d / 64; ++w) row[w] |= before_[d * words_ + w];
      row[d / 64] |= std::uint64_t{1} << (d % 64);
    }
}

// A sweep over each buffer: only accesses that share a cell are compared.
std::optional<Race> first_race(std::span<const Op> ops, const Order& order) {
  std::optional<Race> first;
  const auto all = accesses(ops);
  std::vector<const Access*> open;
  for (const Access& access : all) {
    std::erase_if(open, [&](const Access* other) { return !overlap(other->slice, access.slice); });
    for (const Access* other : open) {
      if (other->op == access.op || !(other->writes || access.writes)) continue;
      const auto [early, late] = std::minmax(other->op, access.op);
      if (order.is_before(early, late)) continue;
      if (!first || std::tie(late, early) < std::tie(first->late, first->early))
        first = {late, early, conflict(ops[early], ops[late])};
    }
    open.push_back(&access);
  }
  return first;
}

}  // namespace unisono
