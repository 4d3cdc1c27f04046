#include "multicast/receiving.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace unisono::multicast {

namespace {

// Requests that nobody answers go to the sender itself from then on: the parent may be computing.
constexpr int kAskParent = 2;
// Who has all asks for the first time when the sender's word is so many doublings late.
constexpr int kAskWhetherOver = 2;
// When so many are asked they do not answer all at once.
constexpr int kManyAsked = 8;

int how_many(std::span<const std::byte> map) {
  int bits = 0;
  for (const std::byte byte : map) bits += std::popcount(std::to_integer<unsigned>(byte));
  return bits;
}

}  // namespace

void Receiving::begin(const Expected& expected, const Transmitter& line) {
  expected_ = expected;
  pieces_ = {expected.bytes, line.payload};
  me_ = line.me;
  is_open_ = true;
  is_reported_ = is_released_ = false;
  packets_ = pieces_.packets();
  have_.assign((packets_ + 63) / 64, 0);
  next_ = seen_ = told_ = 0;
  below_.clear();
  for (int member = 0; member < line.members; ++member)
    if (expected.tree.is_above(me_, member)) below_.push_back(static_cast<std::uint16_t>(member));
  has_.assign(below_.size(), 0);
  repairs_.begin(packets_);
  since_ = ask_at_ = answer_at_ = kNever;
  round_ends_ = 0;
  asked_ = 0;
  result_ = {expected.message};
}

// --- data ----------------------------------------------------------------------------------------

bool Receiving::fits(std::uint32_t index, std::uint8_t flags, std::size_t length) const {
  return index < packets_ && pieces_.is_last(index) == ((flags & kLast) != 0) &&
         pieces_.length(index) == length;
}

void Receiving::take(std::uint32_t index, std::uint8_t flags, std::span<const std::byte> payload,
                     Time now, Transmitter& line) {
  if (is_open_ && !fits(index, flags, payload.size()))
    return close(Outcome::other_length, pieces_.offset(index) + payload.size(), now, line);
  if (!is_open_ || has(index)) {
    ++line.counters.duplicates;
    if ((flags & kAnswer) != 0) answer(now, line);
    return;
  }
  if (!payload.empty())
    std::memcpy(expected_.into + pieces_.offset(index), payload.data(), payload.size());
  have_[index / 64] |= std::uint64_t{1} << (index % 64);
  const std::uint32_t before = next_;
  const bool opens_gap = index > seen_;
  while (next_ < packets_ && has(next_)) ++next_;
  seen_ = std::max(seen_, index + 1);
  repairs_.arrived(index, now);
  if (next_ > before) {
    asked_ = 0;
    acknowledge(line);
  }
  if (next_ == packets_) return close(Outcome::done, 0, now, line);
  expect_more(opens_gap, now, line);
  if ((flags & kAnswer) != 0) answer(now, line);
}

void Receiving::close(Outcome outcome, std::uint64_t other_bytes, Time now, Transmitter& line) {
  ask_at_ = now + line.timers.doubled(line.timers.receiver_holdoff(), kAskWhetherOver);
  asked_ = 0;
  if (outcome == Outcome::silent) is_released_ = true;
  if (outcome == Outcome::done && !repairs_.is_empty()) {  // what is here will not be, soon
    repairs_.hurry(now);
    send_repairs(Transmitter::kBatch, now, line);
  }
  is_open_ = false;
  if (outcome == Outcome::done) {
    // The caller may not come again for long: then the sender shall not wait for those below.
    if (told_ < packets_) tell(root(), Kind::ack, packets_, packets_, line);
    return;
  }
  result_ = {message(), outcome, root(), other_bytes};
  if (outcome == Outcome::other_length) answer(now, line);
}

/// A gap is asked for after a random backoff; without one, what is late when nothing comes.
void Receiving::expect_more(bool opens_gap, Time now, Transmitter& line) {
  if (expected_.family != Family::nack) return;
  if (seen_ == next_) {
    ask_at_ = now + line.timers.receiver_holdoff();
  } else if (opens_gap) {
    const Time backoff = line.random.below(line.timers.max_backoff());
    ask_at_ = std::min(ask_at_, now + line.timers.grtt / 8 + backoff);
  }
}

// --- what is told to others ----------------------------------------------------------------------

std::uint32_t Receiving::least_below() const {
  std::uint32_t least = next_;
  for (std::size_t i = 0; i < below_.size(); ++i)
    if (below_[i] != me_) least = std::min(least, has_[i]);
  return least;
}

void Receiving::tell(int to, Kind kind, std::uint32_t next, std::uint32_t until,
                     Transmitter& line) {
  std::array<std::byte, kMaxMembers / 8> members{};
  for (std::size_t i = 0; i < below_.size(); ++i)
    if ((below_[i] == me_ ? next_ : has_[i]) >= next) set_bit(members, below_[i]);
  std::array<std::byte, kMapPackets / 8> missing{};
  const std::uint32_t end = until - next < kMapPackets ? until : next + kMapPackets;
  for (std::uint32_t index = next; index < end; ++index)
    if (!has(index)) set_bit(missing, index - next);
  Status status;
  status.bytes = expected_.bytes;
  status.next = next;
  status.seen = seen_;
  status.member = static_cast<std::uint16_t>(me_);
  status.members = {members.data(), static_cast<std::size_t>(line.members + 7) / 8};
  status.missing = {missing.data(), (end - next + 7) / 8};
  line.send_status(to, kind, 0, message(), status);
}

