#include "apps/dsm/programs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <map>
#include <utility>

#include "apps/common/share.h"
#include "apps/dsm/dsm.h"

namespace apps::dsm {

namespace {

std::size_t in_whole_pages(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

/// Rank 0 reads them while the others answer its requests.
std::vector<double> read_by_first(const double* values, std::size_t count, const World& world) {
  std::vector<double> all;
  if (world.rank == 0) {
    fetch(values, count * sizeof(double));
    all.assign(values, values + count);
  }
  barrier();
  return all;
}

/// The test of the paper's Table 6: every rank modifies some pages, and a barrier makes them the
/// same everywhere.
class Pages : public Program {
 public:
  Pages(const Problem& problem, const World& world)
      : world_(world),
        words_(problem.pages * page_bytes() / sizeof(std::uint64_t)),
        shared_(alloc<std::uint64_t>(words_ * static_cast<std::size_t>(world.size))) {
    modify();
    barrier();
    // From now on all ranks have all pages.
    fetch(shared_, words_ * sizeof(std::uint64_t) * static_cast<std::size_t>(world.size));
    barrier();
  }
  static std::size_t bytes(const Problem& problem, int ranks) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return problem.pages * page * static_cast<std::size_t>(ranks);
  }
  void iterate(const std::function<void()>& to_all) override {
    ++iteration_;
    modify();
    to_all();
  }
  std::string complaint() override {
    std::uint64_t own = 0, all = 0;
    for (int rank = 0; rank < world_.size; ++rank)
      for (std::size_t i = 0; i < words_; ++i)
        own += shared_[at(rank, i)] != value(rank, i) ? 1 : 0;
    MPI_Reduce(&own, &all, 1, MPI_UINT64_T, MPI_SUM, 0, world_.comm);
    return all == 0 ? "" : fmt::format("{} words of the pages are wrong", all);
  }

 private:
  std::size_t at(int rank, std::size_t i) const {
    return static_cast<std::size_t>(rank) * words_ + i;
  }
  /// Both halves of it change with the iteration.
  std::uint64_t value(int rank, std::size_t i) const {
    return (at(rank, i) + 1) * 0x9e3779b97f4a7c15 + iteration_ * 0x100000001;
  }
  void modify() {
    for (std::size_t i = 0; i < words_; ++i) shared_[at(world_.rank, i)] = value(world_.rank, i);
  }

  World world_;
  std::size_t words_;  // that each rank modifies
  std::uint64_t* shared_;
  std::uint64_t iteration_ = 0;
};

// --- a stencil
// ------------------------------------------------------------------------------------

/// Row i of the mean of the four neighbours; the border stays.
void relax(const double* from, double* to, std::size_t n, std::size_t i) {
  for (std::size_t j = 1; j + 1 < n; ++j)
    to[i * n + j] = 0.25 * (from[(i - 1) * n + j] + from[(i + 1) * n + j] + from[i * n + j - 1] +
                            from[i * n + j + 1]);
}

/// A hot border; the rest is 0.
double border(std::size_t i, std::size_t j, std::size_t n) {
  const bool is_border = i == 0 || j == 0 || i + 1 == n || j + 1 == n;
  return is_border ? 1 + static_cast<double>(i) / 3 + static_cast<double>(j) / 7 : 0;
}

/// Jacobi's iteration for Laplace's equation: each rank has rows, whose neighbours' borders it
/// reads.
class Stencil : public Program {
 public:
  Stencil(const Problem& problem, const World& world)
      : world_(world), n_(problem.n), rows_(share(n_, world.size, world.rank)) {
    for (double*& grid : grids_) grid = alloc<double>(n_ * n_);
    for (double* grid : grids_)
      for (std::size_t i = rows_.first; i < rows_.last; ++i)
        for (std::size_t j = 0; j < n_; ++j) grid[i * n_ + j] = border(i, j, n_);
    barrier();
  }
  static std::size_t bytes(const Problem& problem, int) {
    return 2 * in_whole_pages(problem.n * problem.n * sizeof(double));
  }
  void iterate(const std::function<void()>& to_all) override {
    for (std::size_t i = rows_.first; i < rows_.last; ++i)
      if (i > 0 && i + 1 < n_) relax(grids_[0], grids_[1], n_, i);
    std::swap(grids_[0], grids_[1]);
    to_all();
  }
  std::vector<double> solution() override { return read_by_first(grids_[0], n_ * n_, world_); }
  std::vector<double> serial_solution(int iterations) const override {
    std::vector<double> from(n_ * n_), to;
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t j = 0; j < n_; ++j) from[i * n_ + j] = border(i, j, n_);
    to = from;
    for (int k = 0; k < iterations; ++k, std::swap(from, to))
      for (std::size_t i = 1; i + 1 < n_; ++i) relax(from.data(), to.data(), n_, i);
    return from;
  }

