#include "apps/adams/solver.h"

#include <algorithm>
#include <utility>

namespace apps::adams {

namespace {

/// y += factor * x
void add(double factor, const double* x, std::size_t count, double* y) {
  for (std::size_t i = 0; i < count; ++i) y[i] += factor * x[i];
}

}  // namespace

std::vector<std::vector<double>> first_stages(const Problem& problem) {
  const std::size_t k = problem.method.stages, size = problem.equations.size();
  const std::vector<double> y = problem.equations.initial();
  std::vector<std::vector<double>> stages(k, y), rates(k, std::vector<double>(size));
  // An iteration gains one order and k are enough; twice as many bring the fixed point closer.
  for (std::size_t iteration = 0; iteration < 2 * k; ++iteration) {
    for (std::size_t j = 0; j < k; ++j)
      problem.equations.evaluate(stages[j].data(), {0, problem.equations.points()},
                                 rates[j].data());
    for (std::size_t i = 0; i < k; ++i) {
      stages[i] = y;
      for (std::size_t j = 0; j < k; ++j)
        add(problem.step * problem.method.start[i * k + j], rates[j].data(), size,
            stages[i].data());
    }
  }
  return stages;
}

Solver::Solver(const Problem& problem, Range own, Gather gather)
    : problem_(problem),
      own_(own),
      gather_(std::move(gather)),
      base_(own_size()),
      rates_(own_size()),
      whole_(problem.equations.size()) {
  const std::vector<double> initial = problem.equations.initial();
  y_.assign(initial.begin() + static_cast<std::ptrdiff_t>(2 * own.first),
            initial.begin() + static_cast<std::ptrdiff_t>(2 * own.last));
}

std::vector<double> Solver::solution() {
  std::copy(y_.begin(), y_.end(), whole_.begin() + static_cast<std::ptrdiff_t>(2 * own_.first));
  gather_(whole_.data());
  return whole_;
}

void Solver::start(const std::vector<double*>& f) const {
  const std::vector<std::vector<double>> first = first_stages(problem_);
  for (std::size_t j = 0; j < stages(); ++j)
    problem_.equations.evaluate(first[j].data(), own_, f[j]);
}

void Solver::combine(const double* weights, const std::vector<double*>& f, double* result) const {
  std::copy(y_.begin(), y_.end(), result);
  for (std::size_t j = 0; j < stages(); ++j)
    add(problem_.step * weights[j], f[j], own_size(), result);
}

void Solver::advance(std::size_t stage, const std::vector<double*>& f, double* f_new) {
  const Method& m = problem_.method;
  double* mine = whole_.data() + 2 * own_.first;
  combine(m.predictor.data() + stage * stages(), f, mine);
  const int corrections = m.implicit[stage] == 0 ? 0 : m.corrections;
  if (corrections > 0) combine(m.corrector.data() + stage * stages(), f, base_.data());
  for (int correction = 0; correction < corrections; ++correction) {
    gather_(whole_.data());
    problem_.equations.evaluate(whole_.data(), own_, rates_.data());
    std::copy(base_.begin(), base_.end(), mine);
    add(problem_.step * m.implicit[stage], rates_.data(), own_size(), mine);
  }
  gather_(whole_.data());
  problem_.equations.evaluate(whole_.data(), own_, f_new);
}

void Solver::advance_y(const std::vector<double*>& f) {
  combine(problem_.method.predictor.data() + (stages() - 1) * stages(), f, base_.data());
  y_.swap(base_);
}

DataParallel::DataParallel(const Problem& problem, Range own, Gather gather)
    : Solver(problem, own, std::move(gather)),
      storage_(2 * stages(), std::vector<double>(own_size())) {
  for (std::size_t j = 0; j < stages(); ++j) {
    f_.push_back(storage_[j].data());
    f_new_.push_back(storage_[stages() + j].data());
  }
  start(f_);
}

void DataParallel::step() {
  for (std::size_t i = 0; i < stages(); ++i) advance(i, f_, f_new_[i]);
  advance_y(f_);
  f_.swap(f_new_);
}

TaskParallel::TaskParallel(const Problem& problem, Range own, Gather gather, std::size_t stage,
                           Exchange exchange, Layout layout)
    : Solver(problem, own, std::move(gather)),
      stage_(stage),
      exchange_(std::move(exchange)),
      all_(stages() * layout.stride),
      mine_(own_size()) {
  for (std::size_t j = 0; j < stages(); ++j)
    f_.push_back(all_.data() + j * layout.stride + layout.offset);
  start(f_);
}

void TaskParallel::step() {
  advance(stage_, f_, mine_.data());
  advance_y(f_);
  exchange_(mine_.data(), all_.data());
}

std::vector<double> solve_serially(const Problem& problem, int steps) {
  DataParallel solver(problem, {0, problem.equations.points()}, [](double*) {});
  for (int i = 0; i < steps; ++i) solver.step();
  return solver.solution();
}

}  // namespace apps::adams
