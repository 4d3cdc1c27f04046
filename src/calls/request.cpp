#include "calls/request.h"

#include <algorithm>
#include <climits>
#include <new>

#include "algorithms/composition.h"
#include "calls/absent_rank.h"
#include "calls/in_flight.h"
#include "calls/plans.h"
#include "mpi/device_memory.h"
#include "mpi/rank_lost.h"
#include "node/kernels.h"

namespace unisono {

namespace {

/// The MPI library's collectives of MPI 3 count in int. All ranks know these counts.
bool fits_library(const Args& args) {
  const Semantics& s = semantics(args.collective);
  if (is_irregular(args.collective)) {
    const Layout& blocks = s.rooted && is_irregular(s.send.shape) ? args.send : args.recv;
    return blocks.total(0, args.size) <= INT_MAX;
  }
  const bool sends = is_per_peer(s.send.shape), receives = is_per_peer(s.receive.shape);
  if (sends && receives) return args.count * args.size <= INT_MAX / args.size;
  return args.count <= INT_MAX / (sends || receives ? args.size : 1);
}

/// A group of which others may still wait for this rank, though its calls are over. Who ends the
/// group takes care of that.
class UnquietGroup : public Moved {
 public:
  explicit UnquietGroup(const std::shared_ptr<MulticastChannel>& channel) : channel_(channel) {}
  bool move() noexcept override {
    const auto channel = channel_.lock();
    if (channel == nullptr) return true;
    channel->progress();
    return channel->is_idle();
  }
  void tell() noexcept override {
    if (const auto channel = channel_.lock()) channel->end_duty();
  }

