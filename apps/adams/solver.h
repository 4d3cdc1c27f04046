// Integration by a parallel Adams method, each rank its own part of every vector. Without MPI: how
// ranks come by each other's parts is given as functions.
#pragma once
#include <functional>
#include <vector>

#include "apps/adams/brusselator.h"
#include "apps/adams/method.h"

namespace apps::adams {

/// Completes a vector of which only one's own part is filled.
using Gather = std::function<void(double* whole)>;

/// What to integrate and how.
struct Problem {
  const Method& method;
  const Brusselator& equations;
  double step;  ///< h
};

/// Y_i ~ y(b_i h) of the first step, all vectors whole: the fixed point of
/// Y_i = y + h sum_j start_ij f(Y_j), which has order k.
std::vector<std::vector<double>> first_stages(const Problem& problem);

/// What the forms of the methods share: y, the F_j, and the computation of one stage. `own` is
/// this rank's part of every vector.
class Solver {
 public:
  Solver(const Problem& problem, Range own, Gather gather);
  virtual ~Solver() = default;

  virtual void step() = 0;
  /// All of y. Collective.
  std::vector<double> solution();

 protected:
  std::size_t stages() const { return problem_.method.stages; }
  std::size_t own_size() const { return 2 * own_.count(); }
  /// Fills this rank's part of all F_j with those of the first step.
  void start(const std::vector<double*>& f) const;
  /// This rank's part of the new F_i, from its parts of the old F_j.
  void advance(std::size_t stage, const std::vector<double*>& f, double* f_new);
  /// y at the end of the step, which is the last stage, from the old F_j.
  void advance_y(const std::vector<double*>& f);

 private:
  /// result = y + h sum_j weights_j F_j
  void combine(const double* weights, const std::vector<double*>& f, double* result) const;

  Problem problem_;
  Range own_;
  Gather gather_;
  std::vector<double> y_;             // own part
  std::vector<double> base_, rates_;  // own part, of a correction
  std::vector<double> whole_;
};

/// All stages, one after another. With everything its own and nothing to gather it is the serial
/// solver.
class DataParallel : public Solver {
 public:
  DataParallel(const Problem& problem, Range own, Gather gather);
  void step() override;

 private:
  std::vector<std::vector<double>> storage_;
  std::vector<double*> f_, f_new_;
};

/// Only one stage, while other groups of ranks compute the others. `exchange` then brings this
/// rank's part of all F_j; `mine` is that of its own stage.
class TaskParallel : public Solver {
 public:
  using Exchange = std::function<void(const double* mine, double* all)>;
  /// The part of F_j begins at all + j * stride + offset.
  struct Layout {
    std::size_t stride, offset;
  };
  TaskParallel(const Problem& problem, Range own, Gather gather, std::size_t stage,
               Exchange exchange, Layout layout);
  void step() override;

 private:
  std::size_t stage_;
  Exchange exchange_;
  std::vector<double> all_, mine_;
  std::vector<double*> f_;
};

std::vector<double> solve_serially(const Problem& problem, int steps);

}  // namespace apps::adams
