// The file of UNISONO_TOPOLOGY, in the form of Slurm's topology.conf and some lines more:
//
//   SwitchName=leaf1 Nodes=node[01-16],login   # which nodes a switch joins
//   SwitchName=spine Switches=leaf[1-2]        # switches of switches: read over
//   NodeName=node01 Ranks=0-3,8                # which ranks are to count as on that node
//   Torus=8x8x16                               # see torus_in_file.h
//
// Keywords in any case, lists by commas without blanks, numbers in brackets keep their zeros.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "topology/topology.h"
#include "topology/torus_in_file.h"

namespace unisono {

class TopologyFile {
 public:
  /// 60,000 nodes with a line each.
  static constexpr std::size_t kMostBytes = std::size_t{2} << 20;

  /// The error is one line that says where and what is wrong.
  static Result<TopologyFile> parse(std::string_view text);

  bool names_switches() const { return !switch_of_node_.empty(); }
  /// Of a host, whose name may be followed by a domain here or there.
  std::optional<int> switch_of(std::string_view host) const;
  /// Whether there are lines of NodeName.
  bool places_ranks() const { return !nodes_of_ranks_.empty(); }
  /// The name of the node on which the file places a rank; empty: nowhere.
  std::string node_of(int rank) const;

  /// Where nodes are on a torus, if it says so.
  const TorusLines& torus() const { return torus_; }

  /// Nodes, switches and places on a torus of the ranks 0 .. size - 1 where the file alone says it.
  /// The error is one line.
  Result<TopologyLabels> labels(int size) const;

 private:
  friend class TopologyReader;
  struct Ranks {
    int last = 0;
    std::string node;
  };
  ByName<int> switch_of_node_;
  std::map<int, Ranks> nodes_of_ranks_;  ///< by the first of ranks that follow each other
  TorusLines torus_;
};

}  // namespace unisono
