// Composed algorithms: a grid of ranks whose rows and columns run algorithms of the catalogue, or
// the MPI library's own collectives. Rows are adjacent ranks or, by levels of the topology, any.
// Sources: Kuehnemann, Rauber, Ruenger, Improving the Execution Time of Global Communication
// Operations (2004); the form lanes: Traeff, Hunold, Decomposing MPI Collectives for Exploiting
// Multi-lane Communication (2020).
#pragma once
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "algorithms/catalogue.h"
#include "patterns/grid.h"
#include "topology/topology.h"

namespace unisono {

enum class Form : std::uint8_t {
  leaders,  ///< each row speaks through one rank: any number of ranks
  full,     ///< the whole vector in every row, then in every column
  lanes,    ///< every column works on its share: optimal in bytes
  split,    ///< every column moves its own ranks' blocks only: each crosses to another row once
};
inline constexpr std::array<std::string_view, 4> kFormNames = {"leaders", "full", "lanes", "split"};

/// An algorithm with its parameters inside another.
struct NestedSpec {
  const Algorithm* algorithm = nullptr;  ///< nullptr: the MPI library's own
  Params params;
  bool operator==(const NestedSpec&) const = default;

  /// Through the memory of the node that the group is on.
  bool in_node() const { return algorithm != nullptr && (algorithm->restrictions & kOneNode) != 0; }
  /// One step of the schedule, a call, instead of messages.
  bool is_called() const { return algorithm == nullptr || in_node(); }
};

struct Composition {
  /// p1 x ... x pd with the last dimension adjacent; rows are the last dimension, columns all the
  /// others together. Empty: two dimensions, as balanced as can be; with rows of equal length
  /// unless leaders speak for them.
  std::vector<int> shape;
  /// Instead of a shape: the rows are the groups of the last level, wherever their ranks stand; the
  /// columns are a grid by the levels before, from far to near.
  std::vector<Level> levels;
  Form form = Form::leaders;
  std::array<NestedSpec, 2>
      rows;            ///< the first and the second collective; alike where there is one
  NestedSpec columns;  ///< more than two dimensions: a grid of the others
  bool operator==(const Composition&) const = default;
};

/// Which collectives a form is made of.
struct FormRow {
  Collective collective;
  Form form;
  Collective first;                  ///< in the rows
  std::optional<Collective> second;  ///< in the rows, afterwards
  Collective columns;
  bool full_grid;    ///< only rows of equal length
  bool commutative;  ///< sums not in rank order
};

/// The forms of a collective, the standard one first. Irregular collectives have those of their
/// regular namesakes.
std::span<const FormRow> forms_of(Collective collective);
const FormRow* find_form(Collective collective, Form form);

/// gather for gatherv and so on: the collective whose algorithms serve it.
Collective regular(Collective collective);

/// A textbook algorithm that serves the collective for any number of ranks and any operation. It
/// stands where a composition names none, and for the MPI library's own in expand().
NestedSpec textbook(Collective collective);

/// That of the parameters, or the standard one.
const Composition& composition_of(const Params& params, Collective collective);

/// The same composition always has the same address, for as long as the process lives: so Params
/// can be compared and hashed. Thread-safe.
const Composition* intern(const Composition& composition);

/// The grid of `size` ranks. Precondition: the topology knows the last level, if there is one; it
/// must live as long as the grid.
Grid grid_of(const Composition& composition, int size, const Topology* topology);
/// That of the groups by which the columns are a grid again; null: no level is left.
const Topology* topology_of_columns(const Composition& composition, const Topology* topology);

/// Why the composition cannot serve a communicator, or nothing.
std::optional<std::string_view> unmet_composition(const Composition& composition,
                                                  Collective collective,
                                                  const Conditions& conditions);

/// Whether a schedule with these parameters depends on where the ranks are: args.topology.
bool reads_topology(const Algorithm& algorithm, const Params& params);

/// Whether some phase is a call: of the MPI library's own collective, or of a node's.
bool has_calls(const Composition& composition);
/// Whether some phase runs through the memory of nodes.
bool runs_in_nodes(const Composition& composition);

/// Groups of ranks among whom such a phase runs; each rank is in one of them at most, and none has
/// one member.
struct CalledGroups {
  std::vector<RankGroup> groups;
  bool in_node = false;  ///< some of their phases through the memory of their node
  bool operator==(const CalledGroups&) const = default;
};

/// Whether some phase goes through the network's multicast.
bool has_multicasts(const Composition& composition);
/// The groups that it goes to, in a call with this root. Precondition: no unmet restriction.
std::vector<RankGroup> multicast_groups(const Composition& composition, Collective collective,
                                        int size, int root, const Topology* topology);

/// Of a call with this root. Precondition: no unmet restriction.
std::vector<CalledGroups> called_groups(const Composition& composition, Collective collective,
                                        int size, int root, const Topology* topology);
/// Whether those depend on the root: rows differ in length, so that leaders stand where it does.
bool has_groups_of_root(const Composition& composition, Collective collective, int size,
                        const Topology* topology);

}  // namespace unisono
