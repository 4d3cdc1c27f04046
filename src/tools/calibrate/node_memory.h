// What the memory of a node does, by length, measured between two ranks of it through the
// library's own messenger, flags and loops (docs/reference/model.md).
#pragma once
#include <mpi.h>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace unisono {

enum class MemoryQuantity {
  stores_one_way,
  stores_gap,
  single_copy_one_way,
  single_copy_gap,
  memory_copy,
  memory_combine,
  fence,
};
inline constexpr std::array<const char*, 7> kMemoryQuantities{
    "stores_one_way", "stores_gap", "single_copy_one_way", "single_copy_gap", "memory_copy",
    "memory_combine", "fence"};

class NodeMemoryProbe {
 public:
  /// Whether to go on, after so many samples since this MPI_Wtime().
  using GoOn = std::function<bool(const std::vector<double>& samples, double begin)>;

  /// Collective over two ranks of a node. `shares_cores`: there are more ranks than cores. What
  /// cannot be measured is said in a line.
  NodeMemoryProbe(MPI_Comm pair, bool shares_cores);
  ~NodeMemoryProbe();
  NodeMemoryProbe(const NodeMemoryProbe&) = delete;
  NodeMemoryProbe& operator=(const NodeMemoryProbe&) = delete;

  /// Whether it can be measured here, with so many bytes. The same on both.
  bool has(MemoryQuantity quantity) const;
  static bool has(MemoryQuantity quantity, std::size_t bytes);
  /// Collective. Seconds, on the first rank of the two.
  std::vector<double> measure(MemoryQuantity quantity, std::size_t bytes, const GoOn& go_on);

 private:
  class Measurement;
  std::unique_ptr<Measurement> measurement_;  // null: no memory
};

}  // namespace unisono
