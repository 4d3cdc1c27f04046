#include "schedule/neighbourhood.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <numeric>
#include <string>

#include "schedule/schedule.h"

namespace unisono {

namespace {

using Coordinates = std::vector<int>;

/// Row-major.
class Box {
 public:
  explicit Box(std::span<const int> dims) : dims_(dims.begin(), dims.end()) {}
  int size() const { return std::accumulate(dims_.begin(), dims_.end(), 1, std::multiplies<>()); }
  std::size_t dimensions() const { return dims_.size(); }
  Coordinates at(int rank) const {
    Coordinates found(dims_.size());
    for (std::size_t d = dims_.size(); d-- > 0; rank /= dims_[d]) found[d] = rank % dims_[d];
    return found;
  }
  /// kNobody: outside, in a dimension that is not periodic.
  std::int32_t rank_of(const Coordinates& at, std::span<const int> periods) const {
    int rank = 0;
    for (std::size_t d = 0; d < dims_.size(); ++d) {
      const int within = (at[d] % dims_[d] + dims_[d]) % dims_[d];
      if (periods[d] == 0 && within != at[d]) return kNobody;
      rank = rank * dims_[d] + within;
    }
    return rank;
  }

 private:
  std::vector<int> dims_;
};

}  // namespace

std::vector<int> Neighbourhood::arrival_order() const {
  std::vector<int> order(sources.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(in_pairs ? i ^ 1U : i);
  return order;
}

std::vector<std::pair<int, int>> Neighbourhood::to_itself(int rank) const {
  std::vector<std::pair<int, int>> found;
  for (std::size_t sent = 0; sent < destinations.size(); ++sent)
    if (destinations[sent] == rank) found.emplace_back(static_cast<int>(sent), -1);
  auto next = found.begin();
  for (const int position : arrival_order())
    if (sources[static_cast<std::size_t>(position)] == rank && next != found.end())
      (next++)->second = position;
  found.erase(next, found.end());
  return found;
}

NeighbourGraph::NeighbourGraph(std::vector<Neighbourhood> ranks) : ranks_(std::move(ranks)) {
  // By both ranks, the sources in their order of arrival.
  std::map<std::pair<int, int>, std::vector<int>> open;
  for (int to = 0; to < size(); ++to)
    for (const int position : of(to).arrival_order())
      open[{of(to).sources[static_cast<std::size_t>(position)], to}].push_back(position);
  for (auto& [ends, positions] : open) std::reverse(positions.begin(), positions.end());
  for (int from = 0; from < size(); ++from)
    for (std::size_t sent = 0; sent < of(from).destinations.size(); ++sent) {
      const int to = of(from).destinations[sent];
      const auto found = open.find({from, to});
      if (to == kNobody || found == open.end() || found->second.empty()) continue;
      edges_.push_back({from, to, static_cast<int>(sent), found->second.back()});
      found->second.pop_back();
    }
}

bool NeighbourGraph::is_connected() const {
  std::vector<int> leader(ranks_.size());
  std::iota(leader.begin(), leader.end(), 0);
  const auto find = [&leader](int rank) {
    while (leader[static_cast<std::size_t>(rank)] != rank) {
      int& above = leader[static_cast<std::size_t>(rank)];
      rank = above = leader[static_cast<std::size_t>(above)];
    }
    return rank;
  };
  int parts = size();
  for (const Edge& edge : edges_) {
    const int a = find(edge.from), b = find(edge.to);
    if (a == b) continue;
    leader[static_cast<std::size_t>(a)] = b;
    --parts;
  }
  return parts == 1;
}

bool NeighbourGraph::has_parallel_edges() const {
  std::vector<std::pair<int, int>> ends;
  ends.reserve(edges_.size());
  for (const Edge& edge : edges_) ends.emplace_back(edge.from, edge.to);
  std::sort(ends.begin(), ends.end());
  return std::adjacent_find(ends.begin(), ends.end()) != ends.end();
}

Neighbourhood cartesian_neighbours(std::span<const int> dims, std::span<const int> periods,
                                   int rank) {
  const Box box(dims);
  Neighbourhood own{.in_pairs = true};
  for (std::size_t d = 0; d < box.dimensions(); ++d)
    for (const int step : {-1, 1}) {
      Coordinates at = box.at(rank);
      at[d] += step;
      own.sources.push_back(box.rank_of(at, periods));
    }
  own.destinations = own.sources;
  return own;
}

NeighbourGraph cartesian_graph(std::span<const int> dims, std::span<const int> periods) {
  std::vector<Neighbourhood> ranks;
  for (int rank = 0; rank < Box(dims).size(); ++rank)
    ranks.push_back(cartesian_neighbours(dims, periods, rank));
  return NeighbourGraph(std::move(ranks));
}

NeighbourGraph moore_graph(std::span<const int> dims) {
  const Box box(dims);
  const std::vector<int> periods(dims.size(), 1);
  const std::vector<int> three(dims.size(), 3);
  const Box offsets(three);
  std::vector<Neighbourhood> ranks(static_cast<std::size_t>(box.size()));
  for (int rank = 0; rank < box.size(); ++rank) {
    Neighbourhood& own = ranks[static_cast<std::size_t>(rank)];
    for (int i = 0; i < offsets.size(); ++i) {
      if (i == offsets.size() / 2) continue;
      Coordinates to = box.at(rank), from = to;
      for (std::size_t d = 0; d < to.size(); ++d) {
        const int step = offsets.at(i)[d] - 1;
        to[d] += step, from[d] -= step;
      }
      own.destinations.push_back(box.rank_of(to, periods));
      own.sources.push_back(box.rank_of(from, periods));
    }
  }
  return NeighbourGraph(std::move(ranks));
}

Result<NamedGrid> NamedGrid::parse(std::string_view name, int size) {
  constexpr int kMost = 6;
  const std::size_t colon = name.find(':');
  const std::string_view kind = name.substr(0, colon);
  const std::string_view number = colon == std::string_view::npos ? "2" : name.substr(colon + 1);
  int n = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), n);
  const bool is_number = error == std::errc() && end == number.data() + number.size();
  if ((kind != "torus" && kind != "stencil") || !is_number || n < 1 || n > kMost)
    return Error{std::string(name) + ": valid are torus:N and stencil:N, N dimensions, 1 to " +
                 std::to_string(kMost)};
  NamedGrid grid{kind == "torus", std::vector<int>(static_cast<std::size_t>(n), 1)};
  std::vector<int> factors;
  for (int prime = 2; size > 1; ++prime)
    for (; size % prime == 0; size /= prime) factors.push_back(prime);
  for (auto factor = factors.rbegin(); factor != factors.rend(); ++factor)
    *std::min_element(grid.dims.begin(), grid.dims.end()) *= *factor;
  std::sort(grid.dims.begin(), grid.dims.end(), std::greater<>());
  return grid;
}

NeighbourGraph NamedGrid::graph() const {
  const std::vector<int> periods(dims.size(), 1);
  return is_torus ? cartesian_graph(dims, periods) : moore_graph(dims);
}

}  // namespace unisono
