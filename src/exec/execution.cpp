#include "exec/execution.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

namespace unisono {

namespace {

constexpr std::size_t kAlignment = 64;  // a cache line; also any element type

constexpr std::size_t aligned(Count bytes) {
  return (static_cast<std::size_t>(bytes) + kAlignment - 1) / kAlignment * kAlignment;
}

/// What memory n elements need before and after the address of the first. User-defined operations
/// may write whole elements, whatever part of them the datatype names; absolute addresses
/// (MPI_BOTTOM) in a datatype are no part of an element.
struct Footprint {
  Count before, after;
  Footprint(const TypeFacts& unit, Count n) {
    const Count step = (n - 1) * unit.extent;
    const bool absolute = std::abs(unit.true_lb) > 64 * (std::abs(unit.extent) + unit.true_extent);
    Count low = unit.true_lb, high = unit.true_lb + unit.true_extent;
    if (!absolute) {
      low = std::min({low, unit.lb, Count{0}});
      high = std::max({high, unit.lb + unit.extent, Count{0}});
    }
    before = -low + std::max<Count>(0, -step);
    after = high + std::max<Count>(0, step);
  }
};

// Scratch memory up to this size is kept by an execution, of which there is one per communicator;
// larger memory is kept once, for whoever needs it next. More is given back to the system.
constexpr std::size_t kOwnScratch = std::size_t{64} << 10;
constexpr std::size_t kKeptScratch = std::size_t{64} << 20;

/// Whether all that an op can be waiting for is its turn behind a send, not the send's memory.
bool may_follow(const Op& op, const Op& send) {
  switch (op.kind) {
    case OpKind::send: return true;
    case OpKind::recv:
    case OpKind::copy:
    case OpKind::reduce: return !overlap(op.slice(), send.slice());
    default: return false;  // others rely on it
  }
}

/// From all of a slice that nobody sees, or into all of it.
bool reduces(const Op& op, Slice slice) {
  if (op.kind != OpKind::reduce) return false;
  if (op.slice() == slice) return !overlap(op.from(), slice);
  return op.from() == slice && slice.buffer >= kFirstScratch && !overlap(op.slice(), slice);
}

bool reads(const Op& op, Slice slice) {
  switch (op.kind) {
    case OpKind::send: return overlap(op.slice(), slice);
    case OpKind::recv: return false;
    case OpKind::copy: return overlap(op.from(), slice);
    case OpKind::reduce: return overlap(op.slice(), slice) || overlap(op.from(), slice);
    default: return true;  // others rely on it
  }
}

/// The large scratch memory that the last execution is done with: fresh pages cost more to touch
/// than to copy.
class Spare {
 public:
  static Spare& instance() {
    static Spare& spare = *new Spare;  // never destroyed: exit handlers may use MPI
    return spare;
  }
  ScratchMemory take(std::size_t size) {
    const std::lock_guard lock(mutex_);
    if (memory_.size >= size) return std::exchange(memory_, {});
    return {};
  }
  void give(ScratchMemory memory) {
    if (memory.size > kKeptScratch) return;
    const std::lock_guard lock(mutex_);
    if (memory.size > memory_.size) memory_ = std::move(memory);
  }

 private:
  std::mutex mutex_;
  ScratchMemory memory_;
};

}  // namespace

std::byte* Execution::address(BufferId buffer, Count offset) const {
  constexpr Count kSlot = sizeof(std::int32_t);
  return buffers_[buffer] + offset * (buffer == kSlots ? kSlot : binding_.unit.extent);
}

// One allocation for all scratch buffers, each with its first element aligned as the user's may be,
// and the slots before them.
void Execution::place_scratch() {
  const auto lengths = plan_->schedule().scratch();
  const std::size_t slot_bytes =
      aligned(static_cast<Count>(plan_->schedule().slots() * sizeof(std::int32_t)));
  std::size_t total = kAlignment + slot_bytes;
  for (const Count n : lengths) {
    const Footprint footprint(binding_.unit, n);
    if (n > 0) total += aligned(footprint.before) + aligned(footprint.after);
  }
  if (total > scratch_.size) scratch_ = Spare::instance().take(total);
  if (total > scratch_.size) scratch_ = {std::make_unique_for_overwrite<std::byte[]>(total), total};
  const auto misfit = reinterpret_cast<std::uintptr_t>(scratch_.bytes.get()) % kAlignment;
  std::byte* at = scratch_.bytes.get() + (kAlignment - misfit) % kAlignment;
  buffers_.resize(kFirstScratch + lengths.size());
  buffers_[kSlots] = at;
  at += slot_bytes;
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    if (lengths[k] == 0) continue;
    const Footprint footprint(binding_.unit, lengths[k]);
    buffers_[kFirstScratch + k] = at + aligned(footprint.before);
    at += aligned(footprint.before) + aligned(footprint.after);
  }
}

