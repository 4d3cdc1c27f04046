// The commands of unisono-schedule: what Unisono knows about its algorithms, without MPI. The
// Python command and the generated documentation are made from their output.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/catalogue.h"
#include "schedule/problem.h"
#include "select/spec.h"
#include "topology/topology.h"

namespace unisono {

/// The catalogue, as JSON or as text.
std::string list(bool json);

/// The variables of the environment, as JSON or as Markdown (docs/reference/environment.md).
std::string variables(bool json);

/// docs/algorithms.md.
std::string documentation();

/// The tables of "Rounds after the last arrival" in docs/results/arrival.md.
std::string arrival_tables();

struct Show {
  Problem problem;
  Spec spec;
  std::unique_ptr<const Topology> topology;     ///< the problem's
  std::unique_ptr<const NeighbourGraph> graph;  ///< the same
  int rank = -1;                                ///< -1: all
  std::string format = "text";
};
std::string show(const Show& what);

/// "needs a commutative operation; ..." or nothing.
std::string restrictions_text(unsigned restrictions);
/// What the order of a row's sums depends on, by name.
std::vector<std::string_view> order_depends_on(const Algorithm& row);

}  // namespace unisono
