// The parallel Adams methods on p ranks, in the four forms of the paper (see ../README.md).
#pragma once
#include <map>
#include <memory>
#include <string>

#include "apps/adams/solver.h"
#include "apps/common/loop_timer.h"
#include "apps/common/world.h"

namespace apps::adams {

enum class FormName { dp, dp_orthogonal, tp, tp_orthogonal };

inline const std::map<std::string, FormName> kForms{{"dp", FormName::dp},
                                                    {"dp-orthogonal", FormName::dp_orthogonal},
                                                    {"tp", FormName::tp},
                                                    {"tp-orthogonal", FormName::tp_orthogonal}};

/// Collective. Makes communicators that live until MPI_Finalize. Throws UsageError if a
/// task-parallel form cannot have as many ranks.
std::unique_ptr<Solver> make_solver(FormName name, const Problem& problem, const World& world,
                                    LoopTimer& timer);

}  // namespace apps::adams
