// Runs the schedules of all ranks on trees, which say in which order contributions are combined.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "algorithms/catalogue.h"

namespace unisono {

/// The number of a tree in its Trees. 0: nothing has been written there.
using Tree = std::uint32_t;

/// Trees whose leaves are the contributions of ranks and whose inner nodes are operations. Equal
/// trees have equal numbers.
class Trees {
 public:
  /// Whether operands may change sides: a sum of floating-point numbers commutes, though it is not
  /// associative.
  enum class Sides : bool { matter, do_not_matter };
  explicit Trees(Sides sides) : sides_(sides) {}

  Tree leaf(int rank) { return numbered(0, static_cast<Tree>(rank)); }
  Tree combined(Tree left, Tree right) {
    if (sides_ == Sides::do_not_matter && left > right) std::swap(left, right);
    return numbered(left, right);
  }

 private:
  Sides sides_;
  std::unordered_map<std::uint64_t, Tree> numbers_;  // a leaf has nothing at its left

  Tree numbered(Tree left, Tree right) {
    const std::uint64_t key = std::uint64_t{left} << 32 | right;
    return numbers_.try_emplace(key, static_cast<Tree>(numbers_.size() + 1)).first->second;
  }
};

/// Goes over all ranks in turn; each does the ops that can run: their dependencies are complete,
/// their messages have arrived. Messages are buffered.
class Interpreter {
 public:
  Interpreter(const std::vector<Args>& args, const Algorithm& row, Trees& trees)
      : trees_(trees), ranks_(args.size()) {
    std::vector<Schedule> schedules = build_all(row, args);
    for (std::size_t r = 0; r < args.size(); ++r) {
      Rank& rank = ranks_[r];
      rank.schedule = std::move(schedules[r]);
      rank.done.resize(rank.schedule.ops().size());
      const std::size_t length = input_length(args[r]);
      const std::vector<Tree> input(length, trees.leaf(static_cast<int>(r)));
      rank.buffers = {input, args[r].in_place ? input : std::vector<Tree>(length), {}};
      for (const Count scratch : rank.schedule.scratch())
        rank.buffers.emplace_back(static_cast<std::size_t>(scratch));
    }
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t r = 0; r < ranks_.size(); ++r) moved = step(static_cast<int>(r)) || moved;
    }
  }

  bool complete() const {
    return std::all_of(ranks_.begin(), ranks_.end(),
                       [](const Rank& rank) { return rank.first == rank.done.size(); });
  }
  /// Of the output buffer.
  const std::vector<Tree>& output(std::size_t rank) const { return ranks_[rank].buffers[kOutput]; }

 private:
  struct Rank {
    Schedule schedule;
    std::vector<bool> done;
    std::size_t first = 0;  // that is not done
    std::vector<std::vector<Tree>> buffers;
  };
  using Message = std::tuple<int, int, Count>;  // from, to, position

  static std::size_t input_length(const Args& args) {
    const bool has_blocks = args.collective == Collective::reduce_scatter ||
                            args.collective == Collective::reduce_scatter_block;
    return static_cast<std::size_t>(has_blocks ? args.recv.total(0, args.size) : args.count);
  }

  bool step(int r) {
    Rank& rank = ranks_[static_cast<std::size_t>(r)];
    bool moved = false;
    for (std::size_t id = rank.first; id < rank.done.size(); ++id) {
      if (!rank.done[id] && can_run(rank, r, static_cast<OpId>(id))) {
        run(r, rank.schedule.ops()[id]);
        rank.done[id] = moved = true;
      }
      if (rank.done[id] && id == rank.first) ++rank.first;
    }
    return moved;
  }

  bool can_run(const Rank& rank, int r, OpId id) const {
    const auto waits_for = rank.schedule.dependencies(id);
    const Op& op = rank.schedule.ops()[id];
    return std::all_of(waits_for.begin(), waits_for.end(),
                       [&](OpId before) { return rank.done[before]; }) &&
           (op.kind != OpKind::recv || messages_.contains({op.peer, r, op.position()}));
  }

  void run(int r, const Op& op) {
    auto& buffers = ranks_[static_cast<std::size_t>(r)].buffers;
    const auto begin = [&](Slice slice) { return &buffers[slice.buffer][0] + slice.offset; };
    Tree* const own = op.kind == OpKind::join ? nullptr : begin(op.slice());
    if (op.kind == OpKind::send) {
      messages_[{r, op.peer, op.position()}] = {own, own + op.length};
    } else if (op.kind == OpKind::recv) {
      const auto message = messages_.extract({op.peer, r, op.position()});
      std::copy(message.mapped().begin(), message.mapped().end(), own);
    } else if (op.kind == OpKind::copy) {
      std::copy_n(begin(op.from()), op.length, own);
    } else if (op.kind == OpKind::reduce) {
      for (Count i = 0; i < op.length; ++i) own[i] = trees_.combined(begin(op.from())[i], own[i]);
    }
  }

  Trees& trees_;
  std::vector<Rank> ranks_;
  std::map<Message, std::vector<Tree>> messages_;
};

}  // namespace unisono
