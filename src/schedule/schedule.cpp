#include "schedule/schedule.h"

#include <numeric>
#include <utility>

namespace unisono {

Schedule::Schedule(std::vector<Op> ops, std::vector<std::uint32_t> first_dep,
                   std::vector<OpId> deps, std::vector<Count> scratch, std::vector<GroupCall> calls,
                   std::size_t slots, std::vector<RankGroup> groups)
    : ops_(std::move(ops)),
      first_dep_(std::move(first_dep)),
      deps_(std::move(deps)),
      scratch_(std::move(scratch)),
      calls_(std::move(calls)),
      slots_(slots),
      groups_(std::move(groups)) {
  ops_.shrink_to_fit();
  first_dep_.shrink_to_fit();
  deps_.shrink_to_fit();
}

void Schedule::bind(OpId serve, std::span<const OpId> taken, int server,
                    std::span<std::int32_t> slots) const {
  std::int32_t before = server;
  auto behind = static_cast<std::size_t>(ops_[serve].offset);  // where `before` looks for the next
  for (const OpId id : taken) {
    const auto own = static_cast<std::size_t>(ops_[id].offset);
    slots[behind] = ops_[id].peer;
    slots[own] = before;
    before = ops_[id].peer;
    behind = own + 1;
  }
  slots[behind] = kNobody;
}

RankGroup RankGroup::of_all(int size) {
  RankGroup all;
  all.ranks.resize(static_cast<std::size_t>(size));
  std::iota(all.ranks.begin(), all.ranks.end(), 0);
  return all;
}

std::vector<Count> GroupCall::sent_by(int member) const {
  const auto begin = counts.begin() + std::ptrdiff_t{member} * group.size();
  return {begin, begin + group.size()};
}

std::vector<Count> GroupCall::received_by(int member) const {
  std::vector<Count> lengths;
  for (int from = 0; from < group.size(); ++from)
    lengths.push_back(
        counts[static_cast<std::size_t>(std::ptrdiff_t{from} * group.size() + member)]);
  return lengths;
}

std::size_t Schedule::bytes() const {
  std::size_t calls = calls_.capacity() * sizeof(GroupCall);
  for (const GroupCall& call : calls_)
    calls += call.counts.capacity() * sizeof(Count) + call.group.ranks.capacity() * sizeof(int);
  for (const RankGroup& group : groups_)
    calls += sizeof group + group.ranks.capacity() * sizeof(int);
  return sizeof *this + calls + ops_.capacity() * sizeof(Op) +
         first_dep_.capacity() * sizeof first_dep_[0] + deps_.capacity() * sizeof(OpId) +
         scratch_.capacity() * sizeof(Count);
}

}  // namespace unisono
