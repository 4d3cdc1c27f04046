// Which algorithm runs a call: forced by the user, else the profile's, else the table of defaults',
// else the MPI library's own. Decides by facts equal on all ranks only.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "select/defaults.h"
#include "select/fixed_order.h"
#include "select/profile.h"
#include "select/spec.h"

namespace unisono {

/// What all ranks know of a call.
struct Facts {
  Collective collective = Collective::barrier;
  int size = 1;
  /// Of the signature: the vector (bcast, reduce, allreduce, scan, exscan), one block (gather,
  /// scatter, allgather, alltoall; allgatherv: the mean), all blocks (reduce_scatter, _block); 0
  /// for the other irregular ones, of which no rank knows all counts.
  Count bytes = 0;
  bool commutative = true;
  int nodes = 1;  ///< that the ranks are on; counts in profiles and online
  /// May run through the shared memory of a node: all ranks are on one, which has room for them,
  /// and its kernels know the operation.
  bool shared = false;
  /// Messages may go through the shared memory of a node: all ranks are on one that has it.
  bool messages = false;
  /// Of the communicator; null unless reads_topology().
  const Topology* topology = nullptr;
  const NeighbourGraph* graph = nullptr;  ///< of a collective among neighbours
  /// Phases of a grid may run through the memory of nodes: the ranks are on several, of which some
  /// has several of them, these share memory, and elements have no gaps.
  bool kernels_in_nodes = false;
  bool multicast = false;  ///< between the nodes, as far as anybody knows
  /// The bits of the result depend on the order in which three or more contributions are combined.
  bool order_matters = false;
};

/// What an algorithm's restrictions are judged by.
constexpr Conditions conditions(const Facts& facts) {
  return {facts.size,     facts.commutative,      facts.shared, facts.messages,
          facts.topology, facts.graph != nullptr, facts.nodes,  facts.multicast};
}

/// Of signatures; empty unless said otherwise.
struct ByteRange {
  Count least = std::numeric_limits<Count>::max(), most = -1;

  static constexpr ByteRange all() { return {0, std::numeric_limits<Count>::max()}; }
  bool is_empty() const { return least > most; }
  bool holds(Count bytes) const { return bytes >= least && bytes <= most; }
  void include(Count from, Count to) {
    least = std::min(least, from);
    most = std::max(most, to);
  }
};

/// How many calls of a kind need not be looked at, one by one on every rank: those of all ranks
/// count alike, on whatever path.
class CallsToPass {
 public:
  void allow(std::uint32_t calls) { left_ = calls; }
  bool take() {
    if (left_ == 0) return false;
    --left_;
    return true;
  }

 private:
  std::uint32_t left_ = 0;
};

struct Choice {
  const Algorithm* algorithm = nullptr;  ///< nullptr: the MPI library's own
  Params params;
  /// "forced", "profile mine.json", "docs/results/defaults.md", "no better one known", ...
  std::string_view why;
  /// The forced algorithm that cannot serve this call; `why` says what it lacks.
  const Algorithm* unmet = nullptr;
  bool is_asked_for = false;       ///< forced, or in the profile
  bool is_forced = false;          ///< by the user, or by a hint of the program
  bool is_on_trial = false;        ///< the next such call may get another
  bool keeps_order = false;        ///< from the first call on, whatever making it ready costs
  CallsToPass* to_pass = nullptr;  ///< null: all further calls of the kind get the same
  std::string_view segment;        ///< where segment=auto was asked for: what became of it
};

/// What is selected online: which collectives on several nodes, and which within one.
struct LeftOnline {
  CollectiveSet collectives = 0, in_node = 0;
  bool only_between_nodes = false;  ///< `collectives` are those of several nodes

  CollectiveSet all() const { return collectives | in_node; }
};

class Selector {
 public:
  /// The defaults that hold for this MPI library and place.
  Selector(std::string_view flavour, Place place);
  Selector() = default;

