// How fast the cores of this machine copy, each its own buffers, by size and number of cores: the
// yardstick of `unisono compare` on a node. Bytes read and bytes written are both counted.
#include <benchmark/benchmark.h>

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

}  // namespace
}  // namespace unisono
