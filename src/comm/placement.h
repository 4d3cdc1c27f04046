// The cores this job may use, and whether its ranks have one each.
#pragma once
#include <mpi.h>

#include <string>
#include <vector>

#include "model/machine.h"
#include "select/platform.h"

namespace unisono {

struct NodeFacts {
  bool oversubscribed = false;  ///< on some machine the job has more ranks than cores
  bool one_node = false;        ///< all ranks share one node, as the MPI library sees it
  bool fabric = false;          ///< some rank's host has a network that bypasses the kernel
  int elsewhere = 0;            ///< the first rank that is not on rank 0's node; 0: there is none
  double network_rate = 0;      ///< bit/s between two nodes, seen once; 0 on one node or a fabric
  int cores = 1;                ///< of the node with the fewest: online, at most the quota
  Machine machine;              ///< what messages cost, once that is known

  /// Whether there is a network to be measured.
  bool has_network() const { return !one_node && !fabric; }
  /// What was measured there, or is remembered; the same on all ranks.
  void use(Machine measured);
};

/// The ranks of `world` on this one's node, as the MPI library sees it. Collective; the caller's.
MPI_Comm ranks_of_node(MPI_Comm world);

/// Collective over `world`, whose ranks_of_node() `node` is; the same facts on all ranks, without
/// those of the network.
NodeFacts node_facts(MPI_Comm world, MPI_Comm node);

/// The same on all ranks, as the facts are.
Platform platform_of(MPI_Comm world, const NodeFacts& facts);

/// The first line of MPI_Get_library_version on this rank.
std::string library_line();
/// "intel" where that is Intel's, which has MPICH's binary interface and collectives of its own:
/// what beats MPICH's may lose to them.
std::string flavour_of(const std::string& library);

/// The node of every rank of `world`, as the number of its first rank. Collective, as node_facts.
std::vector<int> nodes_of_ranks(MPI_Comm world, MPI_Comm node);

/// Whole cores that the control group's quota allows this process; INT_MAX without a quota.
int quota_cores();

}  // namespace unisono
