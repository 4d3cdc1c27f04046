// Which algorithm runs a call: forced by the user, else the profile's, else the table of defaults',
// else the MPI library's own. Decides by facts equal on all ranks only.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "select/defaults.h"
#include "select/facts.h"
#include "select/fixed_order.h"
#include "select/profile.h"
#include "select/safe_arms.h"
#include "select/spec.h"

namespace unisono {

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

/// What is selected online: which collectives wherever their ranks are, which within a node, and
/// whether those that have a safe arm between hosts.
struct LeftOnline {
  CollectiveSet collectives = 0, in_node = 0;
  bool checks_between = false;

  bool any() const { return (collectives | in_node) != 0 || checks_between; }
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
    return what.any();
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
  /// Calls between hosts that are neither forced nor in the profile run a safe arm (safe_arms.h).
  /// Before any choose().
  void lead_safely() { safe_.emplace(flavour_); }
  /// Whether such a call is selected online.
  bool is_online(const Facts& facts) const;
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
  /// Whether something that is forced or in a profile depends on what the network costs: a segment
  /// that the model is to find, or the rate of a multicast.
  bool asks_for_network() const { return asks_for_network_; }
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
  std::string flavour_;
  std::optional<SafeRule> safe_;  // of calls between hosts, where it holds
  CollectiveSet reads_topology_ = 0;
  bool asks_for_network_ = false;

  void note(Collective collective, const Spec& spec);
  bool is_fixed(Collective collective) const { return !fixed_.empty() && is_reducing(collective); }
  bool is_left_online(Collective collective, int nodes) const;
  bool is_open(const Facts& facts) const;
  /// Whether such a call has one order in all runs.
  bool keeps_order(const Facts& facts) const { return keeps_runs_ && facts.order_matters; }
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
