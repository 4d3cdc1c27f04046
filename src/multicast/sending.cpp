#include "multicast/sending.h"

#include <algorithm>
#include <array>

namespace unisono::multicast {

namespace {

// So many times all are asked at once, and from then on each who is behind by itself as well. All
// of them still hear that the sender is there.
constexpr int kAskAll = 2;

}  // namespace

void Sending::begin(const Text& text, Family family, int me, int members,
                    std::optional<std::size_t> copy) {
  text_ = text;
  family_ = family;
  me_ = me;
  copy_ = copy;
  packets_ = text.pieces.packets();
  sent_ = 0;
  next_.assign(static_cast<std::size_t>(members), 0);
  next_[static_cast<std::size_t>(me)] = packets_;
  find_least();  // alone there is nobody to wait for
  repairs_.begin(packets_);
  begun_ = ask_at_ = kNever;
  asked_ = 0;
  result_ = {text.message};
}

void Sending::find_least() { least_ = *std::min_element(next_.begin(), next_.end()); }

void Sending::wait_anew(Time now, const Transmitter& line) {
  asked_ = 0;
  ask_at_ = now + line.pacer.backlog() + line.timers.sender_holdoff();
}

void Sending::excuse(int member, Outcome outcome, std::uint64_t other_bytes) {
  next_[static_cast<std::size_t>(member)] = packets_;
  if (result_.outcome == Outcome::done) result_ = {text_.message, outcome, member, other_bytes};
}

void Sending::heard(const Status& status, std::uint8_t flags, Time now, Transmitter& line) {
  const std::uint32_t before = least_;
  const bool posted = (flags & kNotPosted) == 0;
  if ((flags & kOver) != 0) {
    for (std::size_t member = 0; member < next_.size(); ++member)
      if (has_bit(status.members, member)) next_[member] = packets_;
  } else if (posted && status.bytes != text_.pieces.bytes) {
    if (status.member >= next_.size()) return void(++line.counters.senseless);
    excuse(status.member, Outcome::other_length, status.bytes);
  } else if (posted) {
    const std::uint32_t next = std::min(status.next, packets_);
    if (next > sent_) return void(++line.counters.senseless);
    for (std::size_t member = 0; member < next_.size(); ++member)
      if (has_bit(status.members, member)) next_[member] = std::max(next_[member], next);
    if (family_ == Family::ack && !status.missing.empty()) asked(status, now, line);
  }
  find_least();
  if (least_ > before) wait_anew(now, line);
}

void Sending::asked(const Status& status, Time now, Transmitter& line) {
  if (status.bytes != text_.pieces.bytes) return heard(status, 0, now, line);
  if (status.member >= next_.size() || status.member == me_) return void(++line.counters.senseless);
  auto& next = next_[status.member];
  next = std::max(next, std::min(status.next, sent_));
  find_least();
  std::uint32_t news = 0;
  for (std::size_t i = 0; i < status.missing.size() * 8; ++i) {
    const std::uint64_t index = std::uint64_t{status.next} + i;
    if (index >= sent_) break;
    if (index >= next && has_bit(status.missing, i))
      news += repairs_.ask(static_cast<std::uint32_t>(index), status.member, now, line.timers);
  }
  line.pacer.lost(news);
}

void Sending::give_up_lost(Hearing& hearing) {
  if (begun_ == kNever || !hearing.has_limit()) return;
  for (std::size_t member = 0; member < next_.size(); ++member) {
    if (next_[member] >= sent_) continue;  // what was sent is there
    if (hearing.loses(static_cast<int>(member), begun_))
      excuse(static_cast<int>(member), Outcome::silent, 0);
  }
  find_least();
}

std::size_t Sending::send_repairs(std::size_t allowance, Time now, Transmitter& line) {
  std::array<std::uint32_t, Transmitter::kBatch> batch;
  std::size_t sent = 0;
  Repairs::Repair repair;
  while (sent < allowance && now >= repairs_.due() && repairs_.next(repair)) {
    const bool to_one =
        repair.to != kEverybody && (family_ == Family::nack || repairs_.must_go_alone());
    const bool is_news = to_one ? next_[static_cast<std::size_t>(repair.to)] <= repair.index
                                : least_ <= repair.index;
    if (!is_news) {
      repairs_.skip();
      continue;
    }
    batch[0] = repair.index;
    if (line.send_data(to_one ? repair.to : kEverybody, text_, {batch.data(), 1}, 0) == 0) break;
    ++(to_one ? line.counters.repairs_to_one : line.counters.repairs_to_all);
    ++sent;
    if (to_one)
      repairs_.done(now, line.timers);
    else
      repairs_.done_for_all(now, line.timers);
    ask_at_ = std::max(ask_at_, now + line.pacer.backlog() + line.timers.sender_holdoff());
  }
  return sent;
}

std::size_t Sending::send_new(std::size_t allowance, std::size_t credit, Time now,
                              Transmitter& line) {
  std::array<std::uint32_t, Transmitter::kBatch> batch;
  std::size_t sent = 0;
  while (sent < allowance && sent < credit && sent_ < packets_) {
    const std::size_t most = std::min({allowance - sent, credit - sent, batch.size(),
                                       static_cast<std::size_t>(packets_ - sent_)});
    for (std::size_t i = 0; i < most; ++i) batch[i] = sent_ + static_cast<std::uint32_t>(i);
    const std::size_t taken = line.send_data(kEverybody, text_, {batch.data(), most}, 0);
    sent_ += static_cast<std::uint32_t>(taken);
    sent += taken;
    line.counters.data_sent += taken;
    if (taken < most) break;
  }
  if (sent > 0) {
    if (begun_ == kNever) begun_ = now;
    wait_anew(now, line);
  }
  return sent;
}

void Sending::ask_if_due(Time now, Transmitter& line) {
  if (now < ask_at_ || is_over()) return;
  if (!repairs_.is_empty()) return void(ask_at_ = now + line.timers.sender_holdoff());
  ++asked_;
  ask_at_ = now + line.timers.doubled(line.timers.sender_holdoff(), asked_);
  if (least_ >= sent_) return;  // the next packets wait for credit, or for their turn
  ask(kEverybody, line);
  if (asked_ <= kAskAll) return;
  // What is sent to all may not come there: a switch forgets, or has not learnt yet, who is in a
  // group.
  for (std::size_t member = 0; member < next_.size(); ++member)
    if (next_[member] < sent_) ask(static_cast<int>(member), line);
}

void Sending::ask(int whom, Transmitter& line) {
  if (family_ == Family::ack) {
    const std::uint32_t last = sent_ - 1;  // it shows all that is lacking before
    const std::size_t sent = line.send_data(whom, text_, {&last, 1}, kAnswer);
    (whom == kEverybody ? line.counters.repairs_to_all : line.counters.repairs_to_one) += sent;
    return;
  }
  std::array<std::byte, kMaxMembers / 8> behind{};
  for (std::size_t member = 0; member < next_.size(); ++member)
    if (next_[member] < sent_) set_bit(behind, member);
  Status status;
  status.bytes = text_.pieces.bytes;
  status.next = status.seen = sent_;
  status.member = static_cast<std::uint16_t>(me_);
  status.members = {behind.data(), (next_.size() + 7) / 8};
  line.send_status(whom, Kind::poll, 0, text_.message, status);
}

Time Sending::deadline(const Hearing& hearing) const {
  if (is_over()) return kNever;
  Time first = std::min(ask_at_, repairs_.due());
  for (std::size_t member = 0; hearing.has_limit() && member < next_.size(); ++member)
    if (next_[member] < sent_)
      first = std::min(first, hearing.would_lose(static_cast<int>(member), begun_));
  return first;
}

}  // namespace unisono::multicast
