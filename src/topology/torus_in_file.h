// What the topology file says of a torus:
//
//   Torus=8x8x16 Wrap=yes,yes,no Routing=minimal
//       Wrap and Routing may be left out: all yes, minimal.
//   Torus=cart Routing=minimal
//       The coordinates of a communicator that MPI_Cart_create or MPI_Cart_sub has made are those
//       of its ranks' hosts; no other is on a torus.
//   NodeName=node[0000-1023]
//       Hosts in the order of their numbers x + y X + z X Y.
//   NodeName=login Coordinates=0,3,15
//       One host.
//   NodeName=tux00[0-7],tux01A Coordinates=suffix
//       The last characters of the name, one a dimension, to the base 36: Slurm's 3d_torus.
#pragma once
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "patterns/torus.h"
#include "topology/name_lists.h"

namespace unisono {

/// As users write them, by Routing.
inline constexpr std::array<std::string_view, 4> kRoutingNames = {"minimal", "directed", "source",
                                                                  "adaptive"};

std::optional<Routing> routing_named(std::string_view name);

/// "8x8x16", or nothing.
std::optional<Torus> parse_torus(std::string_view sizes, std::vector<bool> wraps = {});

/// "yes,no,yes", or nothing.
std::optional<std::vector<bool>> parse_wraps(std::string_view text);

/// The keys of a line and their values.
using TopologyItems = std::map<std::string, std::string_view>;

class TorusLines {
 public:
  /// What is wrong with a line that has Torus= or, below it, NodeName=; or nothing. `left` as in
  /// names_in().
  std::optional<std::string> read_torus(const TopologyItems& items);
  std::optional<std::string> read_nodes(const TopologyItems& items, std::ptrdiff_t& left);

  bool known() const { return torus_ != nullptr; }
  bool as_cart() const { return as_cart_; }
  std::shared_ptr<const Torus> torus() const { return torus_; }
  Routing routing() const { return routing_; }
  /// Of a node by its name without its domain.
  std::optional<int> host_of(std::string_view node) const;

 private:
  std::optional<std::string> place(std::string_view node, int host);
  /// The host whose coordinates these are, or nothing.
  std::optional<int> host_at(std::span<const int> coordinates) const;
  std::optional<int> host_by_suffix(std::string_view node) const;

  std::shared_ptr<const Torus> torus_;
  bool as_cart_ = false;
  Routing routing_ = Routing::minimal;
  ByName<int> host_of_node_;
  std::unordered_map<int, std::string> node_on_host_;
  int next_ = 0;  ///< the host of the next node that has no coordinates
};

}  // namespace unisono
