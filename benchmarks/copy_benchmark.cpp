// How fast the cores of this machine copy, by size: each its own buffers (bytes read and bytes
// written are both counted), and what another core has just written (bytes that cross). The
// yardsticks of `unisono compare` on a node.
#include <benchmark/benchmark.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

namespace unisono {
namespace {

void copy(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  const std::vector<char> from(bytes, 1);
  std::vector<char> into(bytes);
  for (auto _ : state) {
    std::memcpy(into.data(), from.data(), bytes);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * 2 * state.range(0));
}

const int kCores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));

BENCHMARK(copy)
    ->RangeMultiplier(8)
    ->Range(4 << 10, 64 << 20)
    ->DenseThreadRange(1, kCores)
    ->UseRealTime();

/// Two threads meet. Nobody sleeps: the benchmark wants a core for each.
class Meeting {
 public:
  void meet() {
    const unsigned round = round_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) == 0) {
      while (round_.load(std::memory_order_acquire) == round) continue;
      return;
    }
    arrived_.store(0, std::memory_order_relaxed);
    round_.store(round + 1, std::memory_order_release);
  }

 private:
  std::atomic<unsigned> arrived_{0}, round_{0};
};

// Both write, then both copy what the other wrote: only that is timed.
void copy_across(benchmark::State& state) {
  static std::vector<char> written[2];
  static Meeting meeting;
  const auto bytes = static_cast<std::size_t>(state.range(0));
  const auto own = static_cast<std::size_t>(state.thread_index());
  written[own].assign(bytes, 1);
  std::vector<char> into(bytes);
  for (auto _ : state) {
    meeting.meet();
    std::memset(written[own].data(), 2, bytes);
    meeting.meet();
    const auto begin = std::chrono::steady_clock::now();
    std::memcpy(into.data(), written[1 - own].data(), bytes);
    benchmark::ClobberMemory();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    state.SetIterationTime(time.count());
  }
  if (own == 0) state.SetBytesProcessed(state.iterations() * state.range(0));  // into one core
}

BENCHMARK(copy_across)->RangeMultiplier(8)->Range(4 << 10, 64 << 20)->Threads(2)->UseManualTime();

}  // namespace
}  // namespace unisono
