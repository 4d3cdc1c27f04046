// How the ranks of a team tell each other how far they are.
//
// All ranks count the same steps. In a step some ranks publish: the words of a rank are written by
// it alone, lie on lines of their own and only grow, so nothing is ever reset. A rank publishes
// step s by writing s + 1 into its cell s mod kCells, beside up to kInline bytes of payload. It
// finishes step s, that is, has written and read all it wants in the steps up to s, by writing s +
// 1 into its position. A cell may be written again when everybody's position is beyond its last
// step.
//
// Where more ranks than cores wait for everybody, waiting for one word after the other would be a
// context switch each. In WaitMode::sleep a gate counts who published in a joint step; the last
// arriver opens it and wakes all with one system call, and everybody sleeps at most once. Each step
// of kCells has a gate of its own; the rule for cells keeps its uses apart.
//
// Flat: p^2 lines are read in a joint step, which is right for some 16 ranks on a node. For more,
// short messages go in two levels (levels.h).
// Sources: Graham and Shipman 2008 (per-rank flags, monotone sequences), XHC (Katevenis et al.
// 2022).
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include "node/calls.h"
#include "node/ring.h"
#include "node/wait.h"

namespace unisono::node {

/// 48 of them lie in the word's own cache line.
inline constexpr std::size_t kInline = 112;

template <class Memory>
struct alignas(kLinePair) LinePair {
  typename Memory::Word value{0};
  std::atomic<std::uint64_t> calls{0};  ///< in a cell: by which calls its writer came to the step
  alignas(16) std::byte payload[kInline];
};

/// In WaitMode::sleep only.
template <class Memory>
struct Gate {
  LinePair<Memory> arrivals;  ///< written by everybody
  LinePair<Memory> opened;    ///< written by the last arriver of a step
  LinePair<Memory> sleepers;  ///< written by who sleeps
};

/// Of a rank's words, each for itself: who was woken is counted until it runs, and the next word's
/// writer would wake it once more. Written by who sleeps.
template <class Memory>
struct alignas(kLinePair) Sleepers {
  typename Memory::Word position{0};
  typename Memory::Word cells[Memory::kCells]{};
};

/// Where this rank and one other pass on, piece by piece, what could not be copied directly. It is
/// outside of all steps, for the others take no part; `given` is written by who has the data, and
/// `taken` by who wants it.
template <class Memory>
struct Relay {
  LinePair<Memory> given, taken;
  struct alignas(kLinePair) {
    typename Memory::Word given{0}, taken{0};
  } sleepers;
};

template <class Memory>
struct RankFlags {
  LinePair<Memory> position;
  Sleepers<Memory> sleepers;
  Relay<Memory> relay;
  LinePair<Memory> cells[Memory::kCells];
  alignas(kLinePair) CallLog log;
  Absences absences;
};

template <class Memory>
struct TeamFlags {
  LinePair<Memory> departures;
  alignas(kLinePair) std::atomic<std::uint64_t> retiring{0};  ///< see ask_to_retire()
  CallsEnd calls_end;
  Gate<Memory> gates[Memory::kCells];
};

template <class Memory>
class Flags {
 public:
  static_assert(sizeof(LinePair<Memory>) == kLinePair);

  static constexpr std::size_t bytes(int size) {
    return sizeof(TeamFlags<Memory>) + static_cast<std::size_t>(size) * sizeof(RankFlags<Memory>);
  }

  /// Makes new flags of any memory, aligned to kLinePair. By one rank, before the others begin.
  static void prepare(std::byte* memory, int size) {
    new (memory) TeamFlags<Memory>;
    for (int rank = 0; rank < size; ++rank) new (flags_of(memory, rank)) RankFlags<Memory>;
  }

  Flags(std::byte* memory, int rank, int size, const WaitPolicy& policy)
      : team_(reinterpret_cast<TeamFlags<Memory>*>(memory)),
        ranks_(flags_of(memory, 0)),
        mine_(flags_of(memory, rank)),
        rank_(rank),
        size_(size),
        policy_(policy) {}

  int rank() const { return rank_; }
  int size() const { return size_; }
  WaitMode mode() const { return policy_.mode; }

  /// A call of all ranks begins, and is the same on all; `number`: among all calls of the
  /// communicator. What publishes and waits without one counts to the call before. Throws
  /// CallsEnded.
  void begin_call(CallWord call, std::uint64_t number) {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;  // mixes well: 2^64 / golden ratio
    mine_->log.note(call, number);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // see_stores_of_others() does the rest
    if (team_->calls_end.is_near()) [[unlikely]]
      throw CallsEnded(false);
    calls_ = (calls_ + call) * kOdd;
  }
  /// The call that has begun is over on this rank.
  void end_call() { mine_->log.complete(); }
  /// Calls have differed, so that ranks make no more of them together, and this rank will begin
  /// none. The number of the first call that no rank has completed, the same on all: from it on
  /// another way is open. `failed`: this rank's last call ends with an error, else it has not been
  /// completed. Every rank that is in a call comes here or completes it; `idle` is called while
  /// one is waited for.
  template <class Idle>
  std::uint64_t end_calls(bool failed, const Idle& idle) {
    mine_->log.stop(failed);
    CallsEnd& end = team_->calls_end;
    if (end.begin()) {
      see_stores_of_others();
      std::uint64_t last = 0;
      for (int rank = 0; rank < size_; ++rank) last = std::max(last, wait_for_log(rank, idle));
      end.settle(last + 1);
    }
    while (!end.first()) idle();
    return *end.first();
  }

