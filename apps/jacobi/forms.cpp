#include "apps/jacobi/forms.h"

#include <algorithm>

namespace apps::jacobi {

namespace {

constexpr int kRoot = 0;

int as_count(std::size_t value) { return static_cast<int>(value); }

/// A rank has rows: it computes its block of x from all of x.
class RowAllgather : public Form {
 public:
  RowAllgather(const System& system, const World& world, LoopTimer& timer)
      : Form(system, world, timer), rows_(count_ * system.rows()), x_(block_ * world.size, 0.0) {
    const std::size_t n = system_.rows();
    for (std::size_t i = 0; i < count_; ++i)
      for (std::size_t j = 0; j < n; ++j) rows_[i * n + j] = system_.off_diagonal(first_ + i, j);
  }

  void iterate() override {
    const std::size_t n = system_.rows();
    const double* x = x_.data();
    for (std::size_t i = 0; i < count_; ++i) {
      const double* row = rows_.data() + i * n;
      double sum = 0;
#pragma omp simd reduction(+ : sum)
      for (std::size_t j = 0; j < n; ++j) sum += row[j] * x[j];
      own_[i] = system_.next(first_ + i, sum);
    }
    timer_.collective([&] {
      MPI_Allgather(own_.data(), as_count(block_), MPI_DOUBLE, x_.data(), as_count(block_),
                    MPI_DOUBLE, world_.comm);
    });
  }

 private:
  std::vector<double> rows_;
  std::vector<double> x_;
};

/// A rank has columns: from its block of x it computes its part of all n sums.
class Columns : public Form {
 public:
  Columns(const System& system, const World& world, LoopTimer& timer)
      : Form(system, world, timer), columns_(count_ * system.rows()), part_(system.rows()) {
    const std::size_t n = system_.rows();
    for (std::size_t j = 0; j < count_; ++j)
      for (std::size_t i = 0; i < n; ++i) columns_[j * n + i] = system_.off_diagonal(i, first_ + j);
  }

 protected:
  void compute_part() {
    const std::size_t n = system_.rows();
    std::fill(part_.begin(), part_.end(), 0.0);
    for (std::size_t j = 0; j < count_; ++j) {
      const double* column = columns_.data() + j * n;
      for (std::size_t i = 0; i < n; ++i) part_[i] += column[i] * own_[j];
    }
  }
  /// x from the complete sums, in place.
  void finish(std::vector<double>& sums) const {
    for (std::size_t i = 0; i < system_.rows(); ++i) sums[i] = system_.next(i, sums[i]);
  }
  int rows() const { return as_count(system_.rows()); }

  std::vector<double> columns_;
  std::vector<double> part_;
};

class ColumnAllreduce : public Columns {
 public:
  ColumnAllreduce(const System& system, const World& world, LoopTimer& timer)
      : Columns(system, world, timer), sums_(system.rows()) {}

  void iterate() override {
    compute_part();
    timer_.collective([&] {
      MPI_Allreduce(part_.data(), sums_.data(), rows(), MPI_DOUBLE, MPI_SUM, world_.comm);
    });
    for (std::size_t j = 0; j < count_; ++j) own_[j] = system_.next(first_ + j, sums_[first_ + j]);
  }

 private:
  std::vector<double> sums_;
};

class ColumnReduceBcast : public Columns {
 public:
  ColumnReduceBcast(const System& system, const World& world, LoopTimer& timer)
      : Columns(system, world, timer), x_(system.rows()) {}

  void iterate() override {
    compute_part();
    timer_.collective([&] {
      MPI_Reduce(part_.data(), x_.data(), rows(), MPI_DOUBLE, MPI_SUM, kRoot, world_.comm);
    });
    if (world_.rank == kRoot) finish(x_);
    timer_.collective([&] { MPI_Bcast(x_.data(), rows(), MPI_DOUBLE, kRoot, world_.comm); });
    std::copy_n(x_.begin() + static_cast<std::ptrdiff_t>(first_), count_, own_.begin());
  }

 private:
  std::vector<double> x_;
};

/// The root collects the parts as they are and adds them up itself.
class ColumnGatherScatter : public Columns {
 public:
  ColumnGatherScatter(const System& system, const World& world, LoopTimer& timer)
      : Columns(system, world, timer), x_(block_ * world.size, 0.0) {
    if (world.rank == kRoot) parts_.resize(system.rows() * static_cast<std::size_t>(world.size));
  }

  void iterate() override {
    compute_part();
    timer_.collective([&] {
      MPI_Gather(part_.data(), rows(), MPI_DOUBLE, parts_.data(), rows(), MPI_DOUBLE, kRoot,
                 world_.comm);
    });
    if (world_.rank == kRoot) {
      add_up();
      finish(x_);
    }
    timer_.collective([&] {
      MPI_Scatter(x_.data(), as_count(block_), MPI_DOUBLE, own_.data(), as_count(block_),
                  MPI_DOUBLE, kRoot, world_.comm);
    });
  }

 private:
  void add_up() {
    const std::size_t n = system_.rows();
    std::copy_n(parts_.begin(), n, x_.begin());
    for (std::size_t at = n; at < parts_.size(); at += n)
      for (std::size_t i = 0; i < n; ++i) x_[i] += parts_[at + i];
  }

  std::vector<double> parts_;
  std::vector<double> x_;
};

}  // namespace

Form::Form(const System& system, const World& world, LoopTimer& timer)
    : system_(system), world_(world), timer_(timer) {
  const std::size_t n = system.rows(), p = static_cast<std::size_t>(world.size);
  block_ = (n + p - 1) / p;
  first_ = std::min(n, block_ * static_cast<std::size_t>(world.rank));
  count_ = std::min(block_, n - first_);
  own_.assign(block_, 0.0);
}

std::vector<double> Form::solution() const {
  std::vector<double> x(block_ * static_cast<std::size_t>(world_.size));
  MPI_Allgather(own_.data(), as_count(block_), MPI_DOUBLE, x.data(), as_count(block_), MPI_DOUBLE,
                world_.comm);
  x.resize(system_.rows());
  return x;
}

std::unique_ptr<Form> make_form(FormName name, const System& system, const World& world,
                                LoopTimer& timer) {
  switch (name) {
    case FormName::row_allgather: return std::make_unique<RowAllgather>(system, world, timer);
    case FormName::column_allreduce: return std::make_unique<ColumnAllreduce>(system, world, timer);
    case FormName::column_reduce_bcast:
      return std::make_unique<ColumnReduceBcast>(system, world, timer);
    case FormName::column_gather_scatter:
      return std::make_unique<ColumnGatherScatter>(system, world, timer);
  }
  return nullptr;
}

}  // namespace apps::jacobi
