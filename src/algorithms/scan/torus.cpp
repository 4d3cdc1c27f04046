// Scan and exscan over the lines of a torus, in the order of ranks: before a rank there are those
// of its line, the lines before in its plane, and so on; so the ranks are a tree whose subtrees are
// intervals that end with their top. Sums come up; what lies before a subtree goes down.
// Where ranks are on hosts in the order of these and fill a box with sides n_i, no two messages
// share a link, and T = (2 sum(n_i) + n)(alpha + (beta + 2 gamma) m / n), against p + n of the
// chain. Elsewhere it is the chain of ranks. Rank order kept, any p. Scratch: 4 `window` segments;
// on the last ranks of lines a vector for each dimension but the first.
// Source: own; sums up and down a tree: Blelloch 1990.
#include "algorithms/algorithms.h"
#include "patterns/interval_tree.h"
#include "patterns/partition.h"
#include "patterns/window.h"
#include "topology/topology.h"

namespace unisono::scan {

namespace {

class Scan {
 public:
  Scan(Builder& b, const IntervalNode& node)
      : b_(b),
        node_(node),
        exclusive_(b.args().collective == Collective::exscan),
        with_(b, longest(b), b.args().params.window),
        partial_(b, longest(b), 2 * b.args().params.window),
        before_(b, longest(b), b.args().params.window) {
    // What is to be added to before it goes down to the next child.
    if (node.first > 0)
      for (std::size_t j = 1; j < node.children.size(); ++j)
        sums_.push_back(b.scratch(b.output().length));
  }

  void up(Slice out) {
    const Slice in = b_.input().part(out.offset, out.length);
    const Slice with = exclusive_ ? with_.next(out.length) : out;
    b_.copy(in, with);
    Slice sum;
    for (std::size_t j = 0; j < node_.children.size(); ++j) {
      const Slice before = sum;
      const bool last = j + 1 == node_.children.size();
      sum = j < sums_.size() ? part(sums_[j], out)
                             : (last && exclusive_ ? out : partial_.next(out.length));
      if (j > 0 && node_.first == 0) b_.send(node_.children[j], before);
      b_.recv(node_.children[j], sum);
      if (j > 0) b_.reduce(before, sum);
    }
    if (sum.length > 0) b_.reduce(sum, with);
    if (node_.parent >= 0) b_.send(node_.parent, with);
  }

  void down(Slice out) {
    if (node_.first == 0) return;
    const bool into_output = exclusive_ && node_.children.empty();
    const Slice before = into_output ? out : before_.next(out.length);
    b_.recv(node_.parent, before);
    for (std::size_t j = 0; j < node_.children.size(); ++j) {
      if (j > 0) b_.reduce(before, part(sums_[j - 1], out));
      b_.send(node_.children[j], j > 0 ? part(sums_[j - 1], out) : before);
    }
    if (!into_output) b_.reduce(before, out);
  }

 private:
  static Count longest(const Builder& b) { return b.args().segment_of(b.output().length); }
  Slice part(Slice sums, Slice out) const {
    return sums.part(out.offset - b_.output().offset, out.length);
  }

  Builder& b_;
  const IntervalNode& node_;
  bool exclusive_;
  Slots with_, partial_, before_;
  std::vector<Slice> sums_;  ///< of the first child, the first two, ..., not of all
};

}  // namespace

void torus(Builder& b) {
  const TorusPlacement* torus = b.args().topology == nullptr ? nullptr : b.args().topology->torus();
  if (torus == nullptr || !torus->in_rank_order()) return chain(b);
  const IntervalNode node = torus->interval_node(b.rank());
  Scan scan(b, node);
  const auto all = segments(b.output(), b.args());
  for (const Slice segment : all) scan.up(segment);
  for (const Slice segment : all) scan.down(segment);
}

}  // namespace unisono::scan
