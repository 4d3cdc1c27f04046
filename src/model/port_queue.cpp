#include "model/port_queue.h"

#include <algorithm>

namespace unisono {

void PortQueue::change(std::size_t other, double more) {
  double& bytes = bytes_[other];
  total_ -= std::min(bytes, incast_->window);
  others_ -= bytes > 0 ? 1 : 0;
  bytes += more;  // whole numbers, so that nothing is left of what has gone
  total_ += std::min(bytes, incast_->window);
  others_ += bytes > 0 ? 1 : 0;
}

bool PortQueue::overflows(double now) {
  while (!leaving_.empty() && std::get<0>(leaving_.top()) <= now) {
    const auto [until, other, bytes] = leaving_.top();
    leaving_.pop();
    change(other, -bytes);
  }
  return others_ > 1 && total_ > incast_->buffer;
}

}  // namespace unisono
