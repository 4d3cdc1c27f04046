#include "tools/sim/simulate.h"

#include <fmt/format.h>
#include <smpi/smpi.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <simgrid/s4u.hpp>

#include "algorithms/composition.h"
#include "select/spec.h"
#include "unisono/unisono.h"

namespace unisono::sim {

namespace {

// SMPI's own operations take no simulated time, in whatever algorithm. This one does, in all alike.
// The signature is MPI_User_function's. NOLINTNEXTLINE(readability-non-const-parameter)
void charged_sum(void* in, void* inout, int* count, MPI_Datatype*) {
  const auto* left = static_cast<const float*>(in);
  auto* right = static_cast<float*>(inout);
  for (int i = 0; i < *count; ++i) right[i] += left[i];
  smpi_execute_flops(*count);
}

unsigned long long calls_run_by_unisono() {
  unsigned long long own = 0, native = 0;
  unisono_counts(&own, &native);
  return own;
}

/// Whether the result of cell.prepare(iteration) and a call is right on all ranks.
bool verified(const bench::Cell& cell, std::uint64_t iteration, const std::string& algorithm,
              bool shares) {
  if (shares) return true;
  const auto mismatch = cell.verify(iteration);
  if (mismatch)
    fmt::print(stderr, "unisono-sim: WRONG RESULT: {} {}, rank {}, element {}: {} instead of {}\n",
               name(cell.what.collective), algorithm, cell.rank, mismatch->index, mismatch->found,
               mismatch->expected);
  return largest(mismatch ? 1 : 0, MPI_COMM_WORLD) == 0;
}

/// Whether the MPI library's own collectives run, on all ranks or in a grid's rows and columns.
bool runs_library(Collective collective, const std::string& algorithm) {
  const auto spec = parse_spec(collective, algorithm);
  if (!spec) return false;
  const Composition* composition = spec->params.composition;
  return spec->is_native() || (composition != nullptr && has_calls(*composition));
}

std::optional<std::string> obstacle_to(const Setting& setting, const std::string& algorithm,
                                       Count memory_of_rank) {
  const auto spec = parse_spec(setting.collective, algorithm);
  if (!spec) return spec.error();
  if (spec->algorithm != nullptr) {
    const Composition* composition = spec->params.composition;
    if ((spec->algorithm->restrictions & kOneNode) != 0 ||
        (composition != nullptr && runs_in_nodes(*composition)))
      return "runs through the shared memory of a node, which is not simulated";
    Algorithm judged = *spec->algorithm;
    // The runtime reads it; where it does not serve the call is left to the MPI library.
    if (std::getenv("UNISONO_TOPOLOGY") != nullptr) judged.restrictions &= ~unsigned{kTorus};
    if (const auto unmet = unmet_restriction(judged, {setting.size}, spec->params))
      return std::string(*unmet);
  }
  return bench::Cell::obstacle(setting, memory_of_rank);
}

}  // namespace

double largest(double mine, MPI_Comm comm) {
  double all = 0;
  PMPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, comm);
  return all;
}

double simulated_clock() { return simgrid::s4u::Engine::get_clock(); }

double start_together(MPI_Comm comm) {
  const double start = std::ceil(largest(simulated_clock(), comm)) + 1;
  simgrid::s4u::this_actor::sleep_until(start);
  return start;
}

Setting setting_of(Collective collective, int root) {
  Setting s;
  s.collective = collective;
  s.type = bench::type_named(is_reducing(collective) ? "float" : "char");
  MPI_Op_create(charged_sum, 1, &s.op);
  s.root = root;
  s.comm = MPI_COMM_WORLD;
  MPI_Comm_rank(s.comm, &s.rank);
  MPI_Comm_size(s.comm, &s.size);
  return s;
}

void share_buffers(Setting& setting) {
  setting.memory = {[](std::size_t bytes) { return SMPI_SHARED_MALLOC(bytes); }, smpi_shared_free};
}

void warm_up(MPI_Comm comm) {
  unisono_force("barrier", "dissemination");
  kProgramFunctions.barrier(comm);
}

Outcome simulate(const Setting& setting, const std::string& algorithm, Count memory_of_rank) {
  const bool native = algorithm == "native", shares = setting.memory.allocate != nullptr;
  const Count limit = shares ? std::numeric_limits<Count>::max() : memory_of_rank;
  if (auto obstacle = obstacle_to(setting, algorithm, limit)) return {obstacle};
  const bench::Mpi& mpi = native ? kLibraryFunctions : kProgramFunctions;
  unisono_force(name(setting.collective).data(), algorithm.c_str());
  bench::Cell cell(setting);
  Outcome outcome;

  // In the first call some of SMPI's algorithms make communicators, and grids those of their rows.
  if (runs_library(setting.collective, algorithm)) {
    cell.prepare(1);
    start_together(setting.comm);
    cell.run(mpi);
    outcome.correct = verified(cell, 1, algorithm, shares);
  }

  cell.prepare(2);
  const auto before = calls_run_by_unisono();
  const double start = start_together(setting.comm);
  cell.run(mpi);
  outcome.seconds = largest(simulated_clock() - start, setting.comm);
  if (!native && calls_run_by_unisono() == before) return {"left to the MPI library"};
  outcome.correct = verified(cell, 2, algorithm, shares) && outcome.correct;
  return outcome;
}

}  // namespace unisono::sim
