// Walks through the calls of all ranks as an adversary who decides which message arrives when, and
// counts what is under way at the ports of their hosts, a rank on each.
#pragma once
#include <algorithm>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "schedule/schedule.h"

namespace unisono {

/// The most units that were under way at any port while more than one connection had some: of
/// messages that their senders had begun to send, and their receivers had not taken completely. A
/// connection that has a port to itself fills it no faster than the port drains.
struct PortPeaks {
  Count out = 0;
  Count in = 0;
  bool complete = false;  ///< all ranks have made all their calls
};

/// Sends count as done at once, as the MPI library may buffer them: so a rank runs ahead as far as
/// the schedules let it, into the next calls.
class PortWalk {
 public:
  /// Which messages arrive last: those out of one port or into it, or whichever chance says.
  enum class Late { out_of, into, any };

  /// calls[i][r]: what rank r does in the i-th call.
  explicit PortWalk(const std::vector<std::vector<Schedule>>& calls)
      : calls_(calls.size()), ranks_(calls.empty() ? 0 : calls[0].size()) {
    std::map<std::tuple<std::size_t, int, int, Count>, std::uint32_t> numbers;
    for (std::size_t call = 0; call < calls.size(); ++call) {
      for (std::size_t r = 0; r < ranks_; ++r) {
        Part& part = calls_[call].emplace_back(calls[call][r]);
        const auto ops = part.schedule->ops();
        for (OpId id = 0; id < ops.size(); ++id) {
          const Op& op = ops[id];
          if (!op.is_message()) continue;
          const int own = static_cast<int>(r);
          const bool sends = op.kind == OpKind::send;
          const int from = sends ? own : op.peer, to = sends ? op.peer : own;
          const auto [at, is_new] = numbers.try_emplace(
              {call, from, to, op.position()}, static_cast<std::uint32_t>(messages_.size()));
          if (is_new) messages_.push_back({from, to, op.length});
          part.message[id] = at->second;
          if (!sends) messages_[at->second].receive = id;
        }
      }
    }
  }

  PortPeaks run(Late late, int port, std::mt19937& random) {
    late_ = late, port_ = port;
    begin();
    for (std::size_t r = 0; r < ranks_; ++r) start_call(static_cast<int>(r));
    for (;;) {
      go_on();
      if (free_.empty() && held_.empty()) break;
      // What is not held back arrives in the order of a stack, or of chance.
      std::vector<std::uint32_t>& from = free_.empty() ? held_ : free_;
      const bool by_chance = late == Late::any || free_.empty();
      const std::size_t at = by_chance ? random() % from.size() : from.size() - 1;
      std::swap(from[at], from.back());
      const std::uint32_t message = from.back();
      from.pop_back();
      arrive(message);
    }
    peaks_.complete = std::all_of(at_.begin(), at_.end(),
                                  [this](const At& at) { return at.call == calls_.size(); });
    return peaks_;
  }

  PortPeaks worst(int port, std::mt19937& random, int random_orders) {
    PortPeaks worst{.complete = true};
    const auto note = [&](const PortPeaks& seen) {
      worst.out = std::max(worst.out, seen.out);
      worst.in = std::max(worst.in, seen.in);
      worst.complete = worst.complete && seen.complete;
    };
    for (const Late late : {Late::out_of, Late::into}) note(run(late, port, random));
    for (int i = 0; i < random_orders; ++i) note(run(Late::any, -1, random));
    return worst;
  }