int Execution::start(const Plan& plan, const Binding& binding) try {
  assert(done());
  plan_ = &plan;
  binding_ = binding;
  left_ = plan.schedule().ops().size();
  open_.assign(plan.open().begin(), plan.open().end());
  ready_.assign(plan.sources().begin(), plan.sources().end());
  next_ready_ = 0;
  server_ = kNoOp;
  waiting_.clear();
  unserved_ = plan.enqueues();
  buffers_.assign(kFirstScratch, nullptr);
  buffers_[kInput] = binding.input;
  buffers_[kOutput] = binding.output;
  if (!plan.schedule().scratch().empty() || plan.schedule().binds_peers()) place_scratch();
  return run_ready();
} catch (const std::bad_alloc&) {
  return fail(MPI_ERR_NO_MEM);
}

int Execution::run_ready() {
  do {
    while (next_ready_ < ready_.size())
      if (const int rc = begin(ready_[next_ready_++]); rc != MPI_SUCCESS) return fail(rc);
    take_completions();  // in the memory of a node a message may be complete at once
  } while (next_ready_ < ready_.size() || serve());
  ready_.clear();
  next_ready_ = 0;
  return MPI_SUCCESS;
}

int Execution::begin(OpId id) {
  const Op& op = plan_->schedule().ops()[id];
  int rc = MPI_SUCCESS;
  switch (op.kind) {
    case OpKind::send:
    case OpKind::recv: return begin_message(id, op);
    case OpKind::multicast:
    case OpKind::recv_multicast: return begin_multicast(id, op);
    case OpKind::copy: rc = copy(op); break;
    case OpKind::reduce:
      if (std::erase(reduced_, id) == 0) rc = reduce(op);
      break;
    case OpKind::library: rc = run_group_call(plan_->schedule().group_calls()[op.call()]); break;
    case OpKind::enqueue:
      if (waiting_.empty()) first_came_ = PMPI_Wtime();
      waiting_.push_back(id);
      return MPI_SUCCESS;
    case OpKind::serve: server_ = id; return MPI_SUCCESS;
    case OpKind::join: break;
  }
  if (rc == MPI_SUCCESS) complete(id);
  return rc;
}

// Whether the set that waits is to be served: all are there that are left, or its time is over.
bool Execution::has_paused() const {
  if (waiting_.size() == unserved_) return true;
  const auto pause = static_cast<double>(plan_->schedule().ops()[server_].pause());
  return !waiting_.empty() && (pause == 0 || PMPI_Wtime() - first_came_ >= pause * 1e-6);
}

// Takes everybody whose token has come by now. The only choice that time decides; it is made here,
// by one rank, and the others are told.
bool Execution::serve() {
  if (server_ == kNoOp || !has_paused()) return false;
  const Schedule& schedule = plan_->schedule();
  schedule.bind(server_, waiting_, binding_.rank, {slots(), schedule.slots()});
  unserved_ -= waiting_.size();
  for (const OpId id : waiting_) complete(id);  // first: they have word to wait for
  waiting_.clear();
  complete(std::exchange(server_, kNoOp));
  return true;
}

int Execution::begin_message(OpId id, const Op& op) {
  const int peer = op.is_bound() ? slots()[op.slot()] : op.peer;
  if (peer == kNobody) {
    complete(id);
    return MPI_SUCCESS;
  }
  const bool slots = op.buffer == kSlots;
  Message message{op.kind,
                  id,
                  peer,
                  op.position(),
                  op.length == 0 ? nullptr : address(op.buffer, op.offset),
                  op.length,
                  slots};
  const OpId behind = op.kind == OpKind::recv ? reduction_behind(id) : kNoOp;
  if (behind != kNoOp) {
    const Op& reduce = plan_->schedule().ops()[behind];
    const bool from_here = reduce.from() == op.slice();
    message.reduction = &*binding_.built_in;
    message.sum = address(reduce.buffer, reduce.offset);
    message.left = from_here ? message.sum : address(reduce.from_buffer, reduce.from_offset);
  }
  Started started;
  const int rc = binding_.transport->start(message, completions_, started);
  open_[id] = started.portions;
  if (started.reduces) reduced_.push_back(behind);
  if (started.may_be_followed) let_follow(id);
  return rc;
}

int Execution::begin_multicast(OpId id, const Op& op) {
  Started started;
  const int rc = binding_.multicast->start({.kind = op.kind,
                                            .op = id,
                                            .peer = op.peer,
                                            .position = op.position(),
                                            .where = address(op.buffer, op.offset),
                                            .units = op.length,
                                            .group = op.group()},
                                           completions_, started);
  open_[id] = started.portions;
  return rc;
}

