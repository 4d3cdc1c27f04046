#include "tools/sim/replay.h"

#include <fmt/format.h>
#include <mpi.h>

#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <simgrid/s4u.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/printable.h"
#include "files/file.h"
#include "files/json.h"
#include "tools/bench/cell.h"
#include "tools/sim/simulate.h"
#include "unisono/unisono.h"

namespace unisono::sim {

namespace {

/// Calls that are alike: of one place in the program, collective, size and shape of communicator.
struct Kind {
  Collective collective = Collective::barrier;
  Count bytes = 0;
  int ranks = 1;          ///< of a communicator
  bool strided = false;   ///< rank i is in number i % (p / ranks), else in i / ranks
  std::string algorithm;  ///< "native", what unisono_force() takes; empty, as all then: not forced
};

struct Step {
  std::size_t kind = 0;
  int root = 0;
};

struct Program {
  std::vector<Kind> kinds;
  std::vector<Step> steps;
  std::vector<std::vector<double>> computing;  ///< before each step; of rank i the i-th, modulo
  int repetitions = 1;
};

/// When this rank was where, in simulated seconds since the start.
struct Times {
  std::vector<double> entered, left, computed;
};

Kind kind_of(const Json& row) {
  const auto collective = collective_named(word(row, "collective"));
  if (!collective || !contains(kAmongAll, *collective))
    throw Bad{"no collective " + shown(field(row, "collective"))};
  return {*collective, integer(field(row, "bytes"), "bytes", 0, Count{1} << 50),
          whole(row, "ranks", 1), truth(row, "strided"), word(row, "algorithm")};
}

Program program_of(const Json& told) {
  constexpr double kLongest = 1e9;  // seconds
  Program program;
  program.repetitions = whole(told, "repetitions", 1);
  for (const Json& row : list(told, "kinds")) program.kinds.push_back(kind_of(row));
  const int kinds = static_cast<int>(program.kinds.size());
  for (const Json& row : list(told, "steps")) {
    program.steps.push_back(
        {static_cast<std::size_t>(whole(row, "kind", 0, kinds - 1)), whole(row, "root", 0)});
    auto& computing = program.computing.emplace_back();
    for (const Json& time : list(row, "computing_seconds"))
      computing.push_back(number(time, "a time", -kLongest, kLongest));
    if (computing.empty()) throw Bad{"a step is incomplete"};
  }
  return program;
}

Program read(const std::string& path) {
  const auto text = read_file(path);
  const auto program = text ? result_of([&] { return program_of(parse_json(*text, kLargeJson)); })
                            : Error{text.error()};
  if (!program) throw std::runtime_error(line_about(path, program.error()));
  return *program;
}

class Replay {
 public:
  explicit Replay(Program program) : program_(std::move(program)) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    make_cells();
  }

  /// Unisono's first calls make communicators of their own; only where something is learned they
  /// are timed. Native ones make nothing, and may take minutes of the simulator.
  void warm_up() {
    unisono::sim::warm_up(MPI_COMM_WORLD);
    for (const Step& step : program_.steps)
      if (is_forced(program_.kinds[step.kind]) && warm_.emplace(step.kind, true).second) call(step);
  }

  void run() {
    start_ = start_together(MPI_COMM_WORLD);
    for (int repetition = 0; repetition < program_.repetitions; ++repetition) {
      times_ = {};
      for (std::size_t i = 0; i < program_.steps.size(); ++i) take(i);
    }
    seconds_ = largest(simulated_clock() - start_, MPI_COMM_WORLD);
  }

  /// On all ranks; rank 0's is printed. Seconds are those of all calls of a kind together, of the
  /// last repetition: the mean over the ranks, and from the last arrival to the last exit.
  Json results() const {
    std::vector<double> inside, after;
    for (std::size_t i = 0; i < program_.steps.size(); ++i)
      inside.push_back(times_.left[i] - times_.entered[i]);
    after.resize(inside.size());
    for (const auto& [shape, comm] : comms_) {
      const auto left = all_of(times_.left, MPI_MAX, comm);
      const auto entered = all_of(times_.entered, MPI_MAX, comm);
      for (std::size_t i = 0; i < after.size(); ++i)
        if (shape_of(program_.kinds[program_.steps[i].kind]) == shape)
          after[i] = left[i] - entered[i];
    }
    return {{"seconds", seconds_},
            {"in_calls_seconds", of_kinds(inside)},
            {"computing_seconds", of_kinds(times_.computed)},
            {"after_last_arrival_seconds", of_kinds(after)}};
  }

