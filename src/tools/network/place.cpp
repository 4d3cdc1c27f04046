#include "tools/network/place.h"

#include <CLI/CLI.hpp>
#include <numeric>
#include <sstream>

#include "base/printable.h"
#include "files/file.h"
#include "topology/torus_in_file.h"

namespace unisono {

namespace {

Routing routing_of(const std::string& name) {
  const auto routing = routing_named(name);
  if (!routing)
    throw CLI::ValidationError("--routing " + name + ": valid are minimal, directed and source");
  return *routing;
}

std::vector<int> hosts_in(const std::string& path, int hosts) {
  const auto text = read_file(path);
  if (!text) throw CLI::ValidationError(line_about("--hosts " + path, text.error()));
  std::istringstream words(*text);
  std::vector<int> found;
  for (std::string word; words >> word;) {
    int host = -1;
    if (!CLI::detail::lexical_cast(word, host) || host < 0 || host >= hosts)
      throw CLI::ValidationError(
          line_about("--hosts " + path,
                     in_quotes(word) + " is none of the hosts 0 to " + std::to_string(hosts - 1)));
    found.push_back(host);
  }
  if (found.empty()) throw CLI::ValidationError("--hosts " + path + ": it names no host");
  return found;
}

}  // namespace

Placed placed(const Place& place) {
  Placed where;
  where.routing = routing_of(place.routing);
  auto network = make_network(place.shape, where.routing, place.speeds);
  if (!network) throw CLI::ValidationError("--network " + network.error());
  where.network = std::move(*network);
  where.host_of_rank.resize(static_cast<std::size_t>(where.network->hosts()));
  std::iota(where.host_of_rank.begin(), where.host_of_rank.end(), 0);
  if (!place.hosts.empty()) where.host_of_rank = hosts_in(place.hosts, where.network->hosts());
  where.root = place.root;
  if (where.root >= where.ranks())
    throw CLI::ValidationError("--root " + std::to_string(where.root) + ": the ranks are 0 to " +
                               std::to_string(where.ranks() - 1));
  return where;
}

}  // namespace unisono
