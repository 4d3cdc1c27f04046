// The kernels of a node with threads as ranks, each pinned to a core as long as there are enough:
// the times are those of one call. Exchange is what no kernel can beat: two lines between two
// cores.
#include <benchmark/benchmark.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "node/kernels.h"

namespace unisono::node {
namespace {

constexpr std::size_t kSlotBytes = 32 << 10;
const int kCores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));

void pin(int rank) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(static_cast<unsigned>(rank % kCores), &cores);
  pthread_setaffinity_np(pthread_self(), sizeof cores, &cores);
}

void report_call(benchmark::State& state) {
  using benchmark::Counter;
  state.counters["call"] =
      Counter(static_cast<double>(state.iterations()),
              static_cast<Counter::Flags>(Counter::kAvgThreadsRate | Counter::kInvert));
}

/// All threads run equally many iterations, so a team is used again by the next benchmark.
class Job {
 public:
  explicit Job(const Groups& groups) : arena_(Team::arena_bytes(groups, kSlotBytes) / kLinePair) {
    const int size = groups.size();
    const std::span<std::byte> memory{arena_.data()->data(), arena_.size() * kLinePair};
    Team::prepare(memory.data(), groups);
    const WaitMode mode = size <= kCores ? WaitMode::spin : WaitMode::sleep;
    for (int rank = 0; rank < size; ++rank)
      teams_.emplace_back(memory, rank, groups, WaitPolicy{mode});
  }
  static Team& team_of(const benchmark::State& state) {
    static std::mutex mutex;
    static std::map<int, std::unique_ptr<Job>> jobs;
    pin(state.thread_index());
    const std::lock_guard lock(mutex);
    auto& job = jobs[state.threads()];
    if (job == nullptr) job = std::make_unique<Job>(suitable_groups(state.threads()));
    return job->teams_[static_cast<std::size_t>(state.thread_index())];
  }

 private:
  struct alignas(kLinePair) Unit : std::array<std::byte, kLinePair> {};
  std::vector<Unit> arena_;
  std::vector<Team> teams_;
};

void exchange_of_two_lines(benchmark::State& state) {
  static std::array<LinePair<SharedMemory>, 2> lines;
  const auto me = static_cast<std::size_t>(state.thread_index());
  pin(state.thread_index());
  auto step = lines[me].value.load();
  for (auto _ : state) {
    lines[me].value.store(++step, std::memory_order_release);
    while (lines[1 - me].value.load(std::memory_order_acquire) < step) {
    }
  }
  report_call(state);
}
BENCHMARK(exchange_of_two_lines)->Threads(2)->UseRealTime();

/// Two ranks on one core wake each other in turn: an iteration is two switches, and what a rank
/// without a core of its own cannot do without.
void futex_ping_pong(benchmark::State& state) {
  static std::array<LinePair<SharedMemory>, 2> turns;
  const auto me = static_cast<std::size_t>(state.thread_index());
  pin(0);
  auto& mine = turns[me].value;
  auto& other = turns[1 - me].value;
  auto step = mine.load();
  const auto wait_for = [&mine](std::uint64_t wanted) {
    for (auto seen = mine.load(); seen < wanted; seen = mine.load())
      syscall(SYS_futex, &mine, FUTEX_WAIT, static_cast<std::uint32_t>(seen), nullptr, nullptr, 0);
  };
  for (auto _ : state) {
    ++step;
    if (me == 1) wait_for(step);
    other.store(step, std::memory_order_seq_cst);
    SharedMemory::wake(other);
    if (me == 0) wait_for(step);
  }
  report_call(state);
}
BENCHMARK(futex_ping_pong)->Threads(2)->UseRealTime();

void barriers(benchmark::State& state) {
  Team& team = Job::team_of(state);
  for (auto _ : state) barrier(team);
  report_call(state);
}
/// Above 16 in two levels, if every rank has a core.
void rank_counts(benchmark::internal::Benchmark* registered) {
  registered->Threads(2)->Threads(8)->UseRealTime();
  if (kCores > 8) registered->Threads(kCores);
}
BENCHMARK(barriers)->Apply(rank_counts);

template <class Kernel>
void run(benchmark::State& state, std::size_t parts, Kernel kernel) {
  Team& team = Job::team_of(state);
  const auto bytes = static_cast<std::size_t>(state.range(0));
  std::vector<std::byte> in(bytes * parts), out(bytes * parts);
  for (auto _ : state) kernel(team, in.data(), out.data(), bytes);
  report_call(state);
}

