#include "algorithms/cooperating.h"

#include <algorithm>

#include "algorithms/torus.h"
#include "patterns/window.h"

namespace unisono {

namespace {

// Segments of a tree that a rank holds for others; at least one on its way up and one down.
constexpr Count kHeldSegments = 4, kFewestHeld = 2;

Count held_segments(const Cooperation& cooperation) {
  const auto most = static_cast<Count>(kMostScratch / 2 / cooperation.trees.size());
  return std::min(kHeldSegments, most);
}

/// This rank's place in a tree, whose segments it handles in rounds: those of a segment down to
/// depth d are d after the root's, of one up `deepest` - d after the deepest leaves'. In each round
/// a rank first sends, then receives.
class Place {
 public:
  Place(Builder& b, const GroupTree& tree, bool is_member, Count segment, Count window)
      : b_(b),
        parent_(tree.parent[static_cast<std::size_t>(b.rank())]),
        depth_(tree.depth[static_cast<std::size_t>(b.rank())]),
        deepest_(tree.deepest),
        is_in_(tree.has(b.rank())),
        is_member_(is_member),
        is_root_(tree.root == b.rank()),
        children_(is_in_ ? tree.children(b.rank()) : std::vector<int>{}),
        slots_(b, segment, window),
        others_(b, segment, window) {}

  bool is_in() const { return is_in_; }
  // In which round segment 0 does so.
  int sent_up() const { return deepest_ - depth_; }
  int received_up() const { return deepest_ - depth_ - 1; }
  int received_down(bool goes_up) const { return depth_ + (goes_up ? deepest_ : 0); }
  int sent_down(bool goes_up) const { return received_down(goes_up) + 1; }

  void receive_down(Slice into) {
    at_.push_back(is_member_ ? into : slots_.next(into.length));
    if (!is_root_) b_.recv(parent_, at_.back());
  }
  void send_down(std::size_t segment) {
    for (const int child : children_) b_.send(child, at_[segment]);
  }

  /// `own`: what a member adds, `into`: where the root wants all.
  void receive_up(Slice own, Slice into) {
    if (children_.empty() && !is_root_) return void(sums_.push_back(own));
    const Slice sum = is_root_ ? into : slots_.next(own.length);
    bool is_begun = is_member_ && own == sum;
    for (const int child : children_) {
      const Slice at = is_begun ? others_.next(own.length) : sum;
      b_.recv(child, at);
      if (is_begun) b_.reduce(at, sum);
      if (!is_begun && is_member_) b_.reduce(own, sum);
      is_begun = true;
    }
    if (!is_begun) b_.copy(own, sum);
    sums_.push_back(sum);
  }
  void send_up(std::size_t segment) {
    if (!is_root_) b_.send(parent_, sums_[segment]);
  }

 private:
  Builder& b_;
  int parent_, depth_, deepest_;
  bool is_in_, is_member_, is_root_;
  std::vector<int> children_;
  Slots slots_, others_;
  std::vector<Slice> at_, sums_;  // of each segment so far
};

/// A tree's share of the vectors of its group.
struct Share {
  Place place;
  std::vector<Slice> own, result;
};

/// Calls act(share, segment) for all whose segment has its turn in this round.
template <class Begins, class Act>
void for_turns(std::vector<Share>& shares, int round, Begins&& begins, Act&& act) {
  for (Share& share : shares) {
    const int segment = round - begins(share.place);
    if (segment >= 0 && segment < std::ssize(share.own))
      act(share, static_cast<std::size_t>(segment));
  }
}

/// Of the trees in which this rank is, in the order of the cooperation.
std::vector<Share> shares_of(Builder& b, const Cooperation& cooperation,
                             std::span<const TorusGroup> groups) {
  const bool moves = b.args().collective == Collective::bcast;
  const Slice whole = moves ? b.output() : b.input();
  const auto all = tree_segments(b, whole, cooperation.trees_of_each);
  Count longest = 1;
  for (const TreeSegment& each : all) longest = std::max(longest, each.slice.length);
  std::vector<Share> shares;
  for (std::size_t t = 0; t < cooperation.trees.size(); ++t) {
    const GroupTree& tree = cooperation.trees[t];
    const auto& hosts = groups[static_cast<std::size_t>(tree.group)].hosts;
    const bool is_member = std::find(hosts.begin(), hosts.end(), b.rank()) != hosts.end();
    Share share{{b, tree, is_member, longest, held_segments(cooperation)}, {}, {}};
    if (!share.place.is_in()) continue;
    for (const TreeSegment& each : all)
      if (each.tree == static_cast<int>(t / groups.size())) {
        share.own.push_back(each.slice);
        share.result.push_back(
            b.output().part(each.slice.offset - whole.offset, each.slice.length));
      }
    shares.push_back(std::move(share));
  }
  return shares;
}

}  // namespace

const char* unmet_cooperation(const Cooperation& cooperation) {
  return held_segments(cooperation) >= kFewestHeld ? nullptr
                                                   : "there are too many groups for one schedule";
}

// In each round a channel has at most one message of every tree that uses it, in the order of the
// trees: so messages meet theirs, and no tree waits for one whose root is farther away.
void cooperate(Builder& b, const Cooperation& cooperation, std::span<const TorusGroup> groups) {
  const bool goes_up = b.args().collective != Collective::bcast;
  const bool comes_down = b.args().collective != Collective::reduce;
  auto shares = shares_of(b, cooperation, groups);
  std::size_t segments = 0;
  for (const Share& share : shares) segments = std::max(segments, share.own.size());
  const int rounds = static_cast<int>(segments) + 2 * cooperation.depth + 2;
  for (int round = -1; round < rounds; ++round) {
    if (goes_up)
      for_turns(
          shares, round, [](const Place& p) { return p.sent_up(); },
          [](Share& s, std::size_t i) { s.place.send_up(i); });
    if (comes_down)
      for_turns(
          shares, round, [&](const Place& p) { return p.sent_down(goes_up); },
          [](Share& s, std::size_t i) { s.place.send_down(i); });
    if (goes_up)
      for_turns(
          shares, round, [](const Place& p) { return p.received_up(); },
          [](Share& s, std::size_t i) { s.place.receive_up(s.own[i], s.result[i]); });
    if (comes_down)
      for_turns(
          shares, round, [&](const Place& p) { return p.received_down(goes_up); },
          [](Share& s, std::size_t i) { s.place.receive_down(s.result[i]); });
  }
}

}  // namespace unisono
