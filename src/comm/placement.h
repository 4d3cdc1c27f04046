// The cores this job may use, and whether its ranks have one each.
#pragma once
#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "select/platform.h"

namespace unisono {

/// What a rank sees of where it runs, by itself.
struct OwnPlace {
  std::uint64_t library = 0;   ///< a hash of library_line()
  std::uint64_t kernel = 0;    ///< the same of all ranks on one, whatever their containers
  std::uint64_t affinity = 0;  ///< a hash
  bool fabric = false;         ///< this host has a network that bypasses the kernel
  int port = 0;                ///< Mb/s of its fastest Ethernet port; 0: none says
  int cores = 1;               ///< online, at most the quota
};

OwnPlace own_place();

/// What came of all ranks' places; the same on all. By default nothing is known.
struct JobPlace {
  bool all_alone = false;     ///< every rank is the only one on its node, as the launcher says
  bool all_together = false;  ///< all ranks are on one node, as the launcher says
  bool one_library = false, one_kernel = false, one_affinity = false;  ///< the same of all
  bool fabric = false;                                                 ///< some rank's host has one
  int port = 0;                                                        ///< the fastest
  int cores = 1;                                                       ///< the fewest
};

struct NodeFacts {
  bool oversubscribed = false;  ///< on some machine the job has more ranks than cores
  bool one_node = false;        ///< all ranks share one node, as launcher or MPI library says
  bool all_alone = false;       ///< every rank is known to be the only one on its node
  bool one_library = false;     ///< all ranks are known to have the same
  bool fabric = false;          ///< some rank's host has a network that bypasses the kernel
  int port = 0;                 ///< Mb/s of the fastest Ethernet port of a host; 0: none says
  int cores = 1;                ///< of the node with the fewest: online, at most the quota
  int ranks_on_node = 1;        ///< on that with the most

  /// Whether messages go over a network of the kernel's.
  bool has_network() const { return !one_node && !fabric; }
  /// As in Platform.
  int ranks_per_core() const { return oversubscribed ? (ranks_on_node + cores - 1) / cores : 0; }
};

/// What messages between nodes are cut into, where this MPI library, the same of all ranks, sends
/// long ones both ways one after the other, and no port is so fast that the cuts cost; else 0.
Count portion_bytes(const NodeFacts& facts);

/// The ranks of `world` on this one's node, as launcher or MPI library says. Collective over
/// `world`, unless `place` tells. To be given back by free_node().
MPI_Comm ranks_of_node(MPI_Comm world, const JobPlace& place = {});
/// Frees it, unless it is one of the program's.
void free_node(MPI_Comm node);

/// Collective over `world`, whose ranks_of_node() `node` is; the same facts on all ranks.
NodeFacts node_facts(MPI_Comm world, MPI_Comm node, const JobPlace& place = {});

/// The same on all ranks, as the facts are; without the network's rate.
Platform platform_of(MPI_Comm world, const NodeFacts& facts);

/// The first line of MPI_Get_library_version on this rank.
std::string library_line();
/// "intel" where that is Intel's, which has MPICH's binary interface and collectives of its own:
/// what beats MPICH's may lose to them.
std::string flavour_of(const std::string& library);

/// The node of every rank of `world`, as the number of its first rank. Collective, as node_facts.
std::vector<int> nodes_of_ranks(MPI_Comm world, MPI_Comm node);
/// Empty where there is one.
std::vector<int> nodes_of_ranks(MPI_Comm world, MPI_Comm node, const NodeFacts& facts);

}  // namespace unisono
