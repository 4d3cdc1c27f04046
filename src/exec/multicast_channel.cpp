#include "exec/multicast_channel.h"

#include <mpi.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <string>
#include <utility>

#include "base/say.h"

namespace unisono {

namespace {

/// Others are moved between two sleeps.
constexpr multicast::Time kMostAsleep = 200 * multicast::kMicrosecond;

int place_of(const RankGroup& group, int rank) {
  const auto at = std::find(group.ranks.begin(), group.ranks.end(), rank);
  assert(at != group.ranks.end());
  return static_cast<int>(at - group.ranks.begin());
}

}  // namespace

multicast::Time multicast_now() {
  using std::chrono::nanoseconds;
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<nanoseconds>(since).count();
}

MulticastChannel::MulticastChannel(RankGroup ranks, int rank,
                                   std::unique_ptr<multicast::Socket> socket,
                                   std::unique_ptr<multicast::Group> group)
    : ranks_(std::move(ranks)),
      me_(place_of(ranks_, rank)),
      socket_(std::move(socket)),
      group_(std::move(group)) {}

std::uint64_t MulticastChannel::take_numbers(std::uint32_t messages) {
  const std::lock_guard lock(mutex_);
  return std::exchange(next_, next_ + messages);
}

int MulticastChannel::start(const Message& message) {
  const std::lock_guard lock(mutex_);
  awaited_.push_back({message});
  return start_next();
}

// The group wants them in this order, in which an execution may not come to them.
int MulticastChannel::start_next() {
  for (;;) {
    if (std::erase(skipped_, next_to_start_) > 0) {
      ++next_to_start_;
      continue;
    }
    const auto next = std::find_if(awaited_.begin(), awaited_.end(), [this](const Awaited& one) {
      return one.message.number == next_to_start_ && !one.started;
    });
    if (next == awaited_.end()) return MPI_SUCCESS;
    const Message& message = next->message;
    const int member = place_of(ranks_, message.root);
    const char* problem =
        member == me_ ? group_->start_send(message.number, message.where, message.bytes)
                      : group_->start_receive(message.number, member, message.where, message.bytes);
    next->started = true;
    ++next_to_start_;
    if (problem == nullptr) continue;
    say(problem);
    awaited_.erase(next);
    return MPI_ERR_INTERN;
  }
}

void MulticastChannel::note(const multicast::Completion& completion) {
  const auto at = std::find_if(awaited_.begin(), awaited_.end(), [&](const Awaited& one) {
    return one.message.number == completion.message && !one.over;
  });
  if (at == awaited_.end()) return;
  at->over = true;
  if (completion.outcome == multicast::Outcome::done) return;
  const bool length = completion.outcome == multicast::Outcome::other_length;
  at->code = length ? MPI_ERR_TRUNCATE : MPI_ERR_OTHER;
  if (completion.outcome == multicast::Outcome::silent)
    say("multicast: nothing was heard from rank " + std::to_string(ranks_.rank(completion.member)) +
        " for longer than UNISONO_MCAST_SILENCE allows");
}

int MulticastChannel::take(const void* owner, std::vector<OpId>& completed) {
  const std::lock_guard lock(mutex_);
  int code = MPI_SUCCESS;
  std::erase_if(awaited_, [&](const Awaited& one) {
    if (one.message.owner != owner || !one.over) return false;
    if (one.code != MPI_SUCCESS) code = one.code;
    completed.push_back(one.message.op);
    return true;
  });
  return code;
}

void MulticastChannel::abandon(const void* owner, std::uint64_t first, std::uint64_t end) {
  const std::lock_guard lock(mutex_);
  for (const Awaited& one : awaited_)
    if (one.message.owner == owner && one.started && !one.over) group_->abandon(one.message.number);
  std::erase_if(awaited_, [&](const Awaited& one) { return one.message.owner == owner; });
  for (std::uint64_t number = std::max(first, next_to_start_); number < end; ++number)
    skipped_.push_back(number);
  start_next();
}

bool MulticastChannel::progress() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return false;
  const multicast::Progress progress = group_->progress(multicast_now());
  for (const multicast::Completion& completion : progress.completed) note(completion);
  deadline_ = progress.deadline;
  return progress.moved || !progress.completed.empty();
}

void MulticastChannel::wait() const {
  const multicast::Time left =
      std::clamp<multicast::Time>(deadline_ - multicast_now(), 0, kMostAsleep);
  if (left == 0) return;
  std::array<pollfd, 2> descriptors{};
  for (std::size_t i = 0; i < descriptors.size(); ++i)
    descriptors[i] = {socket_->descriptors()[i], POLLIN, 0};
  const timespec time{0, static_cast<long>(left)};
  ::ppoll(descriptors.data(), descriptors.size(), &time, nullptr);
}

bool MulticastChannel::is_quiet() {
  const std::lock_guard lock(mutex_);
  return group_->is_quiet();
}

bool MulticastChannel::is_idle() {
  const std::lock_guard lock(mutex_);
  return group_->is_quiet() && group_->is_idle();
}

bool MulticastChannel::claim_duty() {
  const std::lock_guard lock(mutex_);
  if (has_duty_ || (group_->is_quiet() && group_->is_idle())) return false;
  return has_duty_ = true;
}

void MulticastChannel::end_duty() {
  const std::lock_guard lock(mutex_);
  has_duty_ = false;
}

}  // namespace unisono
