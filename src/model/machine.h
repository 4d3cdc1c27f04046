// What a machine costs: the parameters of the cost model, fitted from measurements (model/fit.h)
// and kept in a file. Everything in seconds and bytes.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "node/costs.h"
#include "schedule/schedule.h"

namespace unisono {

/// Seconds of a message of so many bytes: alpha + beta * bytes, with an alpha and a beta for each
/// interval of sizes, because MPI libraries change their protocol with the size.
struct Cost {
  struct Piece {
    double from = 0;   ///< bytes; the piece holds up to the next one
    double alpha = 0;  ///< seconds
    double beta = 0;   ///< seconds per byte
  };
  std::vector<Piece> pieces;  ///< ascending; empty: costs nothing

  /// At least 0, also where a line is continued to sizes that nobody measured.
  double operator()(Count bytes) const;
};

/// Where the two ranks of a message are.
enum LevelId : int { kWithinNode = 0, kBetweenNodes = 1, kMessageLevels = 2 };

struct LevelCosts {
  Cost one_way;    ///< from the begin of a send to the end of its receive, with nobody else sending
  Cost gap;        ///< how long it keeps a port: the time between the messages of a stream
  Cost exchange;   ///< a round in which `active` ranks send to their neighbours, all at once
  int active = 1;  ///< on a node (within nodes), or altogether

  /// How long a message keeps what the ranks share: cores, memory, a switch. As much as makes a
  /// round of all longer than a message of one. Nothing where only one was measured.
  double shared(Count bytes) const;
};

/// Hockney's model: a message takes alpha + beta * bytes, and its ports as long; nothing is shared.
LevelCosts hockney(double alpha, double beta);

/// What becomes of messages that several nodes send to one at once. A port holds what it cannot
/// pass on yet; beyond that it drops frames, and a sender that has lost all it had under way waits.
struct Incast {
  double buffer = 0;   ///< bytes that a port holds; 0: nothing is ever lost
  double window = 0;   ///< bytes that a sender has under way before it hears of them
  double timeout = 0;  ///< seconds until it sends again

  bool loses() const { return buffer > 0 && timeout > 0; }
};

/// Of ports as in cheap switches, and of TCP's least timeout on Linux.
inline constexpr Incast kCheapSwitch{64 << 10, 32 << 10, 0.2};

/// What a collective through the memory of a node takes (node/costs.h).
struct NodeKernels {
  node::MemoryCosts costs;
  int cores = 1;  ///< of a node
  WaitMode mode = WaitMode::spin;
};

/// A way of messages through the memory of a node.
struct TransferTimes {
  Cost one_way;  ///< from the begin of a send to the end of its receive
  Cost gap;      ///< the time between the messages of a stream
};

/// What the memory of a node does, as functions of the length: the parameters of Worringer 2003
/// (docs/reference/model.md). A message there has been written by its owner just before.
struct MemoryTimes {
  TransferTimes stores;                      ///< l_PIO: stored into shared memory, and copied out
  std::optional<TransferTimes> single_copy;  ///< l_DMA: read by its address; nothing: not permitted
  Cost copy;                                 ///< l_cpy
  Cost combine;                              ///< l_cmb, of floats
  double fence = 0;                          ///< l_sb: seconds until another rank has seen a flag

  /// Whether a message of so many bytes comes sooner by single copy: the paper's PIO or DMA.
  bool copies_once(Count bytes) const;
  const TransferTimes& way(Count bytes) const;
};

struct Machine {
  std::string flavour;  ///< mpich, openmpi or abi
  std::string library;  ///< the first line of MPI_Get_library_version
  std::array<std::optional<LevelCosts>, kMessageLevels> levels;
  double gamma = 0;  ///< seconds per byte reduced
  double copy = 0;   ///< seconds per byte copied
  /// Bytes that a port between nodes lets pass at once after a pause, because a shaper gives
  /// credit; 0: none.
  double credit = 0;
  /// Seconds, on the average, until a rank that waits for a message has a core again, where ranks
  /// share them; 0: they do not. Exponentially distributed: who needs all waits for the slowest.
  double wake = 0;
  /// That all ranks share, on whatever node they are, as in a lab; 0: each rank has its own.
  int shared_cores = 0;
  Incast incast;                           ///< of the ports of nodes; the standard loses nothing
  std::optional<MemoryTimes> node_memory;  ///< of messages through it (TransportKind::shm)
  /// Not in the file. Nothing: no price for what runs in a node's memory.
  std::optional<NodeKernels> kernels;
};

/// {"format": "unisono-machine", "version": 1, ...}; docs/reference/model.md shows one.
std::string write_machine(const Machine& machine);

/// Bits per second between nodes, of long messages; 0: not known.
double network_rate(const Machine& machine);

/// For people, in one line: "between nodes 60.1 us, 9.6 us a message, 94 Mb/s".
std::string summary(const Machine& machine);

/// The error is one line.
Result<Machine> read_machine(std::string_view text);

}  // namespace unisono