void bcasts(benchmark::State& state) {
  run(state, 1, [](Team& team, std::byte*, std::byte* out, std::size_t bytes) {
    bcast(team, out, bytes, 0);
  });
}
void allgathers(benchmark::State& state) {
  run(state, static_cast<std::size_t>(state.threads()),
      [](Team& team, std::byte* in, std::byte* out, std::size_t bytes) {
        allgather(team, in, out, bytes);
      });
}
void alltoalls(benchmark::State& state) {
  run(state, static_cast<std::size_t>(state.threads()),
      [](Team& team, std::byte* in, std::byte* out, std::size_t bytes) {
        alltoall(team, in, out, bytes);
      });
}
void allreduces(benchmark::State& state) {
  const Reduction sum = *built_in(Op::sum, Element::float64);
  run(state, 1, [&sum](Team& team, std::byte* in, std::byte* out, std::size_t bytes) {
    allreduce(team, in, out, bytes / sizeof(double), sum);
  });
}
void reduces(benchmark::State& state) {
  const Reduction sum = *built_in(Op::sum, Element::float64);
  run(state, 1, [&sum](Team& team, std::byte* in, std::byte* out, std::size_t bytes) {
    reduce(team, in, out, bytes / sizeof(double), sum, 0);
  });
}
void gathers(benchmark::State& state) {
  run(state, static_cast<std::size_t>(state.threads()),
      [](Team& team, std::byte* in, std::byte* out, std::size_t bytes) {
        gather(team, in, out, bytes, 0);
      });
}
void scans(benchmark::State& state) {
  const Reduction sum = *built_in(Op::sum, Element::float64);
  run(state, 1, [&sum](Team& team, std::byte* in, std::byte* out, std::size_t bytes) {
    scan(team, in, out, bytes / sizeof(double), sum);
  });
}
/// Blocks of up to so many bytes, one behind the other: length(rank).
template <class Length, class Kernel>
void run_irregular(benchmark::State& state, Length length, Kernel kernel) {
  std::vector<std::int64_t> counts, displs;
  std::int64_t end = 0;
  for (int rank = 0; rank < state.threads(); ++rank) {
    displs.push_back(end);
    counts.push_back(length(rank));
    end += counts.back();
  }
  run(state, static_cast<std::size_t>(state.threads()),
      [&](Team& team, std::byte* in, std::byte* out, std::size_t) {
        kernel(team, in, out, counts, displs);
      });
}
void exchange_blocks(Team& team, const std::byte* in, std::byte* out, PerRank counts,
                     PerRank displs) {
  alltoallv(team, in, counts, displs, out, counts, displs);
}

/// Equal blocks: to be compared with allgathers and alltoalls.
void allgathervs(benchmark::State& state) {
  run_irregular(
      state, [&state](int) { return state.range(0); },
      [](Team& team, const std::byte* in, std::byte* out, PerRank counts, PerRank displs) {
        allgatherv(team, in, out, counts, displs);
      });
}
void alltoallvs(benchmark::State& state) {
  run_irregular(
      state, [&state](int) { return state.range(0); }, exchange_blocks);
}
void alltoallvs_with_neighbours(benchmark::State& state) {
  const auto length = [&state](int rank) {
    return std::abs(rank - state.thread_index()) == 1 ? state.range(0) : 0;
  };
  run_irregular(state, length, exchange_blocks);
}
void sizes(benchmark::internal::Benchmark* registered) {
  registered->ArgName("bytes")->RangeMultiplier(8)->Range(8, 4 << 20)->Arg(1 << 20);
  rank_counts(registered);
}
BENCHMARK(bcasts)->Apply(sizes);
BENCHMARK(allgathers)->Apply(sizes);
BENCHMARK(alltoalls)->Apply(sizes);
BENCHMARK(allreduces)->Apply(sizes);
BENCHMARK(reduces)->Apply(sizes);
BENCHMARK(gathers)->Apply(sizes);
BENCHMARK(scans)->Apply(sizes);
BENCHMARK(allgathervs)->Apply(sizes);
BENCHMARK(alltoallvs)->Apply(sizes);
BENCHMARK(alltoallvs_with_neighbours)->Apply(sizes);

/// The loop of a slice: out = left + right.
void sums(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  const std::vector<std::byte> left(bytes), right(bytes);
  std::vector<std::byte> out(bytes);
  const Reduction sum = *built_in(Op::sum, Element::float64);
  for (auto _ : state) {
    sum.combine(sum.context, left.data(), right.data(), out.data(), bytes / sizeof(double));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * 3 * state.range(0));
}
BENCHMARK(sums)->ArgName("bytes")->Arg(4 << 10)->Arg(16 << 10)->Arg(1 << 20)->UseRealTime();

}  // namespace
}  // namespace unisono::node
