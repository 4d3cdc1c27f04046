#include "patterns/butterfly_collectives.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <utility>

#include "patterns/accumulator.h"
#include "patterns/blocks.h"
#include "patterns/partition.h"

namespace unisono {

namespace {

using Butterflies = std::span<const Butterfly>;

/// Whoever does not work sends what it has and gets the result.
bool left_to_worker(Builder& b, const Butterfly& butterfly) {
  const int worker = butterfly.worker(b.rank());
  if (worker == b.rank()) return false;
  b.send(worker, b.input());
  b.recv(worker, b.output());
  return true;
}

/// The own vector, and those of the ranks that this one works for, added.
Slice input_of_worker(Builder& b, const std::vector<int>& helped, Slice workspace) {
  Accumulator sum(b, b.input(), workspace, false);
  for (const int rank : helped) sum.receive(rank, Side::right);
  return sum.value();
}

// The steps of all runs in turn: what goes between two ranks has one order on both.
void reduce(std::deque<PartRun>& runs) {
  for (int i = 0; i < runs.front().steps(); ++i)
    for (PartRun& run : runs) run.reduce(i);
}

void gather(std::deque<PartRun>& runs) {
  for (int i = runs.front().steps() - 1; i >= 0; --i)
    for (PartRun& run : runs) run.gather(i);
}

/// Where the parts of a vector begin that is cut in nearly equal ones.
std::vector<Count> equal_cut(Slice vector, int parts) {
  std::vector<Count> begin;
  for (int i = 0; i <= parts; ++i) begin.push_back(blocks_of(vector, 0, i, parts).length);
  return begin;
}

void run_whole(Builder& b, Slice own, std::span<const std::vector<WholeExchange>> steps) {
  const auto shares = static_cast<int>(steps.size());
  std::vector<WholeRun> runs;
  for (int i = 0; i < shares; ++i)
    runs.emplace_back(b, block_of(own, i, shares), block_of(b.output(), i, shares));
  std::size_t most = 0;
  for (const auto& list : steps) most = std::max(most, list.size());
  for (std::size_t step = 0; step < most; ++step)
    for (std::size_t i = 0; i < runs.size(); ++i)
      if (step < steps[i].size()) runs[i].step(steps[i][step]);
  for (int i = 0; i < shares; ++i)
    b.copy(runs[static_cast<std::size_t>(i)].sum(), block_of(b.output(), i, shares));
}

/// The blocks of all ranks by the positions of a butterfly: those of a worker and of whom it works
/// for lie together.
class BlocksByPosition {
 public:
  BlocksByPosition(const Butterfly& butterfly, int size) : order_(static_cast<std::size_t>(size)) {
    std::vector<int> position;
    for (int rank = 0; rank < size; ++rank)
      position.push_back(butterfly.position(butterfly.worker(rank)));
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) {
      return position[static_cast<std::size_t>(a)] < position[static_cast<std::size_t>(b)];
    });
    place_.resize(order_.size());
    first_.assign(static_cast<std::size_t>(butterfly.positions()) + 1, 0);
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const auto rank = static_cast<std::size_t>(order_[i]);
      place_[rank] = static_cast<int>(i);
      ++first_[static_cast<std::size_t>(position[rank]) + 1];
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
  }

  int rank(int place) const { return order_[static_cast<std::size_t>(place)]; }
  int place(int rank) const { return place_[static_cast<std::size_t>(rank)]; }
  /// Where positions begin, for blocks of these lengths by place.
  std::vector<Count> begin(std::span<const Count> lengths) const {
    std::vector<Count> before(lengths.size() + 1, 0);
    std::partial_sum(lengths.begin(), lengths.end(), before.begin() + 1);
    std::vector<Count> begin;
    for (const int place : first_) begin.push_back(before[static_cast<std::size_t>(place)]);
    return begin;
  }

 private:
  std::vector<int> order_, place_;
  std::vector<int> first_;  // place of each position's first block
};

/// One butterfly's share of every block, by place: how long it is, and where in the user's buffer.
struct Shares {
  Shares(const BlocksByPosition& blocks, const Layout& layout, int size, int share, int shares) {
    for (int place = 0; place < size; ++place) {
      const int rank = blocks.rank(place);
      const Slice part =
          block_of({kOutput, layout.offset(rank), layout.length(rank)}, share, shares);
      counts.push_back(part.length);
      displs.push_back(part.offset);
    }
  }
  Layout layout() const { return {0, counts, displs}; }

  std::vector<Count> counts, displs;
};

}  // namespace

// ---- allreduce ----------------------------------------------------------------------------------

void parts_allreduce(Builder& b, Butterflies butterflies) {
  const Butterfly& any = butterflies.front();
  if (left_to_worker(b, any)) return;
  const std::vector<int> helped = any.helped(b.rank());
  const Slice own = input_of_worker(b, helped, b.output());
  const auto shares = static_cast<int>(butterflies.size());
  std::deque<PartRun> runs;
  for (int i = 0; i < shares; ++i) {
    const Slice share = block_of(own, i, shares);
    runs.emplace_back(b, butterflies[static_cast<std::size_t>(i)], b.rank(),
                      equal_cut(share, any.positions()));
    runs.back().start(share);
  }
  reduce(runs);
  for (int i = 0; i < shares; ++i) {
    PartRun& run = runs[static_cast<std::size_t>(i)];
    const Slice all = block_of(b.output(), i, shares);
    b.copy(run.sum(), run.own_part(all));
    run.start_gather(all);
  }
  gather(runs);
  for (const int rank : helped) b.send(rank, b.output());
}

