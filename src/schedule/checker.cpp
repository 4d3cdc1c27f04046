#include "schedule/checker.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "schedule/contributions.h"
#include "schedule/definition.h"
#include "schedule/printer.h"
#include "schedule/races.h"

namespace unisono {

namespace {

/// A cell's content: which cell of the contributions, and of whom. who == 0: undefined.
struct Value {
  std::uint32_t cell = 0;
  SetId who = 0;
  bool operator==(const Value&) const = default;
};

class Check {
 public:
  Check(std::span<const Args> args, std::span<const Schedule> schedules)
      : args_(args),
        schedules_(schedules),
        size_(static_cast<int>(args.size())),
        sets_(size_, !args[0].commutative),
        ranks_(args.size()) {}

  std::optional<Violation> run() {
    for (int r = 0; r < size_ && !violation_; ++r) prepare(r);
    for (int r = 0; r < size_ && !violation_; ++r) check_alone(r);
    if (!violation_) match();
    if (!violation_) execute();
    for (int r = 0; r < size_ && !violation_; ++r) check_result(r);
    return std::move(violation_);
  }

 private:
  struct Rank {
    std::vector<std::vector<Value>> buffers;
    std::vector<OpId> partner;                   // per op; messages only
    std::vector<std::uint32_t> waits_for;        // open dependencies
    std::vector<std::uint32_t> first_dependent;  // of each op, and the end
    std::vector<OpId> dependents;
    std::vector<bool> started, done;
    std::vector<std::vector<bool>> heard;  // barrier: per op, whose arrival it implies
  };

  const Schedule& schedule(int r) const { return schedules_[static_cast<std::size_t>(r)]; }
  Rank& rank(int r) { return ranks_[static_cast<std::size_t>(r)]; }

  void fail(int r, OpId op, Slice cell, std::string what) {
    if (!violation_) violation_ = Violation{r, op, cell, std::move(what)};
  }

  SetId who(const Content& content) {
    switch (content.who) {
      case Content::one: return Contributions::single(content.rank);
      case Content::all_ranks: return sets_.first(size_);
      case Content::ranks_up_to: return sets_.first(content.rank + 1);
      case Content::ranks_before: return sets_.first(content.rank);
    }
    return 0;
  }

  // Buffers as long as what MPI defines in them, the scratch as long as declared.
  void prepare(int r) {
    Rank& me = rank(r);
    me.buffers.resize(kFirstScratch + schedule(r).scratch().size());
    for (std::size_t k = 0; k < schedule(r).scratch().size(); ++k)
      me.buffers[kFirstScratch + k].resize(static_cast<std::size_t>(schedule(r).scratch()[k]));
    const auto reserve = [&](const Content& content) {
      auto& cells = me.buffers[content.slice.buffer];
      const auto end = static_cast<std::size_t>(content.slice.offset + content.slice.length);
      if (content.slice.length > 0 && cells.size() < end) cells.resize(end);
    };
    for (const Content& content : after(args_, r)) reserve(content);
    for (const Content& content : before(args_, r)) {
      reserve(content);
      for (Count i = 0; i < content.slice.length; ++i)
        me.buffers[content.slice.buffer][static_cast<std::size_t>(content.slice.offset + i)] = {
            static_cast<std::uint32_t>(content.first_cell + i), who(content)};
    }
  }

  // ---- what can be seen from one rank's schedule ----

