#include "multicast/group.h"

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <string>

#include "multicast/answers.h"
#include "multicast/early.h"
#include "multicast/hearing.h"
#include "multicast/history.h"
#include "multicast/receiving.h"
#include "multicast/replay_window.h"
#include "multicast/sending.h"
#include "multicast/transmitter.h"

namespace unisono::multicast {

namespace {

constexpr std::uint32_t kMostWindow = 64;  // packets
constexpr std::size_t kMostEarly = 256;    // packets
constexpr std::size_t kRemembered = 64;    // messages received of which others may not have all
constexpr int kMostReceived = 8;           // batches in one call
// Packets of one sender that may overtake each other, at least: what goes to a member alone is read
// before what waits in its other socket.
constexpr std::size_t kLeastWindow = 1024;
// So many packets of data in a row came to this member alone: a switch does not know that it is in
// the group. Reports of membership get lost, and hosts that hear others' reports keep their own
// back (RFC 2236, 3), which a switch that has only just begun to listen has passed on to them.
constexpr int kForgotten = 32;
constexpr Time kJoinAgain = kSecond / 4;
constexpr Time kSocketFull = kMillisecond / 4;   // then it is tried again
constexpr std::uint16_t kEveryone = UINT16_MAX;  // no member: the answer is for all
constexpr std::uint32_t kAll = UINT32_MAX;  // packets of a message that is over: as many as it had

/// Objects that are used again; begin() makes them new.
template <class Thing>
class Pool {
 public:
  Thing& add() {
    if (free_.empty()) {
      all_.emplace_back();
      free_.push_back(&all_.back());
    }
    used_.push_back(free_.back());
    free_.pop_back();
    return *used_.back();
  }
  std::vector<Thing*>& used() { return used_; }
  const std::vector<Thing*>& used() const { return used_; }
  template <class Condition>
  void remove_if(Condition condition) {
    std::size_t kept = 0;
    for (Thing* thing : used_)
      condition(*thing) ? free_.push_back(thing) : void(used_[kept++] = thing);
    used_.resize(kept);
  }
  /// The newest first.
  Thing* find(std::uint64_t message) {
    for (auto thing = used_.rbegin(); thing != used_.rend(); ++thing)
      if ((*thing)->message() == message) return *thing;
    return nullptr;
  }

 private:
  std::deque<Thing> all_;
  std::vector<Thing*> used_, free_;
};

std::uint32_t least_payload(const Options& options) {
  std::uint32_t least = UINT32_MAX;
  for (const Member& member : options.members) least = std::min(least, member.payload_bytes);
  return least;
}

std::uint32_t least_credit(const Options& options) {
  std::uint32_t least = UINT32_MAX;
  for (const Member& member : options.members) least = std::min(least, member.credit_packets);
  return least;
}

/// Packets that a member's two sockets have room for, be they short.
std::size_t most_waiting(const Member& member) {
  constexpr std::size_t kKernelsOwn = 1024, kLeastTaken = 768;  // bytes of a packet in a buffer
  return std::size_t{4} * member.credit_packets * (member.payload_bytes + kKernelsOwn) /
         kLeastTaken;
}

class OpenGroup : public Group {
 public:
  OpenGroup(const Options& options, Socket& socket)
      : socket_(socket),
        family_(options.family),
        credit_(least_credit(options)),
        window_(std::clamp<std::uint32_t>(credit_ / 4, 1, kMostWindow)),
        fan_out_(options.family == Family::ack ? static_cast<int>(options.members.size())
                                               : options.fan_out),
        line_(options, least_payload(options), socket),
        hearing_(line_.members, options.silence_limit),
        history_(options.history_messages, options.history_bytes, options.copied_bytes),
        room_bytes_(kHeaderBytes + std::max<std::size_t>(line_.payload, kMaxStatusBytes)),
        early_(std::min<std::size_t>(credit_, kMostEarly), room_bytes_),
        replays_(options.members.size(),
                 ReplayWindow(std::max(kLeastWindow, 4 * std::size_t{credit_}))),
        answers_(options.members.size()),
        most_waiting_(most_waiting(options.members[static_cast<std::size_t>(options.me)])),
        rooms_(Transmitter::kBatch * room_bytes_) {
    for (std::size_t i = 0; i < incoming_.size(); ++i)
      incoming_[i] = {rooms_.data() + i * room_bytes_, room_bytes_};
  }

  const char* start_send(std::uint64_t message, const std::byte* data, std::size_t bytes) override;
  const char* start_receive(std::uint64_t message, int root, std::byte* into,
                            std::size_t bytes) override;
  Progress progress(Time now) override;
  bool is_quiet() const override { return sends_.used().empty(); }
  bool is_idle() const override { return receives_.used().empty(); }
  void abandon(std::uint64_t message) override;
  const Counters& counters() const override { return line_.counters; }
  std::size_t payload_bytes() const override { return line_.payload; }
  std::size_t credit_packets() const override { return credit_; }