void whole_allreduce(Builder& b, Butterflies butterflies) {
  const Butterfly& any = butterflies.front();
  if (left_to_worker(b, any)) return;
  const std::vector<int> helped = any.helped(b.rank());
  std::vector<std::vector<WholeExchange>> steps;
  for (const Butterfly& butterfly : butterflies)
    steps.push_back(whole_exchanges(butterfly, b.rank()));
  run_whole(b, input_of_worker(b, helped, b.output()), steps);
  for (const int rank : helped) b.send(rank, b.output());
}

void whole_allreduce(Builder& b, std::span<const std::vector<WholeExchange>> steps) {
  run_whole(b, b.input(), steps);
}

// ---- blocks -------------------------------------------------------------------------------------

void parts_reduce_scatter(Builder& b, Butterflies butterflies) {
  const Args& args = b.args();
  const Butterfly& any = butterflies.front();
  const auto shares = static_cast<int>(butterflies.size());
  if (const int worker = any.worker(args.rank); worker != args.rank) {
    b.send(worker, b.input());
    for (int i = 0; i < shares; ++i) b.recv(worker, block_of(b.output(), i, shares));
    return;
  }
  const std::vector<int> helped = any.helped(args.rank);
  const Partition input =
      Partition(b.input(), args.recv, args.size).in(input_of_worker(b, helped, {}));
  std::deque<PartRun> runs;
  for (int i = 0; i < shares; ++i) {
    const Butterfly& butterfly = butterflies[static_cast<std::size_t>(i)];
    const BlocksByPosition blocks(butterfly, args.size);
    const auto share = [&](int place) {
      return block_of(input.block(blocks.rank(place)), i, shares);
    };
    std::vector<Count> lengths;
    for (int place = 0; place < args.size; ++place) lengths.push_back(share(place).length);
    const Slice ordered = b.scratch(std::accumulate(lengths.begin(), lengths.end(), Count{0}));
    Count at = 0;
    copy_blocks(b, args.size, share, [&](int place) {
      const Count length = lengths[static_cast<std::size_t>(place)];
      return ordered.part(std::exchange(at, at + length), length);
    });
    runs.emplace_back(b, butterfly, args.rank, blocks.begin(lengths));
    runs.back().start(ordered);
  }
  reduce(runs);
  // At the own position: the blocks of those that it works for, too.
  for (int i = 0; i < shares; ++i) {
    const Slice sum = runs[static_cast<std::size_t>(i)].sum();
    std::vector<int> here = helped;
    here.push_back(args.rank);
    std::sort(here.begin(), here.end());
    Count at = 0;
    for (const int rank : here) {
      const Count length = block_of(input.block(rank), i, shares).length;
      const Slice result = sum.part(std::exchange(at, at + length), length);
      if (rank == args.rank)
        b.copy(result, block_of(b.output(), i, shares));
      else
        b.send(rank, result);
    }
  }
}

void parts_allgather(Builder& b, Butterflies butterflies) {
  const Args& args = b.args();
  const Butterfly& any = butterflies.front();
  const auto shares = static_cast<int>(butterflies.size());
  const int worker = any.worker(args.rank);
  const std::vector<int> helped = worker == args.rank ? any.helped(args.rank) : std::vector<int>();
  std::deque<Shares> all_shares;  // the runs refer to them
  std::deque<UserRuns> outputs;
  std::vector<Slice> gathered;
  std::deque<PartRun> runs;
  for (int i = 0; i < shares; ++i) {
    const Butterfly& butterfly = butterflies[static_cast<std::size_t>(i)];
    const BlocksByPosition blocks(butterfly, args.size);
    const Shares& own = all_shares.emplace_back(blocks, args.recv, args.size, i, shares);
    const BlockOrder order(own.layout(), Rotation{args.size});
    gathered.push_back(outputs.emplace_back(b, order, kOutput).place(0, args.size));
    const auto block = [&](int rank) {
      const int place = blocks.place(rank);
      return order.part(gathered.back(), 0, place, place + 1);
    };
    b.copy(block_of(b.input(), i, shares), block(args.rank));
    for (const int rank : helped) b.recv(rank, block(rank));
    if (worker != args.rank) {
      b.send(worker, block(args.rank));
      continue;
    }
    runs.emplace_back(b, butterfly, args.rank, blocks.begin(own.counts));
    runs.back().start_gather(gathered.back());
  }
  if (worker == args.rank) gather(runs);
  for (int i = 0; i < shares; ++i) {
    const Slice all = gathered[static_cast<std::size_t>(i)];
    for (const int rank : helped) b.send(rank, all);
    if (worker != args.rank) b.recv(worker, all);
    outputs[static_cast<std::size_t>(i)].unpack();
  }
}

}  // namespace unisono