 private:
  struct Part {
    explicit Part(const Schedule& of)
        : schedule(&of), message(of.ops().size()), first_follower(of.ops().size() + 1) {
      const auto n = static_cast<OpId>(of.ops().size());
      for (OpId id = 0; id < n; ++id)
        for (const OpId before : of.dependencies(id)) ++first_follower[before + 1];
      for (OpId id = 0; id < n; ++id) first_follower[id + 1] += first_follower[id];
      followers.resize(first_follower[n]);
      std::vector<std::uint32_t> next(first_follower.begin(), first_follower.end() - 1);
      for (OpId id = 0; id < n; ++id)
        for (const OpId before : of.dependencies(id)) followers[next[before]++] = id;
    }
    const Schedule* schedule;
    std::vector<std::uint32_t> message;  // of each op that is one
    std::vector<std::uint32_t> first_follower;
    std::vector<OpId> followers;
  };
  struct Message {
    int from, to;
    Count length;
    OpId receive = kNoOp;
  };
  struct At {
    std::size_t call = 0;
    std::size_t left = 0;
    std::vector<std::size_t> open;  // of each op: dependencies that are not complete
  };
  struct Port {
    Count units = 0;
    int connections = 0;
    void add(Count before, Count now, Count& peak) {
      units += now - before;
      connections += (now > 0) - (before > 0);
      if (connections > 1) peak = std::max(peak, units);
    }
  };

  void begin() {
    at_.assign(ranks_, {});
    out_.assign(ranks_, {});
    in_.assign(ranks_, {});
    between_.assign(ranks_ * ranks_, 0);
    known_.assign(messages_.size(), 0);
    free_.clear(), held_.clear(), ready_.clear();
    peaks_ = {};
  }

  void start_call(int r) {
    At& at = at_[static_cast<std::size_t>(r)];
    while (at.call < calls_.size()) {
      const Schedule& schedule = *part(r).schedule;
      at.left = schedule.ops().size();
      if (at.left > 0) break;
      ++at.call;
    }
    if (at.call == calls_.size()) return;
    const Schedule& schedule = *part(r).schedule;
    at.open.resize(at.left);
    for (OpId id = 0; id < at.left; ++id) {
      at.open[id] = schedule.dependencies(id).size();
      if (at.open[id] == 0) ready_.push_back({r, id});
    }
  }

  const Part& part(int r) const {
    const auto rank = static_cast<std::size_t>(r);
    return calls_[at_[rank].call][rank];
  }

  void go_on() {
    while (!ready_.empty()) {
      const auto [r, id] = ready_.back();
      ready_.pop_back();
      const Op& op = part(r).schedule->ops()[id];
      if (op.is_message()) meet(part(r).message[id], op.kind == OpKind::send);
      if (op.kind != OpKind::recv) complete(r, id);
    }
  }

  /// A message has been sent, or its receiver is ready for it.
  void meet(std::uint32_t number, bool sent) {
    const Message& message = messages_[number];
    if (sent) under_way(message, message.length);
    if (++known_[number] < 2) return;
    const bool is_held = message.length > 0 && ((late_ == Late::out_of && message.from == port_) ||
                                                (late_ == Late::into && message.to == port_));
    (is_held ? held_ : free_).push_back(number);
  }

  void arrive(std::uint32_t number) {
    const Message& message = messages_[number];
    under_way(message, -message.length);
    complete(message.to, message.receive);
  }

  void under_way(const Message& message, Count change) {
    const auto from = static_cast<std::size_t>(message.from);
    const auto to = static_cast<std::size_t>(message.to);
    Count& now = between_[from * ranks_ + to];
    const Count before = now;
    now += change;
    out_[from].add(before, now, peaks_.out);
    in_[to].add(before, now, peaks_.in);
  }

  void complete(int r, OpId id) {
    At& at = at_[static_cast<std::size_t>(r)];
    const Part& of = part(r);
    for (auto i = of.first_follower[id]; i < of.first_follower[id + 1]; ++i)
      if (--at.open[of.followers[i]] == 0) ready_.push_back({r, of.followers[i]});
    if (--at.left > 0) return;
    ++at.call;
    start_call(r);
  }

  std::vector<std::vector<Part>> calls_;
  std::size_t ranks_;
  std::vector<Message> messages_;
  // While it runs:
  Late late_ = Late::any;
  int port_ = -1;
  std::vector<At> at_;
  std::vector<Port> out_, in_;
  std::vector<Count> between_;
  std::vector<unsigned char> known_;        // of each message: to none, one or both
  std::vector<std::uint32_t> free_, held_;  // may arrive
  std::vector<std::pair<int, OpId>> ready_;
  PortPeaks peaks_;
};

}  // namespace unisono
