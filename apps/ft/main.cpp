// ft: a partial differential equation by 3-D Fourier transforms; see ../README.md.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "apps/common/application.h"
#include "apps/common/command_line.h"
#include "apps/common/persistent.h"
#include "apps/common/team.h"
#include "apps/ft/classes.h"
#include "apps/ft/solver.h"

namespace {

using namespace apps::ft;

struct Options {
  std::string name, form = "blocking";
  std::vector<std::size_t> box = {64, 64, 64};
  int iterations = 6;
  bool verify = false;
  std::string json;
};

/// The sum of the checksum's parts on rank 0, by MPI_Reduce or by one that is made once.
class Sum {
 public:
  Sum(const apps::World& world, apps::LoopTimer& timer, bool is_persistent)
      : world_(world), timer_(timer) {
    if (is_persistent)
      apps::persistent::kReduce(own_, total_, 2, MPI_DOUBLE, MPI_SUM, 0, world.comm, MPI_INFO_NULL,
                                &request_);
  }
  ~Sum() {
    if (request_ != MPI_REQUEST_NULL) MPI_Request_free(&request_);
  }
  Sum(const Sum&) = delete;
  Sum& operator=(const Sum&) = delete;

  Complex operator()(const Complex& own) {
    own_[0] = own.real();
    own_[1] = own.imag();
    timer_.collective([&] {
      if (request_ == MPI_REQUEST_NULL) {
        MPI_Reduce(own_, total_, 2, MPI_DOUBLE, MPI_SUM, 0, world_.comm);
        return;
      }
      MPI_Start(&request_);
      MPI_Wait(&request_, MPI_STATUS_IGNORE);
    });
    return {total_[0], total_[1]};
  }

 private:
  apps::World world_;
  apps::LoopTimer& timer_;
  double own_[2] = {}, total_[2] = {};
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// The first checksum that is not the published one, or "".
std::string complaint(const std::vector<double>& sums, const std::vector<double>& published) {
  for (std::size_t i = 0; i < published.size(); ++i)
    if (!(std::abs(sums[i] / published[i] - 1) <= kEpsilon))
      return fmt::format("iteration {}: the checksum's {} part is {:.10f}, not {:.10f}", i / 2 + 1,
                         i % 2 == 0 ? "real" : "imaginary", sums[i], published[i]);
  return "";
}

double slowest(double own, const apps::World& world) {
  double all = own;
  MPI_Reduce(&own, &all, 1, MPI_DOUBLE, MPI_MAX, 0, world.comm);
  return all;
}

Box checked(const Options& o, const apps::World& world) {
  for (const std::size_t side : o.box)
    if (!std::has_single_bit(side)) throw apps::UsageError("--box: sides must be powers of two");
  const Box box{o.box[0], o.box[1], o.box[2]};
  const auto ranks = static_cast<std::size_t>(world.size);
  if (box.z % ranks != 0 && box.y % ranks != 0)
    throw apps::UsageError(
        fmt::format("--box: z is {}, y is {}: one of them must be a multiple of the ranks, {}",
                    box.z, box.y, world.size));
  if (!can_share(box, ranks))
    throw apps::UsageError(fmt::format(
        "--box: x times the other side must be a multiple of the ranks, {}", world.size));
  return box;
}

bool run(Options o, const apps::World& world) {
  apps::Report report(world, o.json);
  const Class* of = o.name.empty() ? nullptr : &kClasses.at(o.name);
  if (of != nullptr) {
    o.box = {of->box.x, of->box.y, of->box.z};
    o.iterations = of->iterations();
  }
  const Box box = checked(o, world);
  const bool is_persistent = o.form == "persistent";

  apps::LoopTimer timer(world.comm);
  MPI_Barrier(world.comm);
  const double begin = MPI_Wtime();
  Solver solver(
      box, is_persistent ? apps::persistent_team_of(world, timer) : apps::team_of(world, timer));
  const double setup = slowest(MPI_Wtime() - begin, world);
  Sum sum(world, timer, is_persistent);
  std::vector<double> sums;
  timer.start();
  for (int i = 0; i < o.iterations; ++i) {
    const Complex total = sum(solver.step());
    sums.insert(sums.end(), {total.real(), total.imag()});
    timer.lap();
  }
  std::vector<double> expected;
  std::string wrong;
  if (o.verify && world.rank == 0) {
    expected = of != nullptr ? of->checksums : solve_serially(box, o.iterations);
    if (of != nullptr) wrong = complaint(sums, expected);
  }
  apps::Facts facts = {{"app", "ft"}, {"form", o.form}};
  if (of != nullptr) facts.emplace_back("class", o.name);
  facts.insert(facts.end(), {{"n", box.points()},
                             {"box", o.box},
                             {"iterations", o.iterations},
                             {"message_bytes", solver.block_bytes()},
                             {"setup_seconds", setup}});
  if (o.verify) facts.emplace_back("verified_by", of != nullptr ? "published" : "serial");
  return report.finish(facts, timer, sums, o.verify ? &expected : nullptr, wrong);
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  apps::CommandLine line(
      "ft", "A diffusion equation by 3-D Fourier transforms: FT of the NAS Parallel Benchmarks");
  line.numbers("--box", o.box, 3, {1, 4096}, "points along x, y and z, powers of two");
  line.number("--iterations", o.iterations, {1, 1000000});
  line.word_of("--class", o.name, apps::names(kClasses),
               "a problem of the benchmark: S, W, A, B, C");
  line.excludes("--class", "--box");
  line.excludes("--class", "--iterations");
  line.word_of("--form", o.form, {"blocking", "persistent"},
               "how Alltoall and Reduce are called: each time, or made once and started");
  line.results(o.verify, o.json,
               "compare with the serial solver; with --class, with the published checksums");
  return apps::with_mpi(argc, argv, line, [&](const apps::World& world) { return run(o, world); });
}