  /// Cells that hold for this job; they come before the defaults, and after those of earlier calls.
  /// `why`: of their choices. `learned`: by an earlier job, by times. Before any choose().
  void use(std::vector<ProfileCell> cells, std::string why, bool learned = false);
  /// What the order of reductions that are not forced may depend on from now on. Before any
  /// choose().
  void reproduce(Reproducible what);
  /// Calls that are neither forced nor in the profile are then selected online: the selector's
  /// choice is one of several arms. Whether there are any.
  bool leave_online(const LeftOnline& what) {
    online_ = what;
    return what.all() != 0;
  }
  /// Nothing is forced, in the profile, or selected online beyond what is so by default.
  bool has_defaults_only() const;
  /// Whether something that sends messages is forced or in the profile: then nonblocking calls may
  /// be it, too.
  bool asks_for_messages() const;
  /// Whether any of that is forced which sends them through the memory of a node.
  bool forces_messages_in_node() const;
  /// Whether a kernel of a node is, whose schedule may be in flight.
  bool forces_kernels() const;
  /// Whether such a call is selected online.
  bool is_online(const Facts& facts) const {
    return is_left_online(facts.collective, facts.nodes) && is_open(facts) &&
           !keeps_kernels(facts) &&
           (facts.nodes > 1 ? !has_cell_in_class(facts)
                            : online_.in_node == 0 || is_same_in_class(facts));
  }
  /// Forces an algorithm; "default" takes it back. The error is one line.
  Result<Spec> force(Collective collective, std::string_view text);
  /// The collectives that choose() might not leave to the MPI library.
  CollectiveSet candidates() const;
  /// The bytes for which choose() might not leave a call on so many ranks and nodes to the MPI
  /// library: outside it does, so that most calls that are left are left by a look at this alone.
  ByteRange reach(Collective collective, int size, int nodes) const;
  /// Whether choose() might not leave such a call to the MPI library, whatever the operation.
  bool covers(const Facts& facts) const;
  /// Whether some choice for this collective depends on the topology.
  bool reads_topology(Collective collective) const { return contains(reads_topology_, collective); }
  bool reads_topology() const { return reads_topology_ != 0; }
  /// Never returns an algorithm that cannot serve the call; `why` then tells what it lacks.
  Choice choose(const Facts& facts) const;
  /// What the user forces comes before what a program asks for: `asked`, for this call.
  Choice choose(const Facts& facts, const Spec& asked, std::string_view why) const;

 private:
  struct Cell {
    const Default* row;
    Spec spec;
  };
  std::array<Spec, kCollectives> forced_ = filled();
  std::array<std::vector<Cell>, kCollectives> cells_;
  struct Book {
    std::string why;  // of its choices
    bool learned;
    std::array<std::vector<ProfileCell>, kCollectives> cells;  // sorted by ranks, nodes, bytes
  };
  std::vector<Book> books_;  // what is in one goes before what is in the next
  bool keeps_runs_ = false;  // Reproducible::runs
  std::vector<std::pair<const FixedOrder*, Spec>> fixed_;  // of reductions; empty: nothing is fixed
  LeftOnline online_;
  CollectiveSet reads_topology_ = 0;

  void note(Collective collective, const Spec& spec);
  bool is_fixed(Collective collective) const { return !fixed_.empty() && is_reducing(collective); }
  bool is_left_online(Collective collective, int nodes) const;
  bool is_open(const Facts& facts) const;
  /// Whether such a call has one order in all runs.
  bool keeps_order(const Facts& facts) const {
    return keeps_runs_ && facts.order_matters && facts.nodes == 1;
  }
  /// Whether nothing but the kernels of the node may run such a call, all of which combine in one
  /// order: its way would else be found by times, and the MPI library's own has another order.
  bool keeps_kernels(const Facts& facts) const;
  Choice kernels_for(const Facts& facts) const;
  /// What is found out holds for a size class. Where a cell of a profile is in it, that decides.
  bool has_cell_in_class(const Facts& facts) const;
  /// Within a node, where a row of the table begins or ends in the class, the table does; unless
  /// the rows there name the way that would be tried without one, so that they say no more than
  /// what is thought to be better.
  bool is_same_in_class(const Facts& facts) const;
  struct Entry {
    const ProfileCell* cell = nullptr;
    const Book* book = nullptr;
  };
  Entry profiled(const Facts& facts) const;
  static std::array<Spec, kCollectives> filled();
};

}  // namespace unisono