/// To the parent, when all below have all of another window.
void Receiving::acknowledge(Transmitter& line) {
  std::uint32_t complete = least_below();
  if (complete < packets_) complete -= complete % expected_.window;
  if (complete <= told_) return;
  told_ = complete;
  tell(expected_.tree.parent(me_), Kind::ack, complete, complete, line);
}

/// To the sender, who has asked; not before the round of the last answer is over.
void Receiving::answer(Time now, Transmitter& line) {
  if (now < round_ends_) return void(answer_at_ = std::min(answer_at_, round_ends_));
  round_ends_ = now + line.timers.round();
  answer_at_ = kNever;
  const bool lacks = is_open_ && next_ < seen_;
  const Kind kind = lacks && expected_.family == Family::nack ? Kind::nack : Kind::ack;
  tell(root(), kind, next_, is_open_ ? seen_ : next_, line);
}

/// The parent, or the sender, for what has been missing for too long.
void Receiving::ask(Time now, Transmitter& line) {
  const int whom = asked_ < kAskParent ? expected_.tree.parent(me_) : root();
  const std::uint32_t until = next_ < seen_ ? seen_ : packets_;
  tell(whom, Kind::nack, next_, until, line);
  ask_at_ = now + line.timers.doubled(line.timers.receiver_holdoff(), asked_);
  ++asked_;
}

/// The last ack may have been lost, or the word that all have it: to ask for nothing says the one
/// again, and brings the other.
void Receiving::ask_whether_over(bool drained, Time now, Transmitter& line) {
  if (is_released_ || !drained || now < ask_at_) return;
  tell(root(), Kind::nack, next_, next_, line);
  ask_at_ = now + line.timers.doubled(line.timers.receiver_holdoff(), kAskWhetherOver + asked_);
  ++asked_;
}

// --- what others tell ----------------------------------------------------------------------------

void Receiving::heard(const Status& status, Transmitter& line) {
  if (status.bytes != expected_.bytes || status.next > packets_) return;  // the sender learns of it
  for (std::size_t i = 0; i < below_.size(); ++i)
    if (has_bit(status.members, below_[i])) has_[i] = std::max(has_[i], status.next);
  acknowledge(line);
}

void Receiving::asked(const Status& status, Time now, Transmitter& line) {
  const auto place = std::find(below_.begin(), below_.end(), status.member);
  if (status.bytes != expected_.bytes || status.next > packets_ || place == below_.end() ||
      status.member == me_)
    return void(++line.counters.senseless);
  auto& theirs = has_[static_cast<std::size_t>(place - below_.begin())];
  theirs = std::max(theirs, status.next);
  if (!is_open_) {
    ++line.counters.nacks_forwarded;
    return line.send_status(root(), Kind::nack, 0, message(), status);
  }
  for (std::size_t i = 0; i < status.missing.size() * 8; ++i) {
    const std::uint64_t index = std::uint64_t{status.next} + i;
    if (index >= seen_) break;  // perhaps it has not been sent yet
    if (has_bit(status.missing, i))
      repairs_.ask(static_cast<std::uint32_t>(index), status.member, now, line.timers);
  }
}

void Receiving::polled(const Status& status, Time now, Transmitter& line) {
  if (is_open_ && status.bytes != expected_.bytes)
    return close(Outcome::other_length, status.bytes, now, line);
  seen_ = std::max(seen_, std::min(status.next, packets_));
  if (!has_bit(status.members, static_cast<std::size_t>(me_))) return;
  if (how_many(status.members) <= kManyAsked) return answer(now, line);
  answer_at_ = std::min(answer_at_, now + line.random.below(line.timers.max_backoff()));
}

// --- time ----------------------------------------------------------------------------------------

void Receiving::keep_time(bool drained, Hearing& hearing, Time now, Transmitter& line) {
  if (now >= answer_at_) answer(now, line);
  if (!is_open_) return ask_whether_over(drained, now, line);
  if (since_ == kNever) {
    since_ = now;
    if (expected_.family == Family::nack && ask_at_ == kNever)
      ask_at_ = now + line.timers.doubled(line.timers.receiver_holdoff(), kAskParent);
  }
  if (drained && now >= ask_at_) ask(now, line);
  if (drained && hearing.loses(root(), since_)) close(Outcome::silent, 0, now, line);
}

std::size_t Receiving::send_repairs(std::size_t allowance, Time now, Transmitter& line) {
  const Text text{message(), expected_.into, pieces_};
  std::size_t sent = 0;
  Repairs::Repair repair;
  while (sent < allowance && now >= repairs_.due() && repairs_.next(repair)) {
    if (!has(repair.index)) {
      repairs_.park();
      continue;
    }
    if (line.send_data(repair.to, text, {&repair.index, 1}, 0) == 0) break;
    ++sent;
    if (repair.to == kEverybody) {
      ++line.counters.repairs_to_all;
      repairs_.done_for_all(now, line.timers);
    } else {
      ++line.counters.repairs_to_one;
      repairs_.done(now, line.timers);
    }
  }
  return sent;
}

Time Receiving::deadline(const Hearing& hearing) const {
  if (!is_open_) return std::min(answer_at_, is_released_ ? kNever : ask_at_);
  return std::min({ask_at_, answer_at_, repairs_.due(), hearing.would_lose(root(), since_)});
}

}  // namespace unisono::multicast