  void check_alone(int r) {
    const auto ops = schedule(r).ops();
    for (OpId id = 0; id < ops.size(); ++id) {
      for (const OpId d : schedule(r).dependencies(id))
        if (d >= id) return fail(r, id, {}, "depends on an op that does not come before it");
      if (ops[id].kind == OpKind::library)
        return fail(r, id, {}, "is the MPI library's: expand() the schedule first");
      if (ops[id].is_multicast())
        return fail(r, id, {}, "goes to many: expand() the schedule first");
      if (ops[id].is_bound() || ops[id].kind == OpKind::enqueue || ops[id].kind == OpKind::serve)
        return fail(r, id, {}, "depends on who arrives when: resolve() the schedules first");
      check_bounds(r, id, ops[id].slice());
      if (ops[id].kind == OpKind::copy || ops[id].kind == OpKind::reduce)
        check_bounds(r, id, ops[id].from());
      if (ops[id].kind != OpKind::send && ops[id].kind != OpKind::join && ops[id].length > 0 &&
          ops[id].buffer == kInput)
        return fail(r, id, ops[id].slice(), "writes into the input");
      if ((ops[id].kind == OpKind::copy || ops[id].kind == OpKind::reduce) &&
          overlap(ops[id].slice(), ops[id].from()))
        return fail(r, id, ops[id].slice(), "reads what it writes");
      if (ops[id].is_message() && (ops[id].peer < 0 || ops[id].peer >= size_ || ops[id].peer == r))
        return fail(r, id, {}, "has no such peer: " + std::to_string(ops[id].peer));
      if (violation_) return;
    }
    const Order order(schedule(r));
    if (const auto race = first_race(ops, order))
      return fail(r, race->late, race->cell, "races with op " + std::to_string(race->early));
    check_channels(r, order);
  }

  void check_bounds(int r, OpId id, Slice slice) {
    const auto& buffers = rank(r).buffers;
    if (slice.length == 0) return;
    if (slice.length < 0 || slice.offset < 0 || slice.buffer >= buffers.size() ||
        static_cast<std::size_t>(slice.offset + slice.length) > buffers[slice.buffer].size())
      fail(r, id, slice, "is out of bounds");
  }

  // Positions count up, and message k comes after message k - kChannelDepth is complete.
  void check_channels(int r, const Order& order) {
    std::vector<Count> sent(static_cast<std::size_t>(size_)), received(sent);
    const auto ops = schedule(r).ops();
    for (OpId id = 0; id < ops.size(); ++id) {
      if (!ops[id].is_message()) continue;
      const auto peer = static_cast<std::size_t>(ops[id].peer);
      Count& next = ops[id].kind == OpKind::send ? sent[peer] : received[peer];
      if (ops[id].position() != next)
        return fail(r, id, {},
                    "has position " + std::to_string(ops[id].position()) +
                        " on its channel, where " + std::to_string(next) + " is next");
      ++next;
      if (ops[id].position() < kChannelDepth) continue;
      const auto early = std::find_if(ops.begin(), ops.end(), [&](const Op& op) {
        return op.kind == ops[id].kind && op.peer == ops[id].peer &&
               op.position() == ops[id].position() - kChannelDepth;
      });
      if (!order.is_before(static_cast<OpId>(early - ops.begin()), id))
        return fail(r, id, {},
                    "may be under way with more than " + std::to_string(kChannelDepth) +
                        " messages on its channel");
    }
  }

  // ---- all ranks together ----

  void match() {
    std::vector<std::vector<OpId>> sends(ranks_.size() * ranks_.size());
    const auto key = [&](int from, int to) {
      return static_cast<std::size_t>(from) * ranks_.size() + static_cast<std::size_t>(to);
    };
    for (int r = 0; r < size_; ++r) {
      rank(r).partner.assign(schedule(r).ops().size(), kNoOp);
      for (OpId id = 0; id < schedule(r).ops().size(); ++id)
        if (const Op& op = schedule(r).ops()[id]; op.kind == OpKind::send)
          sends[key(r, op.peer)].push_back(id);
    }
    for (int r = 0; r < size_; ++r)
      for (OpId id = 0; id < schedule(r).ops().size(); ++id) {
        const Op& op = schedule(r).ops()[id];
        if (op.kind != OpKind::recv) continue;
        const auto& channel = sends[key(op.peer, r)];
        const auto position = static_cast<std::size_t>(op.position());
        if (position >= channel.size())
          return fail(r, id, op.slice(),
                      "waits for a message that rank " + std::to_string(op.peer) + " never sends");
        const OpId other = channel[position];
        const Count sent = schedule(op.peer).ops()[other].length;
        if (sent != op.length)
          return fail(r, id, op.slice(),
                      "receives " + std::to_string(op.length) + " units where rank " +
                          std::to_string(op.peer) + " sends " + std::to_string(sent));
        rank(r).partner[id] = other;
        rank(op.peer).partner[other] = id;
      }
    for (int r = 0; r < size_; ++r)
      for (OpId id = 0; id < schedule(r).ops().size(); ++id)
        if (const Op& op = schedule(r).ops()[id];
            op.kind == OpKind::send && rank(r).partner[id] == kNoOp)
          return fail(r, id, op.slice(),
                      "sends a message that rank " + std::to_string(op.peer) + " never receives");
  }