  /// What one rank has found out, and all are to act on: from a later step on, the same on all
  /// ranks, is_retired(). Steps count alike on all of them, and nobody is kCells steps ahead of
  /// another; so a stretch of at least as many lies between the question and the answer.
  void ask_to_retire() {
    std::uint64_t nobody = 0;
    team_->retiring.compare_exchange_strong(nobody, next_ / kStretch + 1);
  }
  /// Between two calls.
  bool is_retired() const {
    const std::uint64_t asked = team_->retiring.load(std::memory_order_acquire);
    return asked != 0 && next_ / kStretch > asked;
  }

  /// The next `steps` steps; the first of them.
  Step take(Step steps) {
    const Step first = next_;
    next_ += steps;
    return first;
  }

  /// Waits until this rank may write its cell of `step`, and arrive at its gate. The cell's
  /// payload.
  [[gnu::always_inline]] std::byte* claim(Step step) {
    if (step >= Memory::kCells) await_positions(step - Memory::kCells + 1);
    return my_cell(step).payload;
  }

  void claim_slot(const SlotUse& use) { await_positions(use.free_at); }

  /// What the rank has written into the claimed cell and slot is to be seen.
  void publish(Step step) {
    LinePair<Memory>& cell = my_cell(step);
    cell.calls.store(calls_, std::memory_order_relaxed);
    advance<Memory>(cell.value, step + 1, sleepers(rank_, step), policy_.mode);
  }
  /// Throws CallsDiffer.
  void await(int rank, Step step) {
    wait_until<Memory>(cell(rank, step).value, step + 1, sleepers(rank, step), policy_);
    compare(rank, step);
  }

  /// In a joint step every rank publishes, be it nothing. Nobody sleeps on the cell then. Throws
  /// CallsDiffer, and opens no gate: ranks whose calls differ may meet at one by other protocols,
  /// where those who pass it look at what the last to come should have made.
  [[gnu::always_inline]] void publish_jointly(Step step) {
    if (!arrive(step)) return;
    compare_all(step);
    open(step);
  }
  /// The halves of publish_jointly. True on one rank, and in WaitMode::sleep only: it is the last,
  /// sees what all have published, and the others wait until it has opened the gate.
  [[gnu::always_inline]] bool arrive(Step step) {
    LinePair<Memory>& cell = my_cell(step);
    cell.calls.store(calls_, std::memory_order_relaxed);
    cell.value.store(step + 1, std::memory_order_release);
    if (policy_.mode != WaitMode::sleep) return false;
    auto& arrivals = gate(step).arrivals.value;
    const auto arrived = arrivals.fetch_add(1, std::memory_order_acq_rel) + 1;
    return arrived % static_cast<std::uint64_t>(size_) == 0;
  }
  void open(Step step) {
    advance<Memory>(gate(step).opened.value, step + 1, gate(step).sleepers.value, policy_.mode);
  }
  void await_joint(int rank, Step step) {
    if (policy_.mode != WaitMode::sleep) return await(rank, step);
    await_gate(step);
    compare(rank, step);
  }
  /// After a step has been waited for: whether its rank has made the same calls. Throws CallsDiffer
  /// if not. Some kernels wait for a step that they have finished, whose cell may be of a later
  /// call by then: so the logs decide.
  void compare(int rank, Step step) {
    if (cell(rank, step).calls.load(std::memory_order_relaxed) != calls_) [[unlikely]]
      compare_logs(rank);
  }
  /// By who is the last to arrive, before it takes the others' data.
  void compare_all(Step step) {
    for (int rank = 0; rank < size_; ++rank) compare(rank, step);
  }
  /// In a wait that lasts, at any time: whoever has found a difference has left, and ranks that
  /// wait for each other read nothing by which they would find it. `call`: where its number is, if
  /// calls are numbered. Throws CallsDiffer, RankAbsent or CallsEnded.
  void look_for_difference(const std::uint64_t* call) {
    for (int rank = 0; rank < size_; ++rank) compare_logs(rank);
    if (call == nullptr) return;
    if (const auto absent = absence(*call)) throw *absent;
    if (team_->calls_end.is_near()) throw CallsEnded(true);
  }
  /// Of this rank.
  Absences& absences() { return mine_->absences; }
  /// Whether another rank has refused the same calls as this one.
  bool refuses_alike(int rank) const {
    return ranks_[rank].absences.equals(ranks_[rank_].absences);
  }
  /// Who takes no part in that call of the communicator, if anybody.
  std::optional<RankAbsent> absence(std::uint64_t call) const {
    for (int rank = 0; rank < size_; ++rank)
      if (rank != rank_ && ranks_[rank].absences.has_refused(call)) return RankAbsent(rank, true);
    for (int rank = 0; rank < size_; ++rank)
      if (rank != rank_ && ranks_[rank].absences.leaves(call)) return RankAbsent(rank, false);
    return std::nullopt;
  }
  /// For all ranks; who has published this step must have finished those before it.
  void await_all(Step step) {
    const bool by_gate = policy_.mode == WaitMode::sleep;
    if (by_gate) await_gate(step);
    for (int rank = 0; rank < size_; ++rank)
      if (rank != rank_) by_gate ? compare(rank, step) : await(rank, step);
    all_are_at(step);
  }
  /// The same where nobody's data is wanted: whoever passes a gate looks at no other line.
  void meet_all(Step step) {
    if (policy_.mode != WaitMode::sleep) return await_all(step);
    await_gate(step);
    all_are_at(step);
  }
  /// Everybody's position is this or beyond, as the caller has seen in another way.
  void all_are_at(Step position) { floor_ = std::max(floor_, position); }

