// What a byte costs in a stream of messages, behind ports that let some through at once.
#pragma once
#include <optional>
#include <span>

namespace unisono {

/// How many bytes of a stream have come by when.
struct Arrived {
  double seconds = 0;
  double bytes = 0;
};

/// Seconds per byte once the stream flows evenly; nothing where it was too short or too uneven to
/// tell. `arrived`: in their order.
std::optional<double> seconds_per_byte(std::span<const Arrived> arrived);

}  // namespace unisono
