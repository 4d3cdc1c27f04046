#include "model/graph.h"

#include <numeric>

namespace unisono {

Graph::Graph(std::span<const Schedule> schedules) {
  for (std::size_t r = 0; r < schedules.size(); ++r) {
    first.push_back(static_cast<VertexId>(ops.size()));
    const auto own = schedules[r].ops();
    ops.insert(ops.end(), own.begin(), own.end());
    rank.insert(rank.end(), own.size(), static_cast<int>(r));
    for (OpId id = 0; id < own.size(); ++id)
      waits_for.push_back(static_cast<std::uint32_t>(schedules[r].dependencies(id).size()));
  }
  add_followers(schedules);
  match();
}

// Counts, sums, and places: three passes instead of a vector for each op.
void Graph::add_followers(std::span<const Schedule> schedules) {
  first_follower.assign(ops.size() + 1, 0);
  const auto for_each_dependency = [&](auto&& visit) {
    for (VertexId id = 0; id < ops.size(); ++id) {
      const auto r = static_cast<std::size_t>(rank[id]);
      for (const OpId on : schedules[r].dependencies(position(id))) visit(first[r] + on, id);
    }
  };
  for_each_dependency([&](VertexId on, VertexId) { ++first_follower[on + 1]; });
  std::partial_sum(first_follower.begin(), first_follower.end(), first_follower.begin());
  followers.resize(first_follower.back());
  std::vector<std::uint32_t> next(first_follower.begin(), first_follower.end() - 1);
  for_each_dependency([&](VertexId on, VertexId id) { followers[next[on]++] = id; });
}

// The k-th send from a to b is received by the k-th receive on b from a. Channels are kept by their
// sender, ordered by receiver; one array over the ranks finds those of the sender at hand.
void Graph::match() {
  receive.assign(ops.size(), kNoNode);
  const std::size_t ranks = first.size();
  struct Channel {
    std::size_t to;
    std::vector<VertexId> receives;  // by position
  };
  std::vector<std::vector<Channel>> channels(ranks);  // by sender
  std::vector<std::size_t> slot(ranks);
  const auto end_of = [&](std::size_t r) { return r + 1 < ranks ? first[r + 1] : ops.size(); };
  for (std::size_t to = 0; to < ranks; ++to)
    for (VertexId id = first[to]; id < end_of(to); ++id) {
      if (ops[id].kind != OpKind::recv || ops[id].is_bound()) continue;
      auto& of_sender = channels[static_cast<std::size_t>(ops[id].peer)];
      if (of_sender.empty() || of_sender.back().to != to) of_sender.push_back({to, {}});
      of_sender.back().receives.push_back(id);
    }
  for (std::size_t from = 0; from < ranks; ++from) {
    for (std::size_t c = 0; c < channels[from].size(); ++c) slot[channels[from][c].to] = c;
    for (VertexId id = first[from]; id < end_of(from); ++id) {
      if (ops[id].kind != OpKind::send || ops[id].is_bound()) continue;
      const auto to = static_cast<std::size_t>(ops[id].peer);
      const auto k = static_cast<std::size_t>(ops[id].position());
      if (slot[to] >= channels[from].size()) continue;
      const Channel& channel = channels[from][slot[to]];  // or, by an old entry, another's
      if (channel.to == to && k < channel.receives.size()) receive[id] = channel.receives[k];
    }
  }
}

}  // namespace unisono