 private:
  std::weak_ptr<MulticastChannel> channel_;
};

/// Whoever waits does so from now on.
void look_after(const std::vector<std::shared_ptr<MulticastChannel>>& channels) noexcept {
  for (const auto& channel : channels) {
    if (channel == nullptr || !channel->claim_duty()) continue;
    try {
      MovedNode node;
      node.push_back(std::make_shared<UnquietGroup>(channel));
      enter_flight(node);
    } catch (const std::bad_alloc&) {  // then it is moved by the next call
      channel->end_duty();
    }
  }
}

bool follows_order(const Algorithm& algorithm, const Args& args) {
  return (algorithm.restrictions & kOrder) != 0 && is_irregular(args.collective);
}

}  // namespace

Request::Retained::Retained(Call& call, int rank, int size)
    : types(call, rank, size), operation(call.op), host((look_for_devices(), call), rank, size) {
  call = host.call();
}

const Call& Request::retained(Call& call, Lifetime lifetime) {
  if (lifetime == Lifetime::blocking) return call;
  // Finds out where the ranks are now, and not in a turn of the library.
  static_cast<void>(communicator_.portions(1));
  retained_.emplace(call, communicator_.rank(), communicator_.size());
  return call;
}

Request::Request(Communicator& communicator, Call call, const Choice& choice, bool commutative,
                 Lifetime lifetime, std::optional<Tags> lasting)
    : communicator_(communicator),
      bound_(retained(call, lifetime), communicator.rank(), communicator.size(), commutative),
      choice_(choice),
      exchange_(*choice.algorithm, args_for(choice)),
      groups_(communicator.groups()),
      tags_(lasting ? *lasting : communicator.tags().take()) {
  if (tags_.lasting) workspace_ = communicator.take_workspace();
  if (follows_order(*choice.algorithm, bound_.args))
    order_ =
        communicator.planned_calls().given(bound_.args.collective, *choice.algorithm, choice.params,
                                           communicator.rank(), communicator.size());
  bound_.args.order = order_.get();
  // A persistent call's counts are its own, and known when it has been prepared.
  if (order_ == nullptr && follows_order(*choice.algorithm, bound_.args) && !tags_.lasting)
    repeated_ = communicator.planned_calls().of(bound_.args.collective, *choice.algorithm,
                                                choice.params, communicator.rank());
  if (repeated_ != nullptr) number_ = repeated_->enter();
  communicator_.retain();
  if (is_mover()) ++communicator_.messages()->movers();
}

/// With what the algorithm asks for beyond the call.
const Args& Request::args_for(const Choice& choice) {
  Args& args = bound_.args;
  args.params = choice.params;
  if ((choice.algorithm->restrictions & kGraph) != 0) args.graph = communicator_.graph();
  if (reads_topology(*choice.algorithm, choice.params)) args.topology = &communicator_.topology();
  return args;
}

Request::~Request() {
  finish(MPI_ERR_PENDING);
  communicator_.give_back(std::move(workspace_));
  if (is_mover()) --communicator_.messages()->movers();
  communicator_.release();
}

// What has happened so far cannot be undone when there is no memory, and the other ranks wait: the
// request ends with an error, as where the MPI library has none.
template <class Function>
void Request::step(Function function) noexcept {
  moves_ = true;
  try {
    function();
    while (is_under_way() && workspace_->execution.done()) advance();
  } catch (const std::bad_alloc&) {
    finish(MPI_ERR_NO_MEM);
  } catch (const node::RankLost&) {
    finish(rank_lost_error());
  } catch (const node::Truncated&) {
    finish(MPI_ERR_TRUNCATE);
  }
  moves_ = false;
}

void Request::run(const Algorithm& algorithm, const Args& args, Binding binding,
                  std::shared_ptr<const Plan>& plan) {
  const int first_tag = tags_.first();
  binding.rank = communicator_.rank();
  binding.groups = &groups_;
  if (args.params.transport == TransportKind::shm) {
    NodeMessages& messages = *communicator_.messages();
    if (!retained_) messages.begin_call();  // a call in flight may be in the library's turn
    workspace_->shm.open({&messages.messenger(), first_tag, binding.unit.size, binding.unit.true_lb,
                          &messages.mutex(), &messages.movers()});
    binding.transport = &workspace_->shm;
  } else {
    workspace_->mpi.open({communicator_.own(), first_tag, binding.type, binding.unit.extent,
                          communicator_.portions(binding.unit.size), communicator_.ahead()});
    binding.transport = &workspace_->mpi;
  }
  if (plan == nullptr) plan = plan_for(communicator_, algorithm, args);
  if (has_channels(plan, algorithm, args, MulticastGroups::For::all_calls)) {
    workspace_->multicast.open(channels_, plan->schedule(), binding.unit);
    binding.multicast = &workspace_->multicast;
  }
  if (const int rc = workspace_->execution.start(*plan, binding); rc != MPI_SUCCESS) finish(rc);
}

/// Those of the plan's groups; no, where there are none, or they cannot be had, on all ranks alike:
/// then the messages of another plan go to each member. Collective over the communicator where they
/// are not there yet.
bool Request::has_channels(std::shared_ptr<const Plan>& plan, const Algorithm& algorithm,
                           const Args& args, MulticastGroups::For whom) {
  if (plan->schedule().groups().empty()) return false;
  if (!channels_.empty()) return true;
  // A group's messages are numbered as calls begin to send, and those in flight do not begin in the
  // same order on all ranks. A persistent one has a group of its own.
  const bool is_ordered = !retained_ || whom == MulticastGroups::For::one_caller;
  MulticastGroups& groups = communicator_.multicast();
  const auto has = [&](const RankGroup& group, std::shared_ptr<MulticastChannel>& channel) {
    if (whom == MulticastGroups::For::all_calls && groups.find(group, channel)) return true;
    return groups.open(communicator_.own(), group, whom, channel);
  };
  std::vector<std::shared_ptr<MulticastChannel>> channels;
  for (const RankGroup& group : plan->schedule().groups()) {
    if (is_ordered && has(group, channels.emplace_back())) continue;
    plan = std::make_shared<const Plan>(expand(build(algorithm, args), args));
    return false;
  }
  channels_ = std::move(channels);
  return true;
}

void Request::prepare(WaitMode mode) {
  Waiter waiter(mode);
  if (exchange_.is_needed() && order_ == nullptr) exchange_counts();
  while (phase_ == Phase::counts) {
    if (workspace_->execution.done()) {
      if (take_counts()) break;
      continue;
    }
    if (workspace_->execution.progress() != MPI_SUCCESS) return;  // the first start says so
    workspace_->execution.wait(waiter, progress_in_flight());
  }
  if (phase_ == Phase::done) return;
  phase_ = Phase::queued;
  plan_ = plan_for(communicator_, *choice_.algorithm, bound_.args);
  has_channels(plan_, *choice_.algorithm, bound_.args, MulticastGroups::For::one_caller);
}

void Request::inherit(Request& prepared) {
  exchange_ = std::move(prepared.exchange_);
  has_counts_ = prepared.has_counts_;
  order_ = std::move(prepared.order_);
  if (order_ != nullptr)
    bound_.args.order = order_.get();
  else if (has_counts_)
    exchange_.supply(bound_.args);
  plan_ = std::move(prepared.plan_);
  channels_ = std::move(prepared.channels_);
}

void Request::start() noexcept {
  phase_ = Phase::queued;
  result_.reset();
  step([this] { begin(); });
}

void Request::begin() {
  if (!communicator_.tags().may_use(tags_)) return;  // again in progress()
  if (repeated_ != nullptr) {
    const auto decision = repeated_->decide(number_);
    if (!decision) return;  // the counts of an earlier call are under way
    order_ = decision->order;
    bound_.args.order = order_.get();
  }
  if (workspace_ == nullptr) workspace_ = communicator_.take_workspace();
  if (has_counts_ || order_ != nullptr || !exchange_.is_needed()) return begin_data();
  exchange_counts();
}

void Request::exchange_counts() {
  phase_ = Phase::counts;
  exchange_plan_ = nullptr;  // that of the step before
  Binding binding;
  binding.output = exchange_.memory();
  run(exchange_.algorithm(), exchange_.args(), binding, exchange_plan_);
}

void Request::begin_data() {
  phase_ = Phase::data;
  const Composition* composition = choice_.params.composition;
  if (composition != nullptr && has_calls(*composition) && !fits_library(bound_.args))
    return finish(std::nullopt);
  if (const int rc = bound_.pack_inputs(); rc != MPI_SUCCESS) return finish(rc);
  run(*choice_.algorithm, bound_.args, bound_.binding, plan_);
}

// The tags may be used again: messages of one phase are over on both sides when it is over on a
// rank that got them, and those of the next are ordered behind them.
void Request::advance() {
  if (phase_ == Phase::data) {
    const int rc = bound_.unpack_outputs();
    return finish(retained_ ? retained_->host.end(rc) : rc);
  }
  if (take_counts()) begin_data();
}

/// Of a step of their exchange; no: the next one has begun.
bool Request::take_counts() {
  if (exchange_.has_next()) {
    exchange_counts();
    return false;
  }
  if (follows_order(*choice_.algorithm, bound_.args))
    find_order();
  else
    exchange_.supply(bound_.args);
  return has_counts_ = true;
}

void Request::find_order() {
  if (repeated_ != nullptr) {
    const RepeatedCalls::Learned learned = repeated_->learn(exchange_.matrix());
    order_ = learned.order;
    if (communicator_.rank() == 0)
      tell(learned, bound_.args.collective, *choice_.algorithm, communicator_.size());
  } else {
    order_ = std::make_shared<const MessageOrder>(
        order_of(schedule_messages(*choice_.algorithm, bound_.args, exchange_.matrix()),
                 communicator_.rank()));
  }
  bound_.args.order = order_.get();
}

void Request::progress() noexcept {
  if (done() || moves_) return;
  if (phase_ == Phase::queued) return start();
  step([this] {
    if (const int rc = workspace_->execution.progress(); rc != MPI_SUCCESS) return finish(rc);
    if (workspace_->execution.moved()) return;
    // The program may revoke its communicator, of whose calls here the MPI library does not know.
    if (is_call_revoked()) return finish(rank_lost_error());
    look_for_absence();
  });
}

void Request::look_for_absence() {
  constexpr unsigned kLooksPerQuestion = 64;
  // A persistent request is not started by the call that made it.
  if (tags_.lasting || ++fruitless_looks_ % kLooksPerQuestion != 0) return;
  const auto absent = communicator_.attendance().absence(call_);
  if (!absent) return;
  const auto code = end_flight_without_rank(communicator_, bound_.args.collective, call_, *absent);
  finish(code || !retained_ ? code : std::optional<int>(MPI_ERR_OTHER));
}

void Request::finish(std::optional<int> result) noexcept {
  if (done()) return;
  phase_ = Phase::done;
  if (repeated_ != nullptr) repeated_->give_up(number_);
  // Of what the MPI library says of communicators of ours, the program knows nothing.
  if (result && *result != MPI_ERR_PENDING && says_rank_lost(*result)) {
    communicator_.lose_rank();
    result = rank_lost_error(communicator_.handle());
  }
  result_ = result;
  if (workspace_ != nullptr) {
    workspace_->execution.abandon();
    workspace_->execution.give_back_scratch();
    look_after(channels_);
    workspace_->multicast.close();
    if (!tags_.lasting) channels_.clear();
    if (!tags_.lasting) communicator_.give_back(std::move(workspace_));
  }
  communicator_.tags().give_back(tags_);
}

// Messages through the MPI library, be they others', give it its turns.
void Request::look_around() {
  if (choice_.params.transport == TransportKind::shm)
    communicator_.messages()->messenger().be_idle();
  else if (has_node_memory())
    give_turn_to_library();
}

void Request::wait(WaitMode mode) {
  Waiter waiter(mode);
  while (!done()) {
    progress();
    const bool others = progress_in_flight();
    step([&] {
      if (done()) return;
      if (workspace_ == nullptr) {  // queued: nothing of its own looks at anything
        look_around();
        return waiter.nothing_came();
      }
      workspace_->execution.wait(waiter, others);
    });
  }
}

}  // namespace unisono
