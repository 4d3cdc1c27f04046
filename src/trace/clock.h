// How far apart two machines' clocks are, by messages that go forth and back (Cristian 1989).
#pragma once
#include <cstdint>
#include <span>

namespace unisono::trace {

/// A clock drifts from another by less than this share.
inline constexpr double kDrift = 50e-6;

/// This machine's CLOCK_MONOTONIC.
std::int64_t now_ns();

/// One message and its answer. `answered` is on the other's clock.
struct RoundTrip {
  std::int64_t sent_ns = 0, answered_ns = 0, received_ns = 0;
};

/// The other clock shows this clock's time + offset, give or take the error; measured at a time of
/// this clock.
struct ClockOffset {
  std::int64_t at_ns = 0, offset_ns = 0, error_ns = 0;
};

/// By the shortest round trip: the answer was given somewhere within it, whatever delayed either
/// message, so that half of it is a bound. `trips` is not empty.
ClockOffset offset_by(std::span<const RoundTrip> trips);

/// From this clock to a third one, by way of a second: `to_second` and from there `to_third`. The
/// second may have drifted between the two measurements.
ClockOffset compose(const ClockOffset& to_second, const ClockOffset& to_third);

}  // namespace unisono::trace
