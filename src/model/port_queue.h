// The port of a switch that has room for so many bytes only.
#pragma once
#include <cstddef>
#include <functional>
#include <queue>
#include <tuple>
#include <vector>

#include "model/machine.h"

namespace unisono {

/// The port of a switch to a node, as far as it may overflow: what others have posted to it. A
/// rank's sends to several nodes share its own port packet by packet, so that each is under way
/// from its post on. A node's own port loses nothing: its operating system stops whom it has no
/// room for (docs/adr/0031-hosts-drop-nothing.md).
class PortQueue {
 public:
  PortQueue(std::size_t nodes, const Incast& incast) : incast_(&incast), bytes_(nodes) {}

  /// Messages from another node; and until when what was posted is in the way.
  void post(std::size_t other, double bytes) { change(other, bytes); }
  void leave(std::size_t other, double bytes, double until) {
    leaving_.push({until, other, bytes});
  }
  /// Whether what is under way is more than the port holds; with one other node alone never.
  bool overflows(double now);

 private:
  using Leaving = std::tuple<double, std::size_t, double>;

  void change(std::size_t other, double more);

  const Incast* incast_;
  std::vector<double> bytes_;  // by the node that they come from
  double total_ = 0;           // of each node a window at most
  int others_ = 0;             // that have any
  std::priority_queue<Leaving, std::vector<Leaving>, std::greater<>> leaving_;
};

}  // namespace unisono
