#include "schedule/metrics.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace unisono {

namespace {

struct OpRef {
  std::size_t rank = 0;
  std::size_t op = 0;
};

using Channel = std::tuple<std::size_t, std::size_t, Count>;  // from, to, position

enum Direction : std::size_t { kSends, kReceives };

/// Runs all ranks' ops: one message per port and round, or as many as are ready.
class Run {
 public:
  Run(std::span<const Schedule> schedules, bool one_ported, std::span<const int> late = {});
  Timeline go();
  /// Plays until nothing moves. Returns the last round.
  Count play(Count round);
  void let_in_late();
  const Timeline& timeline() const { return timeline_; }

 private:
  void make_ready(OpRef ref);
  void complete(OpRef ref, Count round);
  bool play_round(Count round);
  void advance(Direction direction, std::size_t rank);

  std::span<const Schedule> schedules_;
  bool one_ported_;
  Timeline timeline_;
  std::size_t unfinished_ = 0;
  std::vector<std::vector<std::uint32_t>> waits_for_;  // dependencies still open
  std::vector<std::vector<std::vector<OpId>>> followers_;
  std::map<Channel, OpRef> receives_;             // ready to receive
  std::array<std::vector<std::size_t>, 2> next_;  // the first message not done, by direction
  std::vector<std::vector<char>> done_;
  std::vector<std::set<std::size_t>> sends_;  // ready to send, in program order
  std::vector<OpRef> absent_;                 // what late ranks could begin with
};

Run::Run(std::span<const Schedule> schedules, bool one_ported, std::span<const int> late)
    : schedules_(schedules), one_ported_(one_ported), sends_(schedules.size()) {
  std::vector<OpRef> free;
  std::vector<bool> is_late(schedules.size());
  for (const int rank : late) is_late[static_cast<std::size_t>(rank)] = true;
  for (std::size_t r = 0; r < schedules.size(); ++r) {
    const std::size_t ops = schedules[r].ops().size();
    unfinished_ += ops;
    timeline_.round.emplace_back(ops, 0);
    followers_.emplace_back(ops);
    waits_for_.emplace_back(ops, 0);
    done_.emplace_back(ops, 0);
    for (std::size_t i = 0; i < ops; ++i) {
      const auto dependencies = schedules[r].dependencies(static_cast<OpId>(i));
      waits_for_[r][i] = static_cast<std::uint32_t>(dependencies.size());
      for (const OpId id : dependencies) followers_[r][id].push_back(static_cast<OpId>(i));
      if (dependencies.empty()) (is_late[r] ? absent_ : free).push_back({r, i});
    }
  }
  for (const OpRef ref : free) make_ready(ref);
  for (const Direction direction : {kSends, kReceives}) {
    next_[direction].assign(schedules.size(), 0);
    for (std::size_t r = 0; r < schedules.size(); ++r) advance(direction, r);
  }
}

void Run::make_ready(OpRef ref) {
  const Op& op = schedules_[ref.rank].ops()[ref.op];
  if (op.kind == OpKind::send) {
    sends_[ref.rank].insert(ref.op);
  } else if (op.kind == OpKind::recv) {
    receives_[{static_cast<std::size_t>(op.peer), ref.rank, op.position()}] = ref;
  } else {
    complete(ref, timeline_.round[ref.rank][ref.op]);
  }
}

void Run::complete(OpRef ref, Count round) {
  std::vector<std::pair<OpRef, Count>> done{{ref, round}};
  while (!done.empty()) {
    const auto [at, when] = done.back();
    done.pop_back();
    timeline_.round[at.rank][at.op] = when;
    timeline_.rounds = std::max(timeline_.rounds, when);
    done_[at.rank][at.op] = 1;
    --unfinished_;
    for (const OpId follower : followers_[at.rank][at.op]) {
      Count& reached = timeline_.round[at.rank][follower];
      reached = std::max(reached, when);
      if (--waits_for_[at.rank][follower] > 0) continue;
      const OpRef next{at.rank, follower};
      if (schedules_[at.rank].ops()[follower].is_message()) {
        make_ready(next);
      } else {
        done.emplace_back(next, reached);
      }
    }
  }
}

// First the messages that come next in the program of both their ranks, which is how the author of
// an algorithm with rounds has arranged them; then whatever else is ready and finds its ports free.
bool Run::play_round(Count round) {
  const std::size_t p = schedules_.size();
  std::vector<char> sending(p, 0);
  std::vector<char> receiving(p, 0);
  std::vector<std::pair<OpRef, OpRef>> messages;
  for (const bool only_next : {true, false})
    for (std::size_t r = 0; r < p; ++r)
      for (auto it = sends_[r].begin(); it != sends_[r].end();) {
        if (one_ported_ && sending[r]) break;
        const std::size_t send = *it;
        const Op& op = schedules_[r].ops()[send];
        const auto peer = static_cast<std::size_t>(op.peer);
        const auto receive = receives_.find({r, peer, op.position()});
        ++it;
        if (receive == receives_.end() || (one_ported_ && receiving[peer])) continue;
        const OpRef into = receive->second;
        if (only_next && (next_[kSends][r] != send || next_[kReceives][peer] != into.op)) continue;
        messages.emplace_back(OpRef{r, send}, into);
        receives_.erase(receive);
        sends_[r].erase(send);
        sending[r] = receiving[peer] = 1;
      }
  // Only now: what a message makes ready takes part in the next round.
  for (const auto& [send, receive] : messages) {
    complete(send, round);
    complete(receive, round);
  }
  for (const auto& [send, receive] : messages) {
    advance(kSends, send.rank);
    advance(kReceives, receive.rank);
  }
  return !messages.empty();
}

void Run::advance(Direction direction, std::size_t rank) {
  const OpKind kind = direction == kSends ? OpKind::send : OpKind::recv;
  std::size_t& next = next_[direction][rank];
  const auto ops = schedules_[rank].ops();
  while (next < ops.size() && (ops[next].kind != kind || done_[rank][next])) ++next;
}

Count Run::play(Count round) {
  while (unfinished_ > 0 && play_round(round + 1)) ++round;
  return round;
}

void Run::let_in_late() {
  for (const OpRef ref : std::exchange(absent_, {})) make_ready(ref);
}

Timeline Run::go() {
  play(0);
  timeline_.complete = unfinished_ == 0;
  return std::move(timeline_);
}

}  // namespace