// The reduction from or into what `recv` brings, if nothing else reads that and it could begin now
// but for that. Else what comes must lie there until it can, or for others. Who writes there next
// waits for the reduction.
OpId Execution::reduction_behind(OpId recv) const {
  const auto ops = plan_->schedule().ops();
  const Slice slice = ops[recv].slice();
  if (!binding_.built_in || slice.length == 0) return kNoOp;
  OpId found = kNoOp;
  for (const OpId next : plan_->dependents(recv)) {
    if (found == kNoOp && reduces(ops[next], slice))
      found = next;
    else if (found == kNoOp || reads(ops[next], slice))
      return kNoOp;
  }
  return found != kNoOp && open_[found] == 1 ? found : kNoOp;
}

int Execution::copy(const Op& op) const {
  const std::byte* from = address(op.from_buffer, op.from_offset);
  std::byte* into = address(op.buffer, op.offset);
  const TypeFacts& unit = binding_.unit;
  if (unit.dense) {
    std::memcpy(into + unit.true_lb, from + unit.true_lb,
                static_cast<std::size_t>(op.length * unit.size));
    return MPI_SUCCESS;
  }
  return copy_elements(from, into, op.length, binding_.type, unit);
}

// MPI's own operations commute (MPI-4.1, 6.9.2), so that the right operand may stand left.
int Execution::reduce(const Op& op) const {
  if (binding_.built_in) {
    std::byte* into = address(op.buffer, op.offset);
    const auto& [combine, context, element_bytes] = *binding_.built_in;
    combine(context, into, address(op.from_buffer, op.from_offset), into,
            static_cast<std::size_t>(op.length));
    return MPI_SUCCESS;
  }
  for (Count at = 0; at < op.length; at += kMaxPortion) {
    const int n = static_cast<int>(std::min(kMaxPortion, op.length - at));
    const int rc =
        PMPI_Reduce_local(address(op.from_buffer, op.from_offset + at),
                          address(op.buffer, op.offset + at), n, binding_.type, binding_.op);
    if (rc != MPI_SUCCESS) return rc;
  }
  return MPI_SUCCESS;
}

// Blocks: joins before and behind it leave nothing else to do.
int Execution::run_group_call(const GroupCall& call) const {
  return binding_.groups->run(call, address(call.input.buffer, call.input.offset),
                              address(call.output.buffer, call.output.offset), binding_);
}

void Execution::complete(OpId id) {
  --left_;
  const bool has_followers = std::erase(followed_, id) > 0;
  const auto ops = plan_->schedule().ops();
  for (const OpId next : plan_->dependents(id)) {
    if (has_followers && may_follow(ops[next], ops[id])) continue;  // it has
    if (--open_[next] == 0) ready_.push_back(next);
  }
}

void Execution::let_follow(OpId id) {
  followed_.push_back(id);
  const auto ops = plan_->schedule().ops();
  for (const OpId next : plan_->dependents(id))
    if (may_follow(ops[next], ops[id]) && --open_[next] == 0) ready_.push_back(next);
}

void Execution::take_completions() {
  for (const OpId id : completions_)
    if (--open_[id] == 0) complete(id);
  completions_.clear();
}

int Execution::progress() try {
  moved_ = false;
  for (Transport* transport : {binding_.transport, binding_.multicast}) {
    if (transport == nullptr) continue;
    bool moved = false;
    if (const int rc = transport->progress(completions_, pauses(), moved); rc != MPI_SUCCESS)
      return fail(rc);
    moved_ = moved_ || moved;
  }
  moved_ = moved_ || !completions_.empty();
  if (completions_.empty()) {
    if (!serve()) return MPI_SUCCESS;  // a pause may be over though nothing has come
    moved_ = true;
  }
  take_completions();
  return run_ready();
} catch (const std::bad_alloc&) {
  return fail(MPI_ERR_NO_MEM);
}

void Execution::wait(Waiter& waiter, bool others) {
  if (moved_) return waiter.something_came();
  Transport* one = binding_.multicast != nullptr ? binding_.multicast : binding_.transport;
  if (!others && !pauses() && one->wait()) {
    if (one != binding_.transport) binding_.transport->look_around();
    return;
  }
  binding_.transport->look_around();
  waiter.nothing_came();
}

void Execution::give_back_scratch() {
  if (scratch_.size > kOwnScratch) Spare::instance().give(std::exchange(scratch_, {}));
}

// MPI leaves the state of a failed communicator open; what is under way is called off as far as
// possible, so that nothing is written into the program's memory later.
int Execution::fail(int error) noexcept {
  for (Transport* transport : {binding_.transport, binding_.multicast})
    if (transport != nullptr && transport->abandon(completions_))
      static_cast<void>(scratch_.bytes.release());  // others still read it
  scratch_ = {};
  completions_.clear();
  waiting_.clear();
  followed_.clear();
  reduced_.clear();
  ready_.clear();
  next_ready_ = 0;
  server_ = kNoOp;
  left_ = 0;
  return error;
}

}  // namespace unisono
