// The Jacobi iteration on p ranks, in the four forms of the paper (see ../README.md).
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apps/common/loop_timer.h"
#include "apps/common/world.h"
#include "apps/jacobi/system.h"

namespace apps::jacobi {

/// A rank's part of the iteration. All ranks have blocks of ceil(n / p) rows or columns; those of
/// the last ranks reach beyond n, where everything is 0.
class Form {
 public:
  Form(const System& system, const World& world, LoopTimer& timer);
  virtual ~Form() = default;

  virtual void iterate() = 0;
  /// All of x, on every rank. Collective.
  std::vector<double> solution() const;

 protected:
  /// The inner part of n and of this rank's block: [first_, first_ + count_).
  const System& system_;
  const World& world_;
  LoopTimer& timer_;
  std::size_t block_, first_, count_;
  std::vector<double> own_;  ///< this rank's block of x
};

enum class FormName {
  row_allgather,
  column_allreduce,
  column_reduce_bcast,
  column_gather_scatter,
};

inline const std::map<std::string, FormName> kForms{
    {"row-allgather", FormName::row_allgather},
    {"column-allreduce", FormName::column_allreduce},
    {"column-reduce-bcast", FormName::column_reduce_bcast},
    {"column-gather-scatter", FormName::column_gather_scatter}};

std::unique_ptr<Form> make_form(FormName name, const System& system, const World& world,
                                LoopTimer& timer);

}  // namespace apps::jacobi