Timeline one_ported(std::span<const Schedule> schedules) { return Run(schedules, true).go(); }

Remainder after_arrival(std::span<const Schedule> schedules, std::span<const int> late) {
  Run run(schedules, true, late);
  const Count before = run.play(0);
  run.let_in_late();
  Remainder left{.rounds = run.play(before) - before};
  for (std::size_t r = 0; r < schedules.size(); ++r) {
    Count done = before, sent = 0, received = 0;
    for (std::size_t i = 0; i < schedules[r].ops().size(); ++i) {
      const Op& op = schedules[r].ops()[i];
      const Count round = run.timeline().round[r][i];
      done = std::max(done, round);
      if (round <= before || !op.is_message()) continue;
      (op.kind == OpKind::send ? sent : received) += op.length;
    }
    left.rounds_of_rank.push_back(done - before);
    left.units = std::max({left.units, sent, received});
    left.mean_received += static_cast<double>(received) / static_cast<double>(schedules.size());
  }
  return left;
}

Metrics measure(std::span<const Schedule> schedules) {
  Metrics all;
  all.rounds = one_ported(schedules).rounds;
  all.depth = Run(schedules, false).go().rounds;
  for (const Schedule& schedule : schedules) {
    Metrics own;
    for (const Op& op : schedule.ops()) {
      switch (op.kind) {
        case OpKind::send:
          ++own.messages;
          own.sent += op.length;
          break;
        case OpKind::recv: own.received += op.length; break;
        case OpKind::reduce: own.reduced += op.length; break;
        case OpKind::copy: own.copied += op.length; break;
        case OpKind::join:
        case OpKind::library:
        case OpKind::enqueue:
        case OpKind::serve:
        case OpKind::multicast:
        case OpKind::recv_multicast: break;
      }
    }
    for (const Count length : schedule.scratch()) own.scratch += length;
    for (const auto field : {&Metrics::messages, &Metrics::sent, &Metrics::received,
                             &Metrics::reduced, &Metrics::copied, &Metrics::scratch})
      all.*field = std::max(all.*field, own.*field);
  }
  return all;
}

}  // namespace unisono
