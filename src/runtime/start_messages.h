// What Unisono itself sends before MPI_Init returns.
#pragma once
#include <cstddef>
#include <iterator>
#include <string_view>

namespace unisono {

/// One place that sends, through one function of MPI.
struct StartMessage {
  std::string_view call;  ///< without PMPI_
  std::size_t bytes;      ///< at most, in each message; what is longer goes in several
  std::string_view what;
  std::string_view when;
};

/// By UNISONO=measure, a trace, a profile of a network, segment=auto or a multicast.
inline constexpr std::string_view kAsked = "several nodes, and what the network costs is asked for";

/// All of them. The test `start_messages` compares what is sent on a node with the first
/// kStartCallsOnNode: same calls, in this order.
inline constexpr StartMessage kStartMessages[] = {
    {"Iallreduce", 256, "whether all have Unisono and read the same", "always"},
    {"Ibcast", 40, "where the node's shared memory is", "several ranks on a node"},
    {"Iallreduce", 4, "whether all have it", "several ranks on a node"},
    {"Ibcast", 2048, "what is remembered", "ranks that do not all share memory"},
    {"Ibcast", 64, "a socket to hand the memory over", "where /proc does not show it"},
    {"Ibcast", 4096, "which ranks are near, 4 a rank", "several caches or NUMA nodes"},
    {"Iallreduce", 1024, "processors of all ranks", "ranks are bound differently"},
    {"Ibcast", 256, "the MPI library's name", "several MPI libraries"},
    {"Iallreduce", 24, "cores and nodes", "no launcher says who is on which node"},
    {"Comm_split_type", 0, "ranks of the node", "no launcher says who is on which node"},
    {"Comm_split", 0, "ranks of the machine", "no launcher says who is on which node"},
    {"Ibcast", 4, "the node's first rank", "several nodes with several ranks"},
    {"Iallreduce", 4096, "nodes, kernels or labels, 4 to 20 a rank", "several nodes; a topology"},
    {"Bcast", 256, "the host that a topology file lacks", "it lacks one"},
    {"Send", 8 << 10, "times of the network between two hosts", kAsked},
    {"Isend", 32 << 10, "times of all hosts at once, with a neighbour", kAsked},
    {"Iallreduce", 16, "what that takes", kAsked},
    {"Send", 4096, "times of messages within a node", kAsked},
    {"Comm_split", 0, "the nodes' first ranks", kAsked},
    {"Iallreduce", 4, "which node has two ranks", kAsked},
    {"Ibcast", 24, "times of messages within a node", kAsked},
    {"Ibcast", 64, "these times", kAsked},
};

/// Calls that all ranks of a node take part in, where nothing is set and the launcher says that all
/// ranks are on it.
inline constexpr int kStartCallsOnNode = 3;

}  // namespace unisono
