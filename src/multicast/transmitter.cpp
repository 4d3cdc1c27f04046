#include "multicast/transmitter.h"

#include <algorithm>
#include <cassert>

namespace unisono::multicast {

namespace {

// Of the rate: what is faster than the wire waits in front of it, and then repairs do.
constexpr double kShareOfRate = 0.995;
// After a pause, so that a sender that does not get a core for a while loses nothing: 64 packets
// are 8 ms at 100 Mb/s. They leave at the rate of the port all the same, and fit into a switch's
// queue.
constexpr std::size_t kBurstPackets = 64;
// So many are worth waking up for.
constexpr std::size_t kWorthwhile = 4;

}  // namespace

Transmitter::Transmitter(const Options& options, std::uint32_t payload_bytes, Socket& socket)
    : me(options.me),
      members(static_cast<int>(options.members.size())),
      payload(payload_bytes),
      timers{options.round_trip, options.silence_limit == 0 ? kNever : options.silence_limit / 4},
      pacer(options.rate * kShareOfRate, kBurstPackets * frame(payload_bytes)),
      random(options.seed * 1000003 + static_cast<std::uint64_t>(options.me)),
      socket_(socket),
      authentication_(options.secret, options.group, options.epoch) {}

std::size_t Transmitter::send_data(int to, const Text& text, std::span<const std::uint32_t> indices,
                                   std::uint8_t flags) {
  assert(indices.size() <= kBatch);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const std::uint32_t index = indices[i];
    const std::size_t length = text.pieces.length(index);
    const std::byte* from = length == 0 ? nullptr : text.data + text.pieces.offset(index);
    Header header{Kind::data, flags,      static_cast<std::uint16_t>(me), label(), text.message,
                  index,      ++numbered_};
    if (text.pieces.is_last(index)) header.flags |= kLast;
    write_header(header, headers_[i].data());
    authentication_.sign(headers_[i].data(), {from, length}, to);
    batch_[i] = {headers_[i].data(), kHeaderBytes, from, length};
  }
  const std::size_t taken = socket_.send(to, {batch_.data(), indices.size()});
  counters.sent += taken;
  for (std::size_t i = 0; i < taken; ++i) pacer.take(frame(batch_[i].payload_bytes));
  return taken;
}

void Transmitter::send_status(int to, Kind kind, std::uint8_t flags, std::uint64_t message,
                              const Status& status) {
  std::array<std::byte, kHeaderBytes + kMaxStatusBytes> packet;
  const Header header{kind, flags,      static_cast<std::uint16_t>(me), label(), message,
                      0,    ++numbered_};
  write_header(header, packet.data());
  const std::size_t bytes = write_status(status, packet.data() + kHeaderBytes);
  authentication_.sign(packet.data(), {packet.data() + kHeaderBytes, bytes}, to);
  const Outgoing outgoing{packet.data(), kHeaderBytes, packet.data() + kHeaderBytes, bytes};
  if (socket_.send(to, {&outgoing, 1}) == 0) return;
  pacer.spend(frame(bytes));
  ++counters.sent;
  if (kind == Kind::ack) ++counters.acks_sent;
  if (kind == Kind::nack) ++counters.nacks_sent;
  if (kind == Kind::poll) ++counters.polls_sent;
}

std::size_t Transmitter::allowance(Time now) {
  const double allowed = pacer.allowed(now) / static_cast<double>(frame(payload));
  return allowed < 1 ? 0 : static_cast<std::size_t>(allowed);
}

Time Transmitter::next_allowance(Time now) const {
  return pacer.when(kWorthwhile * frame(payload), now);
}

}  // namespace unisono::multicast