 private:
  static bool is_forced(const Kind& kind) {
    return !kind.algorithm.empty() && kind.algorithm != "native";
  }

  using Shape = std::pair<int, bool>;
  static Shape shape_of(const Kind& kind) { return {kind.ranks, kind.strided}; }

  void make_cells() {
    for (const Step& step : program_.steps) {
      const Kind& kind = program_.kinds[step.kind];
      if (cells_.contains({step.kind, step.root})) continue;
      Setting setting = setting_of(kind.collective, step.root);
      share_buffers(setting);
      setting.bytes = kind.bytes;
      setting.comm = comm_of(kind);
      MPI_Comm_rank(setting.comm, &setting.rank);
      MPI_Comm_size(setting.comm, &setting.size);
      if (const auto obstacle = bench::Cell::obstacle(setting, std::numeric_limits<Count>::max()))
        throw std::runtime_error(
            fmt::format("{} of {} bytes: {}", name(kind.collective), kind.bytes, *obstacle));
      cells_.emplace(std::pair(step.kind, step.root), std::make_unique<bench::Cell>(setting));
    }
  }

  MPI_Comm comm_of(const Kind& kind) {
    if (kind.ranks < 1 || size_ % kind.ranks != 0)
      throw std::runtime_error(
          fmt::format("no communicators of {} of {} ranks", kind.ranks, size_));
    const auto [found, is_new] = comms_.emplace(shape_of(kind), MPI_COMM_WORLD);
    if (is_new && kind.ranks < size_)
      PMPI_Comm_split(MPI_COMM_WORLD,
                      kind.strided ? rank_ % (size_ / kind.ranks) : rank_ / kind.ranks, rank_,
                      &found->second);
    return found->second;
  }

  void take(std::size_t number) {
    const auto& computing = program_.computing[number];
    const double seconds = computing[static_cast<std::size_t>(rank_) % computing.size()];
    if (seconds > 0) simgrid::s4u::this_actor::sleep_for(seconds);
    times_.computed.push_back(seconds);
    times_.entered.push_back(simulated_clock() - start_);
    call(program_.steps[number]);
    times_.left.push_back(simulated_clock() - start_);
  }

  void call(const Step& step) {
    const Kind& kind = program_.kinds[step.kind];
    const bool native = kind.algorithm == "native";
    if (std::string& forced = forced_[kind.collective];
        !native && !kind.algorithm.empty() && forced != kind.algorithm) {
      forced = kind.algorithm;
      if (unisono_force(name(kind.collective).data(), forced.c_str()) != 0)
        throw std::runtime_error(fmt::format("{}: no algorithm {}", name(kind.collective), forced));
    }
    cells_.at({step.kind, step.root})->run(native ? kLibraryFunctions : kProgramFunctions);
  }

  static std::vector<double> all_of(std::vector<double> mine, MPI_Op op, MPI_Comm comm) {
    PMPI_Allreduce(MPI_IN_PLACE, mine.data(), static_cast<int>(mine.size()), MPI_DOUBLE, op, comm);
    return mine;
  }

  /// The mean over the ranks, of each kind's steps together.
  std::vector<double> of_kinds(const std::vector<double>& of_steps) const {
    const auto sums = all_of(of_steps, MPI_SUM, MPI_COMM_WORLD);
    std::vector<double> kinds(program_.kinds.size());
    for (std::size_t i = 0; i < sums.size(); ++i) kinds[program_.steps[i].kind] += sums[i] / size_;
    return kinds;
  }

  const Program program_;
  int rank_ = 0, size_ = 1;
  std::map<Shape, MPI_Comm> comms_;
  std::map<std::pair<std::size_t, int>, std::unique_ptr<bench::Cell>> cells_;
  std::map<std::size_t, bool> warm_;
  std::map<Collective, std::string> forced_;
  Times times_;  // of the last repetition
  double start_ = 0, seconds_ = 0;
};

}  // namespace

int replay(const std::string& path) {
  Replay replay(read(path));
  replay.warm_up();
  replay.run();
  const Json results = replay.results();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::puts(results.dump().c_str());
  std::fflush(stdout);
  return 0;
}

}  // namespace unisono::sim