  void execute() {
    for (int r = 0; r < size_; ++r) {
      Rank& me = rank(r);
      const std::size_t n = schedule(r).ops().size();
      me.waits_for.assign(n, 0);
      add_dependents(r);
      me.started.assign(n, false);
      me.done.assign(n, false);
      if (args_[0].collective == Collective::barrier)
        me.heard.assign(n, std::vector<bool>(static_cast<std::size_t>(size_)));
      for (OpId id = 0; id < n; ++id) {
        me.waits_for[id] = static_cast<std::uint32_t>(schedule(r).dependencies(id).size());
        if (me.waits_for[id] == 0) startable_.emplace_back(r, id);
      }
    }
    for (std::size_t next = 0; next < startable_.size() && !violation_; ++next) {
      const auto [r, id] = startable_[next];
      start(r, id);
    }
    for (int r = 0; r < size_ && !violation_; ++r)
      for (OpId id = 0; id < schedule(r).ops().size(); ++id)
        if (rank(r).started[id] && !rank(r).done[id]) {
          const Op& op = schedule(r).ops()[id];
          return fail(r, id, op.slice(),
                      "deadlocks without buffering: op " + std::to_string(rank(r).partner[id]) +
                          " of rank " + std::to_string(op.peer) + " never starts");
        }
  }

  /// The dependencies turned round.
  void add_dependents(int r) {
    Rank& me = rank(r);
    const std::size_t n = schedule(r).ops().size();
    me.first_dependent.assign(n + 1, 0);
    for (OpId id = 0; id < n; ++id)
      for (const OpId d : schedule(r).dependencies(id)) ++me.first_dependent[d + 1];
    std::partial_sum(me.first_dependent.begin(), me.first_dependent.end(),
                     me.first_dependent.begin());
    me.dependents.resize(me.first_dependent[n]);
    auto next = me.first_dependent;
    for (OpId id = 0; id < n; ++id)
      for (const OpId d : schedule(r).dependencies(id)) me.dependents[next[d]++] = id;
  }

  void start(int r, OpId id) {
    const Op& op = schedule(r).ops()[id];
    rank(r).started[id] = true;
    if (op.is_message()) {
      const OpId other = rank(r).partner[id];
      if (!rank(op.peer).started[other]) return;
      const bool sending = op.kind == OpKind::send;
      transfer(sending ? r : op.peer, sending ? id : other, sending ? op.peer : r,
               sending ? other : id);
      complete(op.peer, other);
    } else if (op.kind == OpKind::copy) {
      move(r, id, op.from(), r, op.slice());
    } else if (op.kind == OpKind::reduce) {
      reduce(r, id, op);
    }
    complete(r, id);
  }

  void complete(int r, OpId id) {
    Rank& me = rank(r);
    me.done[id] = true;
    if (!me.heard.empty()) {
      me.heard[id][static_cast<std::size_t>(r)] = true;
      for (const OpId d : schedule(r).dependencies(id))
        for (std::size_t i = 0; i < me.heard[id].size(); ++i)
          if (me.heard[d][i]) me.heard[id][i] = true;
    }
    for (auto i = me.first_dependent[id]; i < me.first_dependent[id + 1]; ++i)
      if (--me.waits_for[me.dependents[i]] == 0) startable_.emplace_back(r, me.dependents[i]);
  }

