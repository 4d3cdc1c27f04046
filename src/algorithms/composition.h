// Composed algorithms: a grid of ranks whose rows and columns run algorithms of the catalogue, or
// the MPI library's own collectives. Sources: Kuehnemann, Rauber, Ruenger, Improving the Execution
// Time of Global Communication Operations (2004); the form lanes: Traeff, Hunold, Decomposing MPI
// Collectives for Exploiting Multi-lane Communication (2020).
#pragma once
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "algorithms/catalogue.h"
#include "patterns/grid.h"

namespace unisono {

enum class Form : std::uint8_t {
  leaders,  ///< each row speaks through one rank: any number of ranks
  full,     ///< the whole vector in every row, then in every column
  lanes,    ///< every column works on its share: optimal in bytes
};
inline constexpr std::array<std::string_view, 3> kFormNames = {"leaders", "full", "lanes"};

/// An algorithm with its parameters inside another.
struct Inner {
  const Algorithm* algorithm = nullptr;  ///< nullptr: the MPI library's own
  Params params;
  bool operator==(const Inner&) const = default;

  /// Through the memory of the node that the group is on.
  bool in_node() const { return algorithm != nullptr && (algorithm->restrictions & kOneNode) != 0; }
  /// One step of the schedule, a call, instead of messages.
  bool is_called() const { return algorithm == nullptr || in_node(); }
};

struct Composition {
  /// p1 x ... x pd with the last dimension adjacent; rows are the last dimension, columns all the
  /// others together. Empty: two dimensions, as balanced as the form allows.
  std::vector<int> shape;
  Form form = Form::leaders;
  std::array<Inner, 2> rows;  ///< the first and the second collective; alike where there is one
  Inner columns;              ///< more than two dimensions: a grid of the others
  bool operator==(const Composition&) const = default;
};

/// Which collectives a form is made of.
struct FormRow {
  Collective collective;
  Form form;
  Collective first;                  ///< in the rows
  std::optional<Collective> second;  ///< in the rows, afterwards
  Collective columns;
  bool full_grid;    ///< no shorter last row
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
Inner textbook(Collective collective);

/// That of the parameters, or the standard one.
const Composition& composition_of(const Params& params, Collective collective);

/// The same composition always has the same address, for as long as the process lives: so Params
/// can be compared and hashed. Thread-safe.
const Composition* intern(const Composition& composition);

/// The width of the rows on `size` ranks.
int width_of(const Composition& composition, const FormRow& form, int size);

/// Why the composition cannot serve a communicator of `size` ranks, or nothing.
std::optional<std::string_view> unmet_composition(const Composition& composition,
                                                  Collective collective, int size,
                                                  bool commutative);

/// Whether some phase is a call: of the MPI library's own collective, or of a node's.
bool has_calls(const Composition& composition);
/// Whether some phase runs through the memory of nodes.
bool runs_in_nodes(const Composition& composition);

/// The ranks among whom such a phase runs.
struct CalledLine {
  Lattice line;
  bool in_node = false;  ///< some of them through the memory of their node
  bool operator==(const CalledLine&) const = default;
};

/// The called lines through rank 0, on `size` ranks. Precondition: no unmet restriction.
std::vector<CalledLine> called_lines(const Composition& composition, Collective collective,
                                     int size);

}  // namespace unisono