 private:
  const char* refuse(std::uint64_t message, std::size_t bytes) const;
  bool receive_all();
  void take(const Incoming& incoming);
  void notice(bool to_all);
  bool is_believed(std::span<const std::byte> packet, bool to_all, Header& header);
  void handle(std::span<const std::byte> packet, const Header& header);
  void handle_status(std::span<const std::byte> packet, const Header& header);
  void keep(std::span<const std::byte> packet, std::uint64_t message);
  void answer_without(const Header& header, const Status& status);
  void say_it_is_over(std::uint64_t message);
  void transmit();
  void complete();
  Time deadline() const;

  Socket& socket_;
  Family family_;
  std::uint32_t credit_, window_;
  int fan_out_;
  Transmitter line_;
  Hearing hearing_;
  History history_;
  std::size_t room_bytes_;
  Early early_;
  std::vector<ReplayWindow> replays_;  // of each member's packets
  Answers answers_;
  std::size_t most_waiting_;  // packets in the sockets
  std::vector<std::byte> rooms_;
  std::array<Incoming, Transmitter::kBatch> incoming_;
  Pool<Sending> sends_;
  Pool<Receiving> receives_;
  std::uint64_t next_ = 0;     // message: those before were started, or left out
  std::size_t undrained_ = 0;  // packets since the sockets were seen empty
  Time now_ = 0, due_ = kNever, join_again_at_ = 0;
  int came_alone_ = 0;  // packets of data, in a row
  bool moved_ = false, waits_for_tokens_ = false, socket_full_ = false;
  std::vector<Completion> completed_, told_;  // to be returned; returned last
};

// --- starting ------------------------------------------------------------------------------------

const char* OpenGroup::refuse(std::uint64_t message, std::size_t bytes) const {
  if (message < next_ || message > kLastMessage)
    return "multicast: a message's number must be higher than those before; after 2^48 - 1 open a "
           "group of another epoch";
  if (!Pieces::can_be_cut(bytes, line_.payload))
    return "multicast: a message has more than 2^32 packets: send it in parts";
  return nullptr;
}

const char* OpenGroup::start_send(std::uint64_t message, const std::byte* data, std::size_t bytes) {
  if (const char* wrong = refuse(message, bytes)) return wrong;
  next_ = message + 1;
  const auto copy = history_.copy(data, bytes);
  sends_.add().begin({message, copy ? history_.data(*copy) : data, {bytes, line_.payload}}, family_,
                     line_.me, line_.members, copy);
  if (copy) completed_.push_back({message});
  return nullptr;
}

const char* OpenGroup::start_receive(std::uint64_t message, int root, std::byte* into,
                                     std::size_t bytes) {
  if (const char* wrong = refuse(message, bytes)) return wrong;
  if (root < 0 || root >= line_.members || root == line_.me)
    return "multicast: the sender must be another member of the group";
  next_ = message + 1;
  if (receives_.used().size() >= kRemembered) {
    std::size_t surplus = receives_.used().size() - kRemembered + 1;
    receives_.remove_if(
        [&](const Receiving& old) { return surplus > 0 && !old.is_open() && surplus-- > 0; });
  }
  receives_.add().begin(
      {message, into, bytes, family_, Tree(line_.members, root, fan_out_), window_}, line_);
  early_.release(message, [&](std::span<const std::byte> packet) {
    Header header;
    if (read_header(packet.data(), header)) handle(packet, header);
  });
  return nullptr;
}

void OpenGroup::abandon(std::uint64_t message) {
  sends_.remove_if([&](const Sending& send) {
    if (send.message() != message || send.copy()) return false;
    say_it_is_over(message);
    return true;
  });
  receives_.remove_if([&](const Receiving& receive) { return receive.message() == message; });
}

/// To all, who need not be there for it any more. Who misses it asks, and learns of it then.
void OpenGroup::say_it_is_over(std::uint64_t message) {
  Header header;
  header.from = kEveryone;
  header.message = message;
  answer_without(header, {});
}

// --- what comes ----------------------------------------------------------------------------------

/// Whether nothing is left in the socket.
bool OpenGroup::receive_all() {
  for (int batch = 0; batch < kMostReceived; ++batch) {
    const std::size_t came = socket_.receive(incoming_);
    undrained_ += came;
    for (std::size_t i = 0; i < came; ++i) take(incoming_[i]);
    if (came == incoming_.size()) continue;
    undrained_ = 0;
    return true;
  }
  return false;
}

/// What costs least is looked at first; nothing is believed, or changes anything, before the tag.
bool OpenGroup::is_believed(std::span<const std::byte> packet, bool to_all, Header& header) {
  Counters& counters = line_.counters;
  if (packet.size() < kHeaderBytes || packet.size() > room_bytes_ ||
      !read_header(packet.data(), header))
    return ++counters.malformed, false;
  if (header.label != line_.label()) return ++counters.foreign, false;
  if (header.from == line_.me) return ++counters.replayed, false;  // nobody else sends as we
  if (!line_.is_authentic(packet, to_all)) return ++counters.forged, false;
  if (header.from >= line_.members) return ++counters.senseless, false;
  if (!replays_[header.from].accept(header.number)) return ++counters.replayed, false;
  return true;
}

void OpenGroup::take(const Incoming& incoming) {
  const std::span<const std::byte> packet(incoming.room, incoming.bytes);
  Header header;
  if (!is_believed(packet, incoming.to_all, header)) return;
  ++line_.counters.received;
  hearing_.heard(header.from);
  const std::uint64_t duplicates = line_.counters.duplicates;
  handle(packet, header);
  if (header.kind == Kind::data && line_.counters.duplicates == duplicates) notice(incoming.to_all);
}

void OpenGroup::notice(bool to_all) {
  came_alone_ = to_all ? 0 : came_alone_ + 1;
  if (came_alone_ < kForgotten || now_ < join_again_at_) return;
  socket_.join_again();
  ++line_.counters.joined_again;
  join_again_at_ = now_ + kJoinAgain;
}

void OpenGroup::keep(std::span<const std::byte> packet, std::uint64_t message) {
  early_.keep(message, packet) ? ++line_.counters.kept_early : ++line_.counters.early;
}

void OpenGroup::handle(std::span<const std::byte> packet, const Header& header) {
  if (header.kind != Kind::data) return handle_status(packet, header);
  const auto payload = packet.subspan(kHeaderBytes);
  Receiving* receive = receives_.find(header.message);
  if (receive != nullptr) return receive->take(header.index, header.flags, payload, now_, line_);
  const Status about{.bytes = payload.size(), .next = kAll, .members = {}, .missing = {}};
  if ((header.flags & kAnswer) != 0) answer_without(header, about);
  if (header.message >= next_) return keep(packet, header.message);
  ++line_.counters.duplicates;
}

void OpenGroup::handle_status(std::span<const std::byte> packet, const Header& header) {
  Status status;
  if (!read_status(packet.subspan(kHeaderBytes), status)) return void(++line_.counters.senseless);
  Counters& counters = line_.counters;
  if (header.kind == Kind::ack) ++counters.acks_received;
  if (header.kind == Kind::nack) ++counters.nacks_received;
  if (Sending* send = sends_.find(header.message)) {
    if (header.kind == Kind::ack) send->heard(status, header.flags, now_, line_);
    if (header.kind == Kind::nack) send->asked(status, now_, line_);
    if (header.kind == Kind::poll) ++counters.senseless;
    return;
  }
  if (Receiving* receive = receives_.find(header.message)) {
    const bool over = (header.flags & kOver) != 0 && header.from == receive->root();
    if (header.kind == Kind::ack && over) return receive->sender_is_over(now_, line_);
    if (header.kind == Kind::ack) receive->heard(status, line_);
    if (header.kind == Kind::nack) receive->asked(status, now_, line_);
    if (header.kind == Kind::poll) receive->polled(status, now_, line_);
    return;
  }
  if (header.kind != Kind::ack) return answer_without(header, status);
  if (header.message >= next_) keep(packet, header.message);
}

/// There is nothing here about that message: it is over, or has not been asked for.
void OpenGroup::answer_without(const Header& header, const Status& status) {
  const bool is_over = header.message < next_;
  if (header.kind == Kind::poll && !has_bit(status.members, static_cast<std::size_t>(line_.me)))
    return;
  if (header.from != kEveryone &&
      !answers_.may_answer(header.from, header.message, now_, line_.timers.round()))
    return;
  std::array<std::byte, kMaxMembers / 8> members{};
  set_bit(members, static_cast<std::size_t>(line_.me));
  Status answer;
  answer.bytes = status.bytes;
  answer.next = answer.seen = is_over ? kAll : 0;
  answer.member = static_cast<std::uint16_t>(line_.me);
  answer.members = {members.data(), static_cast<std::size_t>(line_.members + 7) / 8};
  const int to = header.from == kEveryone ? kEverybody : header.from;
  line_.send_status(to, Kind::ack, is_over ? kOver : kNotPosted, header.message, answer);
}

// --- what goes -----------------------------------------------------------------------------------

/// Repairs before anything new: others wait for them, and credit with them.
void OpenGroup::transmit() {
  std::size_t allowance = line_.allowance(now_);
  const std::size_t at_first = allowance;
  std::size_t in_flight = 0;
  for (Sending* send : sends_.used()) {
    allowance -= send->send_repairs(allowance, now_, line_);
    in_flight += send->in_flight();
  }
  for (Receiving* receive : receives_.used())
    if (receive->is_open()) allowance -= receive->send_repairs(allowance, now_, line_);
  socket_full_ = false;
  for (Sending* send : sends_.used()) {
    if (send->all_sent()) continue;
    const std::size_t credit = credit_ - std::min<std::size_t>(in_flight, credit_);
    const std::size_t most = std::min(allowance, credit);
    const std::size_t sent = send->send_new(allowance, credit, now_, line_);
    allowance -= sent;
    in_flight += sent;
    socket_full_ = socket_full_ || (sent < most && !send->all_sent());
    if (!send->all_sent()) break;
  }
  waits_for_tokens_ = allowance == 0;
  for (Sending* send : sends_.used()) send->ask_if_due(now_, line_);
  line_.counters.slowed_down = line_.pacer.cuts();
  moved_ = moved_ || allowance < at_first;
}

void OpenGroup::complete() {
  for (Sending* send : sends_.used()) send->give_up_lost(hearing_);
  sends_.remove_if([&](const Sending& send) {
    if (!send.is_over()) return false;
    if (line_.members > 1) say_it_is_over(send.message());
    if (send.copy()) history_.forget(*send.copy());
    if (!send.copy() || send.result().outcome != Outcome::done) completed_.push_back(send.result());
    return true;
  });
  for (Receiving* receive : receives_.used()) receive->report(completed_);
  receives_.remove_if([](const Receiving& receive) { return receive.is_over(); });
}

Progress OpenGroup::progress(Time now) {
  now_ = now;
  const std::uint64_t received = line_.counters.received;
  moved_ = false;
  hearing_.listen(now, due_);
  const bool drained = receive_all();
  // Who is flooded never sees an empty socket: all that can have waited there has been looked at.
  const bool caught_up = drained || undrained_ >= most_waiting_;
  for (Receiving* receive : receives_.used()) receive->keep_time(caught_up, hearing_, now, line_);
  transmit();
  complete();
  std::swap(completed_, told_);
  completed_.clear();
  due_ = drained ? deadline() : now;
  return {told_, due_, moved_ || line_.counters.received > received};
}

Time OpenGroup::deadline() const {
  Time first = kNever;
  for (const Sending* send : sends_.used()) {
    first = std::min(first, send->deadline(hearing_));
    if (waits_for_tokens_ && send->wants_to_send())
      first = std::min(first, line_.next_allowance(now_));
  }
  for (const Receiving* receive : receives_.used())
    first = std::min(first, receive->deadline(hearing_));
  if (waits_for_tokens_ && first <= now_) first = line_.next_allowance(now_);  // repairs
  if (socket_full_) first = std::min(first, now_ + kSocketFull);
  // Whatever could not be done now will not be in no time.
  return first == kNever ? kNever : std::max(first, now_ + kMillisecond / 50);
}

}  // namespace

Result<std::unique_ptr<Group>> Group::open(const Options& options, Socket& socket) {
  const auto members = static_cast<int>(options.members.size());
  const auto wrong = [](const std::string& text) { return Error{"multicast: " + text}; };
  if (members < 1 || members > kMaxMembers)
    return wrong(std::to_string(members) + " members: valid are 1 to " +
                 std::to_string(kMaxMembers));
  if (options.me < 0 || options.me >= members)
    return wrong("member " + std::to_string(options.me) + " is none of " + std::to_string(members));
  if (options.secret.size() != 16 && options.secret.size() != 32)
    return wrong("a secret of " + std::to_string(options.secret.size()) +
                 " bytes: give 16 or 32 random ones");
  if (options.fan_out < 1) return wrong("a fan-out below 1: give 2 to 8");
  if (!(options.rate >= 10e3)) return wrong("a rate below 10 kbit/s: give bits per second");
  if (options.round_trip < 8 || options.round_trip > 10 * kSecond)
    return wrong("a round trip of more than 10 s, or none: give nanoseconds");
  if (least_payload(options) < 64 || least_payload(options) > 65000)
    return wrong("a member's packets carry " + std::to_string(least_payload(options)) +
                 " bytes: its interface's MTU must be 160 to 65060");
  if (least_credit(options) < 4)
    return wrong("a member's receive buffer holds " + std::to_string(least_credit(options)) +
                 " packets: raise net.core.rmem_max there");
  return std::unique_ptr<Group>(std::make_unique<OpenGroup>(options, socket));
}

}  // namespace unisono::multicast