  void transfer(int from, OpId sent, int to, OpId received) {
    if (!rank(to).heard.empty()) {  // a barrier: the receiver learns what the sender's past implies
      auto& learns = rank(to).heard[received];
      learns[static_cast<std::size_t>(from)] = true;
      for (const OpId d : schedule(from).dependencies(sent))
        for (std::size_t i = 0; i < learns.size(); ++i)
          if (rank(from).heard[d][i]) learns[i] = true;
    }
    move(from, sent, schedule(from).ops()[sent].slice(), to, schedule(to).ops()[received].slice());
  }

  Value* at(int r, Slice slice, Count i) {
    return &rank(r).buffers[slice.buffer][static_cast<std::size_t>(slice.offset + i)];
  }

  void move(int from_rank, OpId reader, Slice from, int to_rank, Slice into) {
    for (Count i = 0; i < from.length; ++i) {
      const Value value = *at(from_rank, from, i);
      if (value.who == 0)
        return fail(from_rank, reader, from.part(i, 1), "reads what nobody wrote");
      *at(to_rank, into, i) = value;
    }
  }

  void reduce(int r, OpId id, const Op& op) {
    for (Count i = 0; i < op.length; ++i) {
      const Value left = *at(r, op.from(), i);
      Value& right = *at(r, op.slice(), i);
      if (left.who == 0) return fail(r, id, op.from().part(i, 1), "reads what nobody wrote");
      if (right.who == 0) return fail(r, id, op.slice().part(i, 1), "reads what nobody wrote");
      if (left.cell != right.cell)
        return fail(r, id, op.slice().part(i, 1),
                    "combines cell " + std::to_string(left.cell) + " with cell " +
                        std::to_string(right.cell));
      const auto both = sets_.merge(left.who, right.who);
      if (!both)
        return fail(r, id, op.slice().part(i, 1),
                    "may not combine " + sets_.text(left.who) + " (+) " + sets_.text(right.who));
      right.who = *both;
    }
  }

  void check_result(int r) {
    for (const Content& content : after(args_, r)) {
      const SetId wanted = who(content);
      for (Count i = 0; i < content.slice.length; ++i) {
        const Value value = *at(r, content.slice, i);
        const auto cell = static_cast<std::uint32_t>(content.first_cell + i);
        if (value == Value{cell, wanted}) continue;
        return fail(r, kNoOp, content.slice.part(i, 1),
                    "holds " + sets_.text(value.who) + " of cell " + std::to_string(value.cell) +
                        " where MPI defines " + sets_.text(wanted) + " of cell " +
                        std::to_string(cell));
      }
    }
    if (args_[0].collective != Collective::barrier) return;
    for (int i = 0; i < size_; ++i) {
      const auto& heard = rank(r).heard;
      if (i != r && std::none_of(heard.begin(), heard.end(), [&](const auto& of_op) {
            return of_op[static_cast<std::size_t>(i)];
          }))
        return fail(r, kNoOp, {}, "may leave before rank " + std::to_string(i) + " has arrived");
    }
  }

  std::span<const Args> args_;
  std::span<const Schedule> schedules_;
  int size_;
  Contributions sets_;
  std::vector<Rank> ranks_;
  std::vector<std::pair<int, OpId>> startable_;  // in the order in which they became so
  std::optional<Violation> violation_;
};

}  // namespace

std::string Violation::text() const {
  std::string out = "rank " + std::to_string(rank);
  out += op == kNoOp ? std::string(", at the end") : ", op " + std::to_string(op);
  if (cell.length > 0) {
    out += ", " + buffer_name(cell.buffer) + "[" + std::to_string(cell.offset);
    if (cell.length > 1) out += ".." + std::to_string(cell.offset + cell.length - 1);
    out += "]";
  }
  return out + ": " + what;
}

std::optional<Violation> check(std::span<const Args> args, std::span<const Schedule> schedules) {
  return Check(args, schedules).run();
}

}  // namespace unisono
