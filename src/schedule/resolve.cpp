#include "schedule/resolve.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

namespace unisono {

namespace {

/// A rank's schedule while it is being bound.
class Draft {
 public:
  Draft(const Schedule& schedule, int rank);

  /// The server: all serves and what they write.
  void serve(const Arrivals& sets);
  /// Another rank: what the server has written to it.
  void read(const Draft& server);
  Schedule finish() &&;

 private:
  void bind_message(OpId id, int server);
  OpId find(OpKind kind, int peer) const;
  void skip(OpId id) {
    ops_[id] = {};
    skipped_[id] = true;
  }
  void drop_skipped();

  const Schedule& schedule_;
  int rank_;
  std::vector<Op> ops_;
  std::vector<std::vector<OpId>> after_;
  std::vector<bool> skipped_;  // joins by now; gone when nothing waits for them
  std::vector<std::int32_t> slots_;
};

Draft::Draft(const Schedule& schedule, int rank)
    : schedule_(schedule),
      rank_(rank),
      ops_(schedule.ops().begin(), schedule.ops().end()),
      skipped_(ops_.size()),
      slots_(schedule.slots(), kNobody) {
  for (OpId id = 0; id < ops_.size(); ++id) {
    const auto dependencies = schedule.dependencies(id);
    after_.emplace_back(dependencies.begin(), dependencies.end());
  }
}

OpId Draft::find(OpKind kind, int peer) const {
  for (OpId id = 0; id < ops_.size(); ++id)
    if (schedule_.ops()[id].kind == kind && schedule_.ops()[id].peer == peer) return id;
  return kNoOp;
}

void Draft::serve(const Arrivals& sets) {
  std::size_t next = 0;
  std::vector<OpId> stand_in(ops_.size());  // of an enqueue: the serve that takes it
  std::iota(stand_in.begin(), stand_in.end(), OpId{0});
  for (OpId id = 0; id < ops_.size(); ++id) {
    if (ops_[id].kind != OpKind::serve) {
      bind_message(id, rank_);
      continue;
    }
    std::vector<OpId> taken;
    if (next < sets.size())
      for (const int peer : sets[next])
        if (const OpId waiting = find(OpKind::enqueue, peer); waiting != kNoOp)
          taken.push_back(waiting);
    ++next;
    schedule_.bind(id, taken, rank_, slots_);
    ops_[id] = {};
    skipped_[id] = taken.empty();
    for (const OpId waiting : taken) {
      after_[id].insert(after_[id].end(), after_[waiting].begin(), after_[waiting].end());
      stand_in[waiting] = id;
      skip(waiting);
    }
  }
  for (auto& earlier : after_)
    for (OpId& id : earlier) id = stand_in[id];
}

void Draft::read(const Draft& server) {
  for (OpId id = 0; id < ops_.size(); ++id) {
    const Op& op = ops_[id];
    if (op.kind == OpKind::recv && op.buffer == kSlots) {
      if (const OpId sent = server.find(OpKind::send, rank_); sent != kNoOp)
        std::copy_n(server.slots_.begin() + server.schedule_.ops()[sent].offset, op.length,
                    slots_.begin() + op.offset);
    }
    bind_message(id, server.rank_);
  }
}

void Draft::bind_message(OpId id, int server) {
  Op& op = ops_[id];
  if (op.is_message() && op.buffer == kSlots) {
    op.buffer = kInput;
    op.offset = op.length = 0;
  }
  if (!op.is_bound()) return;
  op.peer = slots_[static_cast<std::size_t>(op.slot())];
  if (op.peer == kNobody) return skip(id);
  const int sender = op.kind == OpKind::send ? rank_ : op.peer;
  if (sender != server) --op.from_offset;
}

// One that something waits for stays, as a join.
void Draft::drop_skipped() {
  std::vector<std::size_t> dependents(ops_.size());
  for (const auto& earlier : after_)
    for (const OpId id : earlier) ++dependents[id];
  for (auto id = static_cast<OpId>(ops_.size()); id-- > 0;) {
    skipped_[id] = skipped_[id] && dependents[id] == 0;
    if (skipped_[id])
      for (const OpId earlier : after_[id]) --dependents[earlier];
  }
}

// What waited for an enqueue waits for a serve behind it: so the ops are put into an order in which
// they can start, the program's as far as it is one.
Schedule Draft::finish() && {
  drop_skipped();
  std::vector<std::size_t> open(ops_.size());
  std::vector<std::vector<OpId>> followers(ops_.size());
  std::priority_queue<OpId, std::vector<OpId>, std::greater<>> ready;
  for (OpId id = 0; id < ops_.size(); ++id) {
    if (skipped_[id]) continue;
    open[id] = after_[id].size();
    for (const OpId earlier : after_[id]) followers[earlier].push_back(id);
    if (open[id] == 0) ready.push(id);
  }
  std::vector<Op> ops;
  std::vector<std::uint32_t> first_dep{0};
  std::vector<OpId> deps, placed(ops_.size(), kNoOp);
  while (!ready.empty()) {
    const OpId id = ready.top();
    ready.pop();
    placed[id] = static_cast<OpId>(ops.size());
    ops.push_back(ops_[id]);
    for (const OpId earlier : after_[id]) deps.push_back(placed[earlier]);
    std::sort(deps.begin() + first_dep.back(), deps.end());
    first_dep.push_back(static_cast<std::uint32_t>(deps.size()));
    for (const OpId next : followers[id])
      if (--open[next] == 0) ready.push(next);
  }
  return {std::move(ops),
          std::move(first_dep),
          std::move(deps),
          {schedule_.scratch().begin(), schedule_.scratch().end()},
          {schedule_.group_calls().begin(), schedule_.group_calls().end()}};
}

bool serves(const Schedule& schedule) {
  return std::any_of(schedule.ops().begin(), schedule.ops().end(),
                     [](const Op& op) { return op.kind == OpKind::serve; });
}

}  // namespace

Arrivals all_waiting(int size, int server, int late) {
  std::vector<int> others;
  for (int i = 1; i < size; ++i)
    if (const int rank = (server + i) % size; rank != late) others.push_back(rank);
  Arrivals sets;
  if (!others.empty()) sets.push_back(std::move(others));
  if (late >= 0 && late < size && late != server) sets.push_back({late});
  return sets;
}

std::vector<Schedule> resolve(std::vector<Schedule> schedules, const Arrivals& sets) {
  const auto server = std::find_if(schedules.begin(), schedules.end(), serves);
  if (server == schedules.end()) return schedules;
  const auto rank = static_cast<int>(server - schedules.begin());
  Draft all(*server, rank);
  all.serve(sets);
  std::vector<Schedule> result;
  for (std::size_t r = 0; r < schedules.size(); ++r) {
    Draft own(schedules[r], static_cast<int>(r));
    own.read(all);
    result.push_back(std::move(own).finish());
  }
  result[static_cast<std::size_t>(rank)] = std::move(all).finish();
  return result;
}

}  // namespace unisono