 private:
  World world_;
  std::size_t n_;
  Range rows_;
  double* grids_[2] = {};
};

// --- a product
// ------------------------------------------------------------------------------------

/// Row i of a times x, both n x n.
void multiply(const double* a, const double* x, double* product, std::size_t n, std::size_t i) {
  for (std::size_t j = 0; j < n; ++j) product[i * n + j] = 0;
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t j = 0; j < n; ++j) product[i * n + j] += a[i * n + k] * x[k * n + j];
}

/// The rows of a sum up to less than 1, so that its powers stay small.
double factor(std::size_t i, std::size_t j, std::size_t n) {
  return static_cast<double>((i * 7 + j * 3) % 11) / (11 * static_cast<double>(n));
}

double identity(std::size_t i, std::size_t j, std::size_t) { return i == j ? 1 : 0; }

/// Powers of a matrix: in each iteration every rank multiplies its rows of a by all of the last
/// power.
class Product : public Program {
 public:
  Product(const Problem& problem, const World& world)
      : world_(world),
        n_(problem.n),
        rows_(share(n_, world.size, world.rank)),
        a_(alloc<double>(n_ * n_)) {
    for (double*& power : powers_) power = alloc<double>(n_ * n_);
    for (std::size_t i = rows_.first; i < rows_.last; ++i)
      for (std::size_t j = 0; j < n_; ++j) {
        a_[i * n_ + j] = factor(i, j, n_);
        powers_[0][i * n_ + j] = identity(i, j, n_);
      }
    barrier();
  }
  static std::size_t bytes(const Problem& problem, int) {
    return 3 * in_whole_pages(problem.n * problem.n * sizeof(double));
  }
  void iterate(const std::function<void()>& to_all) override {
    for (std::size_t i = rows_.first; i < rows_.last; ++i)
      multiply(a_, powers_[0], powers_[1], n_, i);
    std::swap(powers_[0], powers_[1]);
    to_all();
  }
  std::vector<double> solution() override { return read_by_first(powers_[0], n_ * n_, world_); }
  std::vector<double> serial_solution(int iterations) const override {
    std::vector<double> a(n_ * n_), from(n_ * n_), to(n_ * n_);
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t j = 0; j < n_; ++j) {
        a[i * n_ + j] = factor(i, j, n_);
        from[i * n_ + j] = identity(i, j, n_);
      }
    for (int k = 0; k < iterations; ++k, std::swap(from, to))
      for (std::size_t i = 0; i < n_; ++i) multiply(a.data(), from.data(), to.data(), n_, i);
    return from;
  }

 private:
  World world_;
  std::size_t n_;
  Range rows_;
  double* a_;
  double* powers_[2] = {};
};

template <class Made>
Kind kind() {
  return {Made::bytes, [](const Problem& problem, const World& world) -> std::unique_ptr<Program> {
            return std::make_unique<Made>(problem, world);
          }};
}

const std::map<std::string, Kind>& kinds() {
  static const std::map<std::string, Kind> all{
      {"pages", kind<Pages>()}, {"stencil", kind<Stencil>()}, {"product", kind<Product>()}};
  return all;
}

}  // namespace

const Kind* find_kind(const std::string& name) { return &kinds().at(name); }

std::vector<std::string> kind_names() {
  std::vector<std::string> all;
  for (const auto& [name, made] : kinds()) all.push_back(name);
  return all;
}

}  // namespace apps::dsm
