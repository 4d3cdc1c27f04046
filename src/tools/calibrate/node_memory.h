// What the memory of a node does, by length, measured between two ranks of it through the
// library's own messenger, flags and loops (docs/reference/model.md).
#pragma once
#include <mpi.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "model/quantities.h"

namespace unisono {

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

  /// Whether it, of the memory of a node, can be measured here, with so many bytes. The same on
  /// both.
  bool has(Quantity quantity) const;
  static bool has(Quantity quantity, std::size_t bytes);
  /// Collective. Seconds, on the first rank of the two.
  std::vector<double> measure(Quantity quantity, std::size_t bytes, const GoOn& go_on);

 private:
  class Measurement;
  std::unique_ptr<Measurement> measurement_;  // null: no memory
};

}  // namespace unisono
