#include "patterns/relay.h"

#include <algorithm>
#include <array>
#include <map>

#include "patterns/rotation.h"

namespace unisono {

namespace {

/// How long the blocks of all edges are.
class Lengths {
 public:
  explicit Lengths(const Args& args) : args_(args) {
    first_.push_back(0);
    for (int r = 0; r < args.size; ++r)
      first_.push_back(first_.back() + (cuts() ? args.graph->of(r).destinations.size() : 1));
  }
  /// Every neighbour gets a block of its own; else all get the same one.
  bool cuts() const { return is_per_peer(semantics(args_.collective).send.shape); }
  Count of(const NeighbourGraph::Edge& edge) const {
    if (args_.edge_counts.empty()) return args_.count;
    return args_.edge_counts[key(edge)];
  }
  /// Equal for edges with one block.
  std::size_t key(const NeighbourGraph::Edge& edge) const {
    return first_[static_cast<std::size_t>(edge.from)] +
           static_cast<std::size_t>(cuts() ? edge.sent : 0);
  }

 private:
  const Args& args_;
  std::vector<std::size_t> first_;
};

class Relay {
 public:
  Relay(Builder& b, const WayOf& way_of) : b_(b), lengths_(b.args()) {
    for (const NeighbourGraph::Edge& edge : b.args().graph->edges()) {
      auto way = way_of(edge);
      phases_ = way.size() - 1;
      if (std::find(way.begin(), way.end(), b.rank()) != way.end() && lengths_.of(edge) > 0)
        passing_.push_back({edge, std::move(way), lengths_.key(edge)});
    }
    for (const Passing& one : passing_)
      if (one.edge.from == b.rank())
        here_[one.key] = lengths_.cuts() ? b.input_block(one.edge.sent) : b.input();
  }

  void run() {
    for (std::size_t phase = 0; phase < phases_; ++phase) run(phase);
    for (const Passing& one : passing_)
      if (one.edge.to == b_.rank()) b_.copy(here_.at(one.key), b_.output_block(one.edge.received));
  }

 private:
  struct Passing {
    NeighbourGraph::Edge edge;
    std::vector<int> way;
    std::size_t key;
  };
  /// Of one phase, by how many ranks away the other one is; blocks in the order of edges.
  using Messages = std::map<int, std::vector<const Passing*>>;

  Messages messages(std::size_t phase, bool outwards) const {
    const Rotation from_here{b_.size(), b_.rank()};
    Messages found;
    for (const Passing& one : passing_) {
      const int from = one.way[phase], to = one.way[phase + 1];
      if (from == to || (outwards ? from : to) != b_.rank()) continue;
      auto& message =
          found[outwards ? from_here.position(to) : b_.size() - from_here.position(from)];
      const auto is_it = [&one](const Passing* other) { return other->key == one.key; };
      if (std::none_of(message.begin(), message.end(), is_it)) message.push_back(&one);
    }
    return found;
  }
  Count length(const std::vector<const Passing*>& message) const {
    Count sum = 0;
    for (const Passing* one : message) sum += lengths_.of(one->edge);
    return sum;
  }
  /// For the messages that are not where they are to be by themselves.
  template <class IsInPlace>
  Slice scratch(const Messages& messages, const IsInPlace& is_in_place) {
    Count sum = 0;
    for (const auto& [distance, message] : messages)
      if (!is_in_place(message)) sum += length(message);
    return b_.scratch(sum);
  }

  /// The only block of a message, if it is for this rank alone and for one place.
  const NeighbourGraph::Edge* arrives_at_once(const std::vector<const Passing*>& message) const {
    if (message.size() > 1) return nullptr;
    const auto uses = std::count_if(passing_.begin(), passing_.end(), [&](const Passing& other) {
      return other.key == message.front()->key;
    });
    const NeighbourGraph::Edge& edge = message.front()->edge;
    return uses == 1 && edge.to == b_.rank() ? &edge : nullptr;
  }

  void run(std::size_t phase) {
    const Messages in = messages(phase, false), out = messages(phase, true);
    const Rotation from_here{b_.size(), b_.rank()};
    Slice room =
        scratch(in, [this](const auto& message) { return arrives_at_once(message) != nullptr; });
    std::map<std::size_t, Slice> arrived;
    for (const auto& [distance, message] : in) {
      const NeighbourGraph::Edge* edge = arrives_at_once(message);
      const Slice whole =
          edge != nullptr ? b_.output_block(edge->received) : take(room, length(message));
      b_.recv(from_here.rank(-distance), whole);
      Slice rest = whole;
      for (const Passing* one : message) arrived[one->key] = take(rest, lengths_.of(one->edge));
    }
    room = scratch(out, [](const auto& message) { return message.size() == 1; });
    for (const auto& [distance, message] : out) {
      Slice whole = here_.at(message.front()->key);
      if (message.size() > 1) {
        whole = take(room, length(message));
        Slice rest = whole;
        for (const Passing* one : message)
          b_.copy(here_.at(one->key), take(rest, lengths_.of(one->edge)));
      }
      b_.send(from_here.rank(distance), whole);
    }
    here_.insert(arrived.begin(), arrived.end());
  }

  /// Cuts the first `units` off `rest`.
  static Slice take(Slice& rest, Count units) {
    const Slice head = rest.part(0, units);
    rest = rest.part(units, rest.length - units);
    return head;
  }

  Builder& b_;
  Lengths lengths_;
  std::size_t phases_ = 0;
  std::vector<Passing> passing_;  // this rank; in the order of edges
  std::map<std::size_t, Slice> here_;
};

}  // namespace

void relay(Builder& b, const WayOf& way_of) { Relay(b, way_of).run(); }

int most_messages(const NeighbourGraph& graph, const WayOf& way_of) {
  std::vector<std::array<int, 3>> sent;  // phase, from, to
  for (const NeighbourGraph::Edge& edge : graph.edges()) {
    const auto way = way_of(edge);
    for (std::size_t phase = 0; phase + 1 < way.size(); ++phase)
      if (way[phase] != way[phase + 1])
        sent.push_back({static_cast<int>(phase), way[phase], way[phase + 1]});
  }
  std::sort(sent.begin(), sent.end());
  sent.erase(std::unique(sent.begin(), sent.end()), sent.end());
  std::vector<int> of_rank(static_cast<std::size_t>(graph.size()));
  for (const auto& [phase, from, to] : sent) ++of_rank[static_cast<std::size_t>(from)];
  return *std::max_element(of_rank.begin(), of_rank.end());
}

}  // namespace unisono
