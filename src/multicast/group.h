// Reliable multicast within a group whose members are known: any of them sends a message to all
// others, and everybody knows beforehand who sends which message and how long it is.
//
// In use:
//
//   auto socket = UdpSocket::open(settings);         // udp_socket.h: binds, reads MTU and buffer
//   ... every host tells the others (*socket)->myself(); its place in that list is its number ...
//   (*socket)->meet(members);                        // joins
//   auto group = Group::open(options, **socket);
//   (*group)->start_send(7, data, bytes)             // on one member
//   (*group)->start_receive(7, root, into, bytes)    // on every other one
//   for (;;) {
//     const Progress progress = (*group)->progress(now());
//     for (const Completion& completion : progress.completed) ...
//     poll the descriptors of the socket until progress.deadline, or come again when convenient
//   }
//
// Nothing here blocks, starts a thread, reads a clock, or allocates for a packet (for a message:
// only until the group has had as many under way before). Who does not call progress() for a while
// holds nobody back by more than the credit: what is sent to it waits in its socket.
//
// Sources: Lane, Daniels, Yuan, ICPP 2001 (acknowledgements from all); RFC 5401, RFC 5740 (NORM:
// negative ones, and the names of the timers); docs/reference/multicast.md has the packets.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "multicast/socket.h"

namespace unisono::multicast {

/// What all must know of one of them. Sent to the others by the caller; plain numbers, so that
/// each may be sent as it likes.
struct Member {
  std::uint32_t address = 0;  ///< IPv4, as a number: 10.0.0.1 is 0x0a000001
  std::uint16_t port = 0;
  std::uint32_t payload_bytes = 0;   ///< what a packet may carry, by the interface's MTU
  std::uint32_t credit_packets = 0;  ///< so many of them fit into its socket's buffer
};

enum class Family : std::uint8_t {
  ack,  ///< every receiver acknowledges every window to the sender, who repeats what is missing
  nack  ///< receivers ask a tree of receivers for what is missing; one acknowledgement comes up it
};

/// Equal on all members, but for `me`, `rate` and the limits of silence.
struct Options {
  int me = 0;
  std::vector<Member> members;
  Family family = Family::nack;
  int fan_out = 4;                ///< of the tree; `ack` has none
  std::uint64_t group = 0;        ///< tells groups with one secret apart
  std::uint64_t epoch = 0;        ///< never twice with the same secret and group
  std::vector<std::byte> secret;  ///< 16 or 32 bytes that only members know
  /// Bits per second, of whole Ethernet frames: what this host sends at most.
  double rate = 100e6;
  /// What a packet and its answer take (RFC 5740: GRTT); timers are multiples of it.
  Time round_trip = 2 * kMillisecond;
  /// Nothing heard for so long from a member that others wait for: it is reported. 0: never. A
  /// member is heard when it calls progress(), so this must be longer than what is computed between
  /// two calls.
  Time silence_limit = 0;
  /// Messages up to `copied_bytes` are copied, and complete at once for their sender, while no more
  /// than `history_messages` of them with `history_bytes` are still needed by somebody.
  std::size_t copied_bytes = std::size_t{64} << 10;
  std::size_t history_bytes = std::size_t{1} << 20;
  std::size_t history_messages = 32;
  std::uint64_t seed = 1;  ///< of the backoff of timers; may differ
};

enum class Outcome : std::uint8_t {
  done,
  other_length,  ///< `member` believes that the message has `other_bytes`: nothing may be used
  silent,        ///< nothing was heard from `member` for longer than the limit
  given_up       ///< the sender, `member`, has abandoned the message, or no longer waits for us
};

/// Of a send: the data may be changed. Of a receive: it is there, or never will be. A message that
/// was copied is complete at the next progress(), and once more if it fails later.
struct Completion {
  std::uint64_t message = 0;
  Outcome outcome = Outcome::done;
  int member = -1;
  std::uint64_t other_bytes = 0;
};

struct Progress {
  /// Valid until the next call of the group.
  std::span<const Completion> completed;
  /// Call again then, even if nothing has come. kNever: there is nothing to do by itself.
  Time deadline = kNever;
  bool moved = false;  ///< a packet came or went
};

/// What became of packets. Those from "dropped" on were, and changed nothing.
struct Counters {
  std::uint64_t sent = 0, received = 0;  ///< all kinds; received: what was believed
  std::uint64_t data_sent = 0;           ///< the first time
  std::uint64_t repairs_to_all = 0, repairs_to_one = 0;
  std::uint64_t acks_sent = 0, nacks_sent = 0, polls_sent = 0;
  std::uint64_t acks_received = 0, nacks_received = 0;  ///< by whom they were meant for
  std::uint64_t nacks_forwarded = 0;
  std::uint64_t slowed_down = 0;   ///< how often the rate was cut after losses
  std::uint64_t joined_again = 0;  ///< when what is sent to all did not come here
  std::uint64_t kept_early = 0;    ///< data of messages that nobody here had asked for yet
  // Dropped:
  std::uint64_t early = 0;       ///< the same, without room: it will be asked for again
  std::uint64_t duplicates = 0;  ///< data that is here already
  std::uint64_t malformed = 0;   ///< too short, too long, or of another version
  std::uint64_t foreign = 0;     ///< of another group, epoch or job, by what they say themselves
  std::uint64_t forged = 0;      ///< not authentic, or for another member
  std::uint64_t replayed = 0;    ///< seen before, too old to tell, or this member's own
  std::uint64_t senseless = 0;   ///< authentic, and still nothing that a member would send
};

class Group {
 public:
  /// The socket must outlive it. An error names what is wrong with the options.
  static Result<std::unique_ptr<Group>> open(const Options& options, Socket& socket);
  virtual ~Group() = default;

  /// Messages are numbered by the caller, upwards, alike on all members; some may be left out, on
  /// all. An error, and nothing is started: the number is not above those before (after 2^48 - 1
  /// the caller opens a group of another epoch), or the root is no other member.
  ///
  /// The data must not change until the send is complete; the receive may write `into` until it is.
  /// Neither reads or writes memory of a message of 0 bytes, which is a message all the same.
  virtual const char* start_send(std::uint64_t message, const std::byte* data,
                                 std::size_t bytes) = 0;
  virtual const char* start_receive(std::uint64_t message, int root, std::byte* into,
                                    std::size_t bytes) = 0;

  /// Takes what has come, answers, sends what may be sent by now.
  virtual Progress progress(Time now) = 0;

  /// Everybody has everything that this member sent, as far as it could be sent: only now may it
  /// leave. Before, call progress().
  virtual bool is_quiet() const = 0;
  /// All senders have said that all have what this member received. Before, others wait longer, or
  /// for ever if its word to them was lost, where progress() is not called.
  virtual bool is_idle() const = 0;
  /// Forgets a message that is under way: its memory is not touched any more. The others will miss
  /// it.
  virtual void abandon(std::uint64_t message) = 0;

  virtual const Counters& counters() const = 0;
  /// What a packet of this group carries: the least of what the members can.
  virtual std::size_t payload_bytes() const = 0;
  /// So many packets may be on their way: the least of what the members' sockets hold.
  virtual std::size_t credit_packets() const = 0;
};

}  // namespace unisono::multicast
