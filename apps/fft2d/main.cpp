// fft2d: 2-D Fourier transforms of a matrix, by FFTW and a transpose; see ../README.md.
#include <fftw3.h>

#include <complex>
#include <memory>

#include "apps/common/application.h"
#include "apps/common/command_line.h"
#include "apps/common/random.h"
#include "apps/common/team.h"

namespace {

using Complex = std::complex<double>;

struct Options {
  std::size_t n = 512;
  int iterations = 20;
  bool verify = false;
  std::string json;
};

struct Destroy {
  void operator()(fftw_plan plan) const { fftw_destroy_plan(plan); }
};
using Plan = std::unique_ptr<std::remove_pointer_t<fftw_plan>, Destroy>;

fftw_complex* raw(std::vector<Complex>& values) {
  return reinterpret_cast<fftw_complex*>(values.data());
}

/// Of each of `count` rows of n values, in place.
Plan rows_plan(std::vector<Complex>& rows, int n, int count, int sign) {
  return Plan(fftw_plan_many_dft(1, &n, count, raw(rows), nullptr, 1, n, raw(rows), nullptr, 1, n,
                                 sign, FFTW_ESTIMATE));
}

void draw(std::vector<Complex>& rows, std::size_t first) {
  apps::NasRandom random(2 * first);
  for (Complex& value : rows) {
    const double re = random.next();
    value = {re, random.next()};
  }
}

/// An iteration transforms forwards or, every other time, back; the result lies transposed. So
/// after an even number the matrix is the first again.
std::vector<double> solve_serially(const Options& o) {
  std::vector<Complex> matrix(o.n * o.n);
  const int n = static_cast<int>(o.n);
  const Plan plan(fftw_plan_dft_2d(n, n, raw(matrix), raw(matrix), FFTW_FORWARD, FFTW_ESTIMATE));
  draw(matrix, 0);
  if (o.iterations % 2 != 0) {
    fftw_execute(plan.get());
    for (std::size_t i = 0; i < o.n; ++i)
      for (std::size_t j = 0; j < i; ++j) std::swap(matrix[i * o.n + j], matrix[j * o.n + i]);
  }
  const auto* numbers = reinterpret_cast<const double*>(matrix.data());
  return {numbers, numbers + 2 * matrix.size()};
}

bool run(const Options& o, const apps::World& world) {
  apps::Report report(world, o.json);
  apps::demand_multiple(world, "--n", o.n);
  apps::LoopTimer timer(world.comm);
  apps::Transpose<Complex> transpose(o.n, o.n, apps::team_of(world, timer));
  std::vector<Complex> rows(o.n * o.n / static_cast<std::size_t>(world.size));
  const int n = static_cast<int>(o.n), own = n / world.size;
  const Plan forward = rows_plan(rows, n, own, FFTW_FORWARD);
  const Plan back = rows_plan(rows, n, own, FFTW_BACKWARD);
  draw(rows, static_cast<std::size_t>(world.rank) * rows.size());
  timer.start();
  for (int i = 0; i < o.iterations; ++i) {
    const Plan& plan = i % 2 == 0 ? forward : back;
    fftw_execute(plan.get());
    transpose(rows.data(), rows.data());
    fftw_execute(plan.get());
    if (i % 2 != 0)
      for (Complex& value : rows) value /= static_cast<double>(o.n * o.n);
    timer.lap();
  }
  std::vector<double> found, expected;
  if (o.verify) {
    found = apps::collected(world, reinterpret_cast<const double*>(rows.data()), 2 * rows.size());
    if (world.rank == 0) expected = solve_serially(o);
  }
  return report.finish({{"app", "fft2d"},
                        {"form", "rows"},
                        {"n", o.n},
                        {"iterations", o.iterations},
                        {"message_bytes", transpose.block_bytes()}},
                       timer, found, o.verify ? &expected : nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  apps::CommandLine line(
      "fft2d", "2-D Fourier transforms of an n x n matrix: FFTW along rows, and a transpose");
  line.number("--n", o.n, {1, 32768}, "rows and columns, a multiple of the ranks");
  line.number("--iterations", o.iterations, {1, 1000000});
  line.results(o.verify, o.json, "compare with FFTW's own 2-D transform on rank 0");
  return apps::with_mpi(argc, argv, line, [&](const apps::World& world) { return run(o, world); });
}
