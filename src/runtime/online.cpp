#include "runtime/online.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/rounding.h"
#include "calls/in_node.h"
#include "comm/communicator.h"
#include "mpi/patience.h"
#include "mpi/threads.h"
#include "runtime/call_time.h"
#include "runtime/memory.h"
#include "runtime/online_job.h"
#include "select/online/arms.h"
#include "select/online/check.h"
#include "select/online/settings.h"
#include "select/safe_arms.h"

namespace unisono {

namespace {

Choice on_trial(const Spec& spec, std::string_view why) {
  return {.algorithm = spec.algorithm, .params = spec.params, .why = why, .is_on_trial = true};
}

// Communicators that serve a few calls are not worth a duplicate, which costs tens of calls.
constexpr int kCallsBefore = 16;
// A program that calls with ever new sizes would learn nothing and keep it all.
constexpr std::size_t kMostKinds = 128;

// The time of every rank is shared where an arm wants it, so many at most.
constexpr int kMostPredicted = 128;

// Not PMPI_Wait: MPICH spins in it, also when ranks share a core.
int wait_for(MPI_Request& request, MPI_Comm comm) {
  Waiter waiter(online_job().wait);
  return wait_looking(request, comm, [&](int) { waiter.nothing_came(); });
}

/// Calls within a node, whose judge is a duel.
bool is_duel(const Facts& facts) { return online_job().checks && facts.nodes == 1; }

/// Calls between hosts that have a safe arm, which is checked.
bool is_check(const Facts& facts) { return online_job().checks && facts.nodes > 1; }

/// What is known once of two ways must hold for all calls that the other way serves alike.
OnlineKey key_of(const Facts& facts, int root) {
  OnlineKey key = online_key(facts, root);
  if (is_duel(facts) || is_check(facts)) key.root_is_first = key.commutative = true;
  return key;
}

}  // namespace

Online& Online::of(Communicator& communicator) {
  std::unique_ptr<Learning>& learning = communicator.learning();
  if (learning == nullptr) learning = std::make_unique<Online>();
  return static_cast<Online&>(*learning);
}

Online::Kind* Online::kind_of(Communicator& communicator, const Facts& facts, int root,
                              const Choice& by_default) {
  const OnlineKey key = key_of(facts, root);
  if (const auto known = kinds_.find(key); known != kinds_.end()) return known->second.get();
  if (kinds_.size() >= kMostKinds) return nullptr;
  auto& kind = kinds_[key];
  if (is_worth_learning(online_job().settings, facts))
    kind = make_kind(communicator, facts, by_default);
  return kind.get();
}

std::unique_ptr<Online::Kind> Online::make_check(std::unique_ptr<Policy> policy, const Facts& facts,
                                                 const Spec& other) {
  return std::make_unique<Kind>(
      Kind{{Spec(), other}, Learner(std::move(policy)), facts, false, true});
}

std::unique_ptr<Online::Kind> Online::make_kind(const Communicator& communicator,
                                                const Facts& facts,
                                                const Choice& by_default) const {
  if (is_duel(facts)) return make_duel(facts, by_default);
  if (is_check(facts)) {
    const SafeArm safe = *SafeRule(online_job().here.flavour).arm(facts);
    std::optional<Verdict> known;
    if (online_job().keeps_verdicts)
      if (const auto found = recall_verdicts(facts, safe.spec); !found.empty())
        known = found.front();
    if (auto shuffled = make_policy(online_job().settings, 2))
      return make_check(std::move(shuffled), facts, safe.spec);
    return make_check(std::make_unique<Check>(safe.leads ? 1 : 0, known), facts, safe.spec);
  }
  auto arms = online_arms(facts, by_default);
  if (arms.size() < 2) return nullptr;
  const bool predicts = communicator.size() <= kMostPredicted &&
                        std::any_of(arms.begin(), arms.end(), [](const Spec& arm) {
                          return !arm.is_native() && (arm.algorithm->restrictions & kPredicts) != 0;
                        });
  auto policy = make_policy(online_job().settings, static_cast<int>(arms.size()));
  return std::make_unique<Kind>(
      Kind{std::move(arms), Learner(std::move(policy)), facts, predicts, false});
}

bool Online::takes_own(Communicator& communicator) {
  own_ = communicator.own();
  off_ = own_ == MPI_COMM_NULL;
  return !off_;
}

std::optional<Choice> Online::choose(Communicator& communicator, const Facts& facts, int root,
                                     const Choice& by_default, CallScope& scope) {
  const auto lock = guard();
  if (off_) return std::nullopt;
  // Before a communicator has memory of the node, or a duplicate, for a few calls.
  if ((is_duel(facts) || is_check(facts)) && !communicator.is_worth_it(facts.bytes))
    return Choice{nullptr, {}, "one of the first calls on this communicator"};
  const RoundingToNearest rounding;
  Kind* kind = kind_of(communicator, facts, root, by_default);
  if (kind == nullptr) {
    // Not because of an operation or datatype that no kernel can reduce: the next one may differ.
    const bool for_all = facts.shared || !communicator.may_share();
    if (is_duel(facts) && by_default.algorithm == nullptr && for_all)
      communicator.leave(facts.collective, facts.bytes);
    return std::nullopt;
  }
  if (kind->learner.policy().is_settled()) return settled(communicator, *kind);
  // Not on the fast path, as on other ranks.
  if (kind->to_pass.take()) return passed(*kind);
  if (const int idle = kind->learner.policy().idle();
      !std::exchange(kind->has_begun, true) && idle > 0)
    return pass(communicator, *kind, idle);
  // What the table of defaults says is an arm like others.
  if (!kind->is_check && calls_ < kCallsBefore - 1) {
    ++calls_;
    return Choice{nullptr, {}, "online"};
  }
  rank_ = communicator.rank(), size_ = communicator.size();
  if (kind->learner.needs_summaries()) {
    take_summaries(communicator, *kind);
    if (off_) return std::nullopt;
    if (kind->learner.policy().is_settled()) {
      if (kind->duel != nullptr) {
        hopeless_ += kind->duel->is_hopeless(0) ? 1 : 0;
        tell_others(*kind);
      }
      // What is known so far counts its calls.
      if (KnownKinds* known = communicator.known_kinds()) known->forget(facts.collective);
      return settled(communicator, *kind);
    }
    if (const int idle = kind->learner.policy().idle(); idle > 0)
      return pass(communicator, *kind, idle);
  }
  if (own_ == MPI_COMM_NULL && !kind->is_check && !takes_own(communicator)) return std::nullopt;
  current_ = kind;
  scope.tell(*this);
  waited_ = call_time() - scope.begin_ns();
  return on_trial(arm_of(*kind, kind->learner.arm()), why(*kind));
}

std::optional<Choice> Online::leader_of(Communicator& communicator, const Facts& facts, int root) {
  if (communicator.learning() == nullptr) return std::nullopt;
  const Online& online = of(communicator);
  const auto lock = online.guard();
  const auto known = online.kinds_.find(key_of(facts, root));
  if (known == online.kinds_.end() || known->second == nullptr || known->second->duel != nullptr)
    return std::nullopt;
  const Kind& kind = *known->second;
  const Spec& spec = kind.arms[static_cast<std::size_t>(kind.learner.policy().leader())];
  return Choice{spec.algorithm, spec.params, "online: leads in blocking calls"};
}

void Online::take_summaries(Communicator& communicator, Kind& kind) {
  if (kind.is_check)
    off_ = combine_numbers(communicator, kind.summary, kind.shared, MPI_MAX) != MPI_SUCCESS;
  else
    off_ = wait_for(kind.under_way, own_) != MPI_SUCCESS;
  if (off_) return;  // a rank has died: what the others know nobody knows
  learn(kind, size_);
  kind.why.clear();
}

std::string_view Online::why(Kind& kind) {
  if (!kind.is_check || !online_job().explains) return "online";
  if (kind.why.empty()) kind.why = "online: " + kind.learner.policy().explain();
  return kind.why;
}

// After the summary come what the job has lost and what is known on other communicators, and the
// times of the ranks.
void Online::learn(Kind& kind, int ranks) {
  std::span<const Nanoseconds> shared = kind.shared;
  const auto take = [&shared](std::size_t count) {
    const auto words = shared.last(count);
    shared = shared.first(shared.size() - count);
    return words;
  };
  if (kind.predicts) kind.lateness.learn(take(static_cast<std::size_t>(ranks)));
  if (kind.duel != nullptr)
    if (const auto verdict = verdict_from(take(kVerdictWords))) kind.duel->offer(*verdict);
  if (kind.is_check) kind.learner.hear_of_job(account_from(take(kAccountWords)));
  kind.learner.learn(shared);
  if (!kind.is_check) return;
  const double lost = kind.learner.policy().lost_seconds();
  note_account(lost - kind.lost);
  kind.lost = lost;
}

Spec Online::arm_of(const Kind& kind, int arm) {
  Spec spec = kind.arms[static_cast<std::size_t>(arm)];
  if (!spec.is_native() && (spec.algorithm->restrictions & kPredicts) != 0)
    spec.params.late = kind.lateness.predicted();
  return spec;
}

// No memory is the end here: the other ranks will wait for this one's times.
void Online::took(std::int64_t begin_ns, std::int64_t end_ns) noexcept {
  const auto lock = guard();
  Kind& kind = *current_;
  const Nanoseconds elapsed = end_ns - begin_ns - waited_;
  kind.in_calls += elapsed;
  ++kind.calls;
  auto summary = kind.learner.note(elapsed, end_ns);
  if (!summary) return;
  kind.summary = std::move(*summary);
  if (kind.is_check) add_account(kind.summary);
  if (kind.duel != nullptr) add_verdict(kind.summary, kind.facts);
  if (kind.predicts) {
    // Zeros of the others: the maximum is this rank's time.
    const std::size_t first = kind.summary.size();
    kind.summary.resize(first + static_cast<std::size_t>(size_));
    kind.summary[first + static_cast<std::size_t>(rank_)] = kind.in_calls / kind.calls;
    kind.in_calls = kind.calls = 0;
  }
  kind.shared.resize(kind.summary.size());
  if (kind.is_check) return;
  PMPI_Iallreduce(kind.summary.data(), kind.shared.data(), static_cast<int>(kind.summary.size()),
                  MPI_INT64_T, MPI_MAX, own_, &kind.under_way);
}

void Online::record(const Communicator& communicator) {
  off_ = true;
  for (const auto& [key, kind] : kinds_) {
    if (kind == nullptr || kind->learner.account().calls == 0) continue;
    const Policy& policy = kind->learner.policy();
    Learned learned{.key = key,
                    .ranks = communicator.size(),
                    .nodes = communicator.nodes(),
                    .bytes = kind->facts.bytes,
                    .account = kind->learner.account(),
                    .is_judged = kind->is_check,
                    .choice = arm_of(*kind, policy.leader())};
    for (std::size_t arm = 0; arm < kind->arms.size(); ++arm)
      if (const ArmTimes times = policy.times(static_cast<int>(arm)); times.calls > 0)
        learned.arms.push_back({arm_of(*kind, static_cast<int>(arm)), times});
    learned.decided = policy.times(policy.leader()).calls > 1;
    keep_verdict(*kind);
    const std::lock_guard lock(online_job().mutex);
    online_job().ledger.add(std::move(learned));
  }
}

bool Online::is_over() {
  int over = 1;
  for (const auto& [key, kind] : kinds_)
    if (over != 0 && kind != nullptr) PMPI_Test(&kind->under_way, &over, MPI_STATUS_IGNORE);
  return over != 0;
}

std::unique_lock<std::mutex> Online::guard() const {
  return g_session_threads ? std::unique_lock(mutex_) : std::unique_lock<std::mutex>();
}

void Online::complete_if_idle() {
  if (const std::unique_lock lock(mutex_, std::try_to_lock); lock) complete();
}

void Online::complete() {
  Waiter waiter(online_job().wait);
  while (!is_over()) waiter.nothing_came();
}

}  // namespace unisono
