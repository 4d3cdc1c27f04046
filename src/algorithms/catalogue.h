// The catalogue: one table of all algorithms. The command line, the environment parser, the
// checker's tests, the generated documentation and the selector iterate it; there is no other list.
#pragma once
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "algorithms/order.h"
#include "algorithms/safety.h"
#include "patterns/message_scheduling.h"
#include "schedule/args.h"
#include "schedule/builder.h"

namespace unisono {

/// Writes what rank b.rank() does. Restrictions and parameter limits have been checked before.
using BuildFunction = void (*)(Builder& b);

struct Parameter {
  std::string_view name;
  Count Params::*field;
  Count default_value;  ///< used when none is given
  Count least, most;
  bool is_size;  ///< bytes: users may write 64K
  std::string_view meaning;
  std::span<const std::string_view> names =
      {};  ///< of the values from `least` on, if they have any
};

enum Restriction : unsigned {
  kNone = 0,
  kCommutative = 1,  ///< the reduction order is not the rank order
  kEvenSize = 2,     ///< even number of ranks
  kPowerOfTwo = 4,   ///< ranks a power of two
  kAllCounts =
      8,         ///< v-forms: every rank must know recv.counts (gatherv) or send.counts (scatterv)
  kMatrix = 16,  ///< counts of a rank's own: every rank must know all of them
  kComposed = 32,     ///< params.composition says of what, and what that asks for
  kPredicts = 64,     ///< reads params.late; asks for nothing
  kBindsPeers = 128,  ///< of the schedule, while it runs: cannot be part of a grid
  /// Through the shared memory of the node that all ranks are on: the kernels of src/node run it,
  /// and the schedule is the model of their data flow.
  kOneNode = 256,
  /// Blocks go through other ranks than their neighbours: args.graph and args.topology.
  kGraph = 512,
  kMulticast = 1024,     ///< one rank on each node, and the network carries a message to many
  kCountedGroup = 2048,  ///< which the counts of all ranks name
  /// Counts of a rank's own: an order of messages that is equal on all ranks, made from a matrix of
  /// counts that are about this call's, or from these.
  kOrder = 4096,
  kStored = 8192,  ///< the order may be that of params.file
  /// The ranks are on a torus, and it is known where. Whoever only looks at schedules sees the
  /// ranks on a ring if he names no torus.
  kTorus = 16384,
};

struct Algorithm {
  CollectiveSet collectives;
  std::string_view name;
  BuildFunction build;
  std::span<const Parameter> parameters;
  unsigned restrictions;
  std::string_view cost;    ///< rounds and bytes in p, m (vector), b (block), q = ceil(log2 p)
  std::string_view source;  ///< paper or textbook, year
  Combining combining;      ///< of reductions; on one node that of the kernel, and of the schedule
  MessageRule rule = MessageRule::token_list;  ///< kOrder: by which the order is made
  /// Between hosts: with which parameters it cannot overflow a port; null: with none (safe_params).
  SafeParams safe = nullptr;
};

std::span<const Algorithm> catalogue();

/// The row serving `collective` under `name`, or nullptr.
const Algorithm* find_algorithm(Collective collective, std::string_view name);

/// The standard parameters of a row.
Params default_params(const Algorithm& algorithm);

/// What restrictions are judged by; equal on all ranks.
struct Conditions {
  int size = 1;
  bool commutative = true;
  bool shared = false;                 ///< may run through the shared memory of a node
  bool messages = false;               ///< its messages may (TransportKind::shm)
  const Topology* topology = nullptr;  ///< of the communicator; null: nothing is known
  bool graph = false;                  ///< who is whose neighbour is known
  int nodes = 0;                       ///< that the ranks are on; 0: nobody knows
  bool multicast = false;              ///< the network between the nodes may carry it
};

/// Why the row cannot serve such a call ("needs a commutative operation"), or nothing. What
/// kAllCounts, kMatrix and kOrder ask for the runtime is able to supply.
std::optional<std::string_view> unmet_restriction(const Algorithm& algorithm,
                                                  const Conditions& conditions,
                                                  const Params& params = {});
/// The same for a schedule that is to be built from these arguments as they are; a model of shared
/// memory can always be.
std::optional<std::string_view> unmet_restriction(const Algorithm& algorithm, const Args& args);

/// What a row with kOrder makes of such counts, with the parameters of `args`.
MessageList schedule_messages(const Algorithm& algorithm, const Args& args,
                              const CountMatrix& matrix);

/// This rank's schedule. Precondition: no unmet restriction, parameters within their limits. Only a
/// composed algorithm's schedule may hold collectives of the MPI library.
Schedule build(const Algorithm& algorithm, const Args& args);

/// The same schedule with textbook algorithms in place of the MPI library's collectives, and with
/// messages to each in place of those to a group: for the checker, the model and whoever has no MPI
/// library. `args` are those it was built from.
Schedule expand(const Schedule& schedule, const Args& args);

/// The schedules of all ranks as those want them who run nothing: expanded, and resolved for
/// all_waiting() with this `late` rank, or none. args[r] belongs to rank r.
std::vector<Schedule> build_all(const Algorithm& algorithm, std::span<const Args> args,
                                int late = -1);

}  // namespace unisono