  /// This rank neither writes nor reads anything more of the steps up to `step`.
  [[gnu::always_inline]] void finish(Step step) {
    advance<Memory>(mine_->position.value, step + 1, mine_->sleepers.position, policy_.mode);
  }

  // Through the relay of `owner`, whose other side is another rank. A piece, write() or read(), is
  // there at a time.
  template <class Write>
  void give(int owner, Write write) {
    Relay<Memory>& relay = ranks_[owner].relay;
    write();
    const Step given = relay.given.value.load(std::memory_order_relaxed) + 1;
    advance<Memory>(relay.given.value, given, relay.sleepers.given, policy_.mode);
    wait_until<Memory>(relay.taken.value, given, relay.sleepers.taken, policy_);
  }
  template <class Read>
  void receive(int owner, Read read) {
    Relay<Memory>& relay = ranks_[owner].relay;
    const Step taken = relay.taken.value.load(std::memory_order_relaxed) + 1;
    wait_until<Memory>(relay.given.value, taken, relay.sleepers.given, policy_);
    read();
    advance<Memory>(relay.taken.value, taken, relay.sleepers.taken, policy_.mode);
  }

  std::byte* payload(int rank, Step step) { return cell(rank, step).payload; }

  /// This rank never comes back. True for the last one: the memory is free.
  bool leave() {
    const auto before = team_->departures.value.fetch_add(1, std::memory_order_acq_rel);
    return before + 1 == static_cast<std::uint64_t>(size_);
  }

 private:
  static RankFlags<Memory>* flags_of(std::byte* memory, int rank) {
    return reinterpret_cast<RankFlags<Memory>*>(memory + sizeof(TeamFlags<Memory>)) + rank;
  }
  LinePair<Memory>& cell(int rank, Step step) { return ranks_[rank].cells[step % Memory::kCells]; }
  LinePair<Memory>& my_cell(Step step) { return mine_->cells[step % Memory::kCells]; }
  typename Memory::Word& sleepers(int rank, Step step) {
    return ranks_[rank].sleepers.cells[step % Memory::kCells];
  }
  Gate<Memory>& gate(Step step) { return team_->gates[step % Memory::kCells]; }

  void await_gate(Step step) {
    wait_until<Memory>(gate(step).opened.value, step + 1, gate(step).sleepers.value, policy_);
  }
  template <class Idle>
  std::uint64_t wait_for_log(int rank, const Idle& idle) {
    for (;; idle())
      if (const auto last = ranks_[rank].log.settled()) return *last;
  }
  [[gnu::noinline, gnu::cold]] void compare_logs(int rank) {
    const auto difference = first_difference(rank, ranks_[rank].log, mine_->log);
    if (!difference) return;
    // Another rank has told of it.
    if (difference->earlier && team_->calls_end.is_near()) throw CallsEnded(true);
    throw *difference;
  }

  void await_positions(Step wanted) {
    if (floor_ < wanted) look_at_positions(wanted);
  }
  [[gnu::noinline]] void look_at_positions(Step wanted) {
    Step lowest = ~Step{0};
    for (int rank = 0; rank < size_; ++rank) {
      if (rank == rank_) continue;
      RankFlags<Memory>& other = ranks_[rank];
      lowest = std::min(lowest, wait_until<Memory>(other.position.value, wanted,
                                                   other.sleepers.position, policy_));
    }
    floor_ = lowest;
  }

  static constexpr Step kStretch = 64;  // of steps
  static_assert(kStretch >= Memory::kCells);

  TeamFlags<Memory>* team_;
  RankFlags<Memory>* ranks_;
  RankFlags<Memory>* mine_;  // of this rank, among them
  int rank_, size_;
  WaitPolicy policy_;
  Step next_ = 0;
  std::uint64_t calls_ = 0;  // all since the beginning, mixed
  Step floor_ = 0;           // everybody else's position is here or beyond
};

}  // namespace unisono::node
