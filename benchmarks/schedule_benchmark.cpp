// How long it takes to build one rank's schedule, and how large it is. The counters: ops, KiB (what
// the schedule holds in memory), ns per op.
//
// The limit that counts: Bcast by circulant and chain with 1,000,000 ranks, under 1 ms and 64 KiB.
#include <benchmark/benchmark.h>

#include <string>

#include "algorithms/catalogue.h"
#include "base/size.h"

namespace unisono {
namespace {

struct Case {
  Collective collective;
  std::string_view algorithm;
  int size;
  Count bytes;  ///< of the vector, or of a block
};

// A rank in the middle: neither the root nor a leaf without children.
int rank_of(int size) { return size / 2; }

Args args_of(const Case& c, const Algorithm& algorithm) {
  Args args;
  args.collective = c.collective;
  args.size = c.size;
  args.rank = rank_of(c.size);
  args.params = default_params(algorithm);
  args.unit_bytes = is_reducing(c.collective) ? 4 : 1;
  const Count units = c.bytes / args.unit_bytes;
  const bool cut = c.collective == Collective::reduce_scatter_block;
  args.count = units;
  args.send.count = args.recv.count = cut ? units / c.size : units;
  return args;
}

void build_schedule(benchmark::State& state, const Case& c) {
  const Algorithm& algorithm = *find_algorithm(c.collective, c.algorithm);
  const Args args = args_of(c, algorithm);
  for ([[maybe_unused]] auto _ : state) {
    Schedule schedule = build(algorithm, args);
    benchmark::DoNotOptimize(schedule);
  }
  const Schedule schedule = build(algorithm, args);
  const auto ops = static_cast<double>(schedule.ops().size());
  state.counters["ops"] = ops;
  state.counters["KiB"] = static_cast<double>(schedule.bytes()) / 1024;
  state.counters["per_op"] = benchmark::Counter(
      ops, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void add(const Case& c) {
  const Algorithm* algorithm = find_algorithm(c.collective, c.algorithm);
  if (algorithm == nullptr || unmet_restriction(*algorithm, args_of(c, *algorithm))) return;
  const std::string title = std::string(name(c.collective)) + "/" + std::string(c.algorithm) +
                            "/p=" + std::to_string(c.size) + "/" + format_size(c.bytes);
  benchmark::RegisterBenchmark(title.c_str(), build_schedule, c);
}

bool add_all() {
  using enum Collective;
  for (const auto* algorithm : {"circulant", "chain", "binomial"})
    add({bcast, algorithm, 1'000'000, 1 << 20});
  for (const int size : {2, 16, 128}) {
    for (const Algorithm& row : catalogue())
      if (contains(row.collectives, allreduce)) add({allreduce, row.name, size, 1 << 20});
    for (const auto* algorithm : {"simple", "ring", "bruck", "spread_out"})
      add({alltoall, algorithm, size, 4096});
    for (const auto* algorithm : {"ring", "recursive_doubling", "bruck", "circulant"})
      add({allgather, algorithm, size, 4096});
    for (const auto* algorithm : {"ring", "circulant", "pairwise"})
      add({reduce_scatter_block, algorithm, size, 1 << 20});
    for (const auto* algorithm : {"chain", "circulant", "scatter_allgather"})
      add({bcast, algorithm, size, 1 << 20});
    add({reduce, "chain", size, 1 << 20});
    add({scan, "chain", size, 1 << 20});
    add({barrier, "dissemination", size, 0});
  }
  // The longest pipeline there is: 4096 segments.
  add({bcast, "chain", 128, Count{1} << 30});
  add({bcast, "circulant", 128, Count{1} << 30});
  return true;
}

const bool kAdded = add_all();

}  // namespace
}  // namespace unisono
