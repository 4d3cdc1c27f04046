#include "runtime/online.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/rounding.h"
#include "calls/in_node.h"
#include "comm/communicator.h"
#include "mpi/patience.h"
#include "mpi/simulated.h"
#include "mpi/threads.h"
#include "node/wait.h"
#include "runtime/call_time.h"
#include "runtime/memory.h"
#include "runtime/online_job.h"
#include "select/online/arms.h"
#include "select/online/offers.h"
#include "select/online/proposals.h"

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

/// Of the last arm: equal for one algorithm with other parameters.
int number_of_family(const std::vector<Spec>& arms) {
  const std::string family = family_of(arms.back());
  const auto first = std::find_if(arms.begin() + 1, arms.end(),
                                  [&](const Spec& arm) { return family_of(arm) == family; });
  return static_cast<int>(first - arms.begin());
}

// Not PMPI_Wait: MPICH spins in it, also when ranks share a core.
int wait_for(MPI_Request& request, MPI_Comm comm) {
  Waiter waiter(online_job().wait);
  return wait_looking(request, comm, [&](int) { waiter.nothing_came(); });
}

/// Whatever a file says: messages with a price, and nothing that this call forbids.
bool can_be_remembered(const Spec& spec, const Facts& facts) {
  return spec.is_native() || ((spec.algorithm->restrictions & kOneNode) == 0 &&
                              !unmet_restriction(*spec.algorithm, conditions(facts), spec.params));
}

/// Calls within a node: the model knows nothing better than to try.
bool is_duel(const Facts& facts) { return online_job().judges_nodes && facts.nodes == 1; }

/// No arm of ours takes less: between nodes goes one message at least.
double least_time() {
  const auto& between = online_job().machine.levels[kBetweenNodes];
  return between ? between->one_way(0) : 0;
}

/// A remembered arm is the first: number_of_family() of it is 1.
Recollection recollection_of(const Remembered& known) {
  return {known.choice.is_native(), known.seconds, known.native, {known.predicted, 1}};
}

}  // namespace

Online& Online::of(Communicator& communicator) {
  std::unique_ptr<Learning>& learning = communicator.learning();
  if (learning == nullptr) learning = std::make_unique<Online>();
  return static_cast<Online&>(*learning);
}

Online::Kind* Online::kind_of(Communicator& communicator, const Facts& facts, int root,
                              const Choice& by_default) {
  OnlineKey key = online_key(facts, root);
  // What is known once must hold for all calls that a node's kernels serve alike.
  if (is_duel(facts)) key.root_is_first = key.commutative = true;
  if (const auto known = kinds_.find(key); known != kinds_.end()) return known->second.get();
  if (kinds_.size() >= kMostKinds) return nullptr;
  auto& kind = kinds_[key];
  if (!is_worth_learning(is_duel(facts) ? ModelSettings() : online_job().settings, facts))
    return nullptr;
  kind = make_kind(communicator, key, facts, root, by_default);
  return kind.get();
}

const Remembered* Online::recalled(const Communicator& communicator, const OnlineKey& key,
                                   const Facts& facts) const {
  // What suits neighbours depends on who they are.
  if (doubts_ > 0 || facts.graph != nullptr) return nullptr;
  const Remembered* known = recall(key, communicator.size(), communicator.nodes());
  return known != nullptr && can_be_remembered(known->choice, facts) ? known : nullptr;
}

std::unique_ptr<Online::Kind> Online::make_kind(Communicator& communicator, const OnlineKey& key,
                                                const Facts& asked, int root,
                                                const Choice& by_default) {
  Facts facts = asked;
  if (is_duel(facts)) return make_duel(facts, by_default);
  facts.topology = communicator.priced_topology();
  if (const auto* settings = std::get_if<ModelSettings>(&online_job().settings)) {
    auto policy = std::make_unique<ModelFirst>(
        *settings, first_calls(facts),
        [this, key](double spent, double call) {
          // What is no part of the simulated time takes as long as it takes.
          constexpr double kAsLongAsItTakes = 1e6;
          return ask_model(*kinds_.at(key),
                           kSimulated ? kAsLongAsItTakes : pricing_time(spent, call));
        },
        least_time());
    ModelFirst* model = policy.get();
    const Remembered* known = recalled(communicator, key, facts);
    if (known != nullptr)
      model->recall(recollection_of(*known));
    else if (settings->is_auto)
      model->begin_after(calls_before_timing(facts));
    auto kind = std::make_unique<Kind>(
        Kind{std::vector<Spec>(1), Learner(std::move(policy)), facts.bytes, false, {}});
    kind->facts = facts;
    kind->root = root;
    kind->model = model;
    kind->is_recalled = known != nullptr;
    if (known != nullptr && !known->choice.is_native()) {
      kind->arms.push_back(known->choice);
      kind->said.push_back(known->predicted);
      kind->corrected.push_back(true);  // by the job that learned it
    }
    return kind;
  }
  auto arms = online_arms(facts, by_default);
  if (arms.size() < 2) return nullptr;
  const auto seed = seed_of(key) * 1000003U + static_cast<std::uint64_t>(communicator.size());
  auto policy = make_policy(online_job().settings, static_cast<int>(arms.size()), seed);
  const bool predicts = communicator.size() <= kMostPredicted &&
                        std::any_of(arms.begin(), arms.end(), [](const Spec& arm) {
                          return !arm.is_native() && (arm.algorithm->restrictions & kPredicts) != 0;
                        });
  return std::make_unique<Kind>(
      Kind{std::move(arms), Learner(std::move(policy)), facts.bytes, predicts, {}});
}

bool Online::takes_own(Communicator& communicator, Kind& kind) {
  const std::int64_t begin = call_time();
  own_ = communicator.own();
  off_ = own_ == MPI_COMM_NULL;
  kind.in_choosing += call_time() - begin;
  return !off_;
}

std::optional<Choice> Online::choose(Communicator& communicator, const Facts& facts, int root,
                                     const Choice& by_default, CallScope& scope) {
  const auto lock = guard();
  if (off_) return std::nullopt;
  // Before a communicator has memory of the node for a few calls.
  if (is_duel(facts) && !communicator.is_worth_it(facts.bytes))
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
  if (kind->duel != nullptr && kind->duel->is_settled()) return settled(communicator, *kind);
  // Not on the fast path, as on other ranks.
  if (kind->to_pass.take()) return passed(*kind);
  if (const int idle = kind->learner.policy().idle();
      !std::exchange(kind->has_begun, true) && idle > 0)
    return pass(communicator, *kind, idle);
  const bool asks = kind->asks();
  // What is promised is relative to native; what the table of defaults says is an arm like others.
  if (!asks && calls_ < kCallsBefore - 1) {
    ++calls_;
    return Choice{nullptr, {}, "online"};
  }
  handle_ = communicator.handle(), rank_ = communicator.rank(), size_ = communicator.size();
  if (kind->learner.needs_summaries()) {
    measured_memory_ = communicator.groups().measured_memory();
    take_summaries(communicator, *kind);
    if (off_) return std::nullopt;
    if (kind->duel != nullptr && kind->duel->is_settled()) {
      hopeless_ += kind->duel->is_hopeless(0) ? 1 : 0;
      tell_others(*kind);
      // What is known so far counts its calls.
      if (KnownKinds* known = communicator.known_kinds()) known->forget(facts.collective);
      return settled(communicator, *kind);
    }
    if (const int idle = kind->learner.policy().idle(); idle > 0)
      return pass(communicator, *kind, idle);
  }
  const int arm = kind->learner.arm();
  // With a model only for an arm: a kind that stays native needs none.
  const bool needs_own = kind->duel == nullptr && (!asks || arm != 0);
  if (own_ == MPI_COMM_NULL && needs_own && !takes_own(communicator, *kind)) return std::nullopt;
  const Spec spec = arm_of(*kind, arm);
  const Composition* grid = spec.params.composition;
  if (grid != nullptr && has_calls(*grid) && kind->prepared.insert(arm).second) {
    const std::int64_t begin = call_time();
    communicator.has_groups(*grid, facts.collective, root);
    kind->in_choosing += call_time() - begin;
  }
  current_ = kind;
  scope.tell(*this);
  waited_ = call_time() - scope.begin_ns();
  return on_trial(spec, why(*kind, arm));
}

std::optional<Choice> Online::leader_of(Communicator& communicator, const Facts& facts, int root) {
  if (communicator.learning() == nullptr) return std::nullopt;
  const Online& online = of(communicator);
  const auto lock = online.guard();
  const auto known = online.kinds_.find(online_key(facts, root));
  if (known == online.kinds_.end() || known->second == nullptr || known->second->duel != nullptr)
    return std::nullopt;
  const Kind& kind = *known->second;
  const Spec& spec = kind.arms[static_cast<std::size_t>(kind.learner.policy().leader())];
  if (spec.is_native()) return std::nullopt;
  return Choice{spec.algorithm, spec.params, "online: leads in blocking calls"};
}

void Online::take_summaries(Communicator& communicator, Kind& kind) {
  const std::int64_t begin = call_time();
  if (std::exchange(kind.waits, false)) {
    const MPI_Op op = kind.learner.policy().combine() == Combine::sum ? MPI_SUM : MPI_MAX;
    off_ = combine_numbers(communicator, kind.summary, kind.shared, op) != MPI_SUCCESS;
  } else {
    off_ = wait_for(kind.under_way, own_) != MPI_SUCCESS;
  }
  if (off_) return;  // a rank has died: what the others know nobody knows
  learn(kind, size_);
  if (kind.is_recalled && !kind.judged) judge(kind);
  kind.explained = -1;
  // The ranks wait for each other here as they would in the call: with a model, whose epochs begin
  // together, that is no loss.
  if (kind.model != nullptr)
    correct(kind);
  else if (kind.duel == nullptr)
    kind.in_choosing += call_time() - begin;
}

/// Only the ranks of this communicator know what became of its kinds.
void Online::judge(Kind& kind) {
  const auto right = kind.model->recalled_right();
  if (!right) return;
  kind.judged = true;
  doubts_ += *right ? -1 : 1;
  judge_memory(*right);
}

void Online::correct(Kind& kind) const {
  for (std::size_t i = 0; i < kind.said.size(); ++i) {
    const ArmTimes times = kind.model->times(static_cast<int>(i) + 1);
    if (times.calls == 0 || kind.corrected[i]) continue;
    kind.corrected[i] = true;
    online_job().corrections.learn(family_of(kind.arms[i + 1]), kind.said[i], times.seconds.low);
  }
}

Machine Online::machine_for(const Kind& kind) const {
  const OnlineJob& known = online_job();
  Machine machine = known.machine;
  const Topology* topology = kind.facts.topology;
  if (topology == nullptr) return machine;
  const int ranks = topology->at(Level::node)->lengths().front();
  machine.kernels = {node::prior_costs({ranks, known.here.cores, known.wait}), known.here.cores,
                     known.wait};
  if (measured_memory_) machine.kernels->costs = *measured_memory_;
  return machine;
}

// Rank 0 walks through the schedules of all and tells what came of it: as many numbers from any of
// them would cost every node's processors the same.
Answer Online::ask_model(Kind& kind, double seconds) {
  constexpr std::size_t kNumbers = 5;  // of an offer
  if (kind.proposals.empty()) kind.proposals = proposals(kind.facts);
  std::vector<double> numbers;
  if (rank_ == 0) {
    const std::int64_t begin = call_time();
    if (kind.pricing == nullptr)
      kind.pricing = std::make_unique<Pricing>(kind.proposals, kind.facts, kind.root,
                                               machine_for(kind), online_job().corrections);
    for (const Offer& offer : kind.pricing->best(seconds))
      for (const double one : {static_cast<double>(offer.proposal) + 1, offer.said, offer.seconds,
                               offer.risk, static_cast<double>(offer.segment)})
        numbers.push_back(one);
    kind.in_choosing += call_time() - begin;
  }
  numbers.resize(kNumbers * kMostOffered, 0);
  numbers.push_back(kind.pricing != nullptr && kind.pricing->is_complete() ? 1 : 0);
  // Rank 0 needs the core that others may wait on.
  if (tell_patiently(numbers.data(), static_cast<int>(numbers.size() * sizeof(double)),
                     own_ != MPI_COMM_NULL ? own_ : handle_) != MPI_SUCCESS)
    throw node::RankLost();
  Answer answer{.arms = {}, .is_complete = numbers.back() > 0};
  for (std::size_t i = 0; i + kNumbers < numbers.size() && numbers[i] > 0; i += kNumbers) {
    const std::size_t proposal = static_cast<std::size_t>(numbers[i]) - 1;
    if (!kind.offered.insert(proposal).second) continue;
    const Spec& offered = kind.proposals.at(proposal);
    const auto segment = static_cast<Count>(numbers[i + 4]);
    kind.arms.push_back(segment > 0 ? with_segment(offered, segment) : offered);
    kind.said.push_back(numbers[i + 1]);
    answer.arms.push_back({numbers[i + 2], number_of_family(kind.arms), numbers[i + 3]});
  }
  kind.corrected.resize(kind.said.size());
  if (answer.is_complete) {
    kind.pricing.reset();
    kind.proposals = {};
    kind.offered.clear();
  }
  return answer;
}

std::string_view Online::why(Kind& kind, int arm) {
  if ((kind.model == nullptr && kind.duel == nullptr) || !online_job().explains) return "online";
  if (std::exchange(kind.explained, arm) != arm)
    kind.why =
        "online: " + (kind.duel != nullptr ? kind.duel->explain() : kind.model->explain(arm));
  return kind.why;
}

// After the summary come what choosing has taken, what the job has lost and what is known on other
// communicators, and the times of the ranks.
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
  if (kind.asks()) kind.learner.hear_of_job(account_from(take(kAccountWords)));
  const Nanoseconds choosing = take(1).front();
  kind.learner.learn(shared, ranks, choosing);
  if (!kind.asks()) return;
  const Policy& policy = kind.learner.policy();
  const double lost = policy.lost_seconds() - JobBudget::kOfWon * policy.won_seconds();
  note_account(lost - kind.lost, policy.native_seconds());
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
  kind.summary.push_back(std::exchange(kind.in_choosing, 0));
  if (kind.asks()) add_account(kind.summary);
  if (kind.duel != nullptr) add_verdict(kind.summary, kind.facts);
  if (kind.predicts) {
    // Zeros of the others: sum and maximum are this rank's time.
    const std::size_t first = kind.summary.size();
    kind.summary.resize(first + static_cast<std::size_t>(size_));
    kind.summary[first + static_cast<std::size_t>(rank_)] = kind.in_calls / kind.calls;
    kind.in_calls = kind.calls = 0;
  }
  kind.shared.resize(kind.summary.size());
  kind.waits = own_ == MPI_COMM_NULL || kind.duel != nullptr;
  if (kind.waits) return;
  const MPI_Op op = kind.learner.policy().combine() == Combine::sum ? MPI_SUM : MPI_MAX;
  PMPI_Iallreduce(kind.summary.data(), kind.shared.data(), static_cast<int>(kind.summary.size()),
                  MPI_INT64_T, op, own_, &kind.under_way);
}

void Online::record(const Communicator& communicator) {
  off_ = true;
  for (const auto& [key, kind] : kinds_) {
    if (kind == nullptr || kind->learner.account().calls == 0) continue;
    const Policy& policy = kind->learner.policy();
    Learned learned{.key = key,
                    .ranks = communicator.size(),
                    .nodes = communicator.nodes(),
                    .bytes = kind->bytes,
                    .account = kind->learner.account(),
                    .is_judged = kind->duel != nullptr,
                    .choice = arm_of(*kind, policy.leader())};
    for (std::size_t arm = 0; arm < kind->arms.size(); ++arm)
      if (const ArmTimes times = policy.times(static_cast<int>(arm)); times.calls > 0)
        learned.arms.push_back({arm_of(*kind, static_cast<int>(arm)), times,
                                arm > 0 && kind->model != nullptr ? kind->said[arm - 1] : 0});
    learned.decided = policy.times(policy.leader()).calls > 1;
    if (learned.decided) keep(*kind, learned);
    const std::lock_guard lock(online_job().mutex);
    online_job().ledger.add(std::move(learned));
  }
}

/// For jobs to come. What one of them has recalled is as old as before, and will be learned anew.
void Online::keep(const Kind& kind, const Learned& learned) {
  if (kind.facts.graph != nullptr) return;  // as in recalled()
  if (kind.duel != nullptr) return keep_verdict(kind);
  if (kind.model == nullptr || kind.model->is_recalled() || learned.nodes < 2) return;
  const auto arm = static_cast<std::size_t>(kind.model->leader());
  const double native = kind.model->native_seconds();
  if (!(native > 0)) return;
  remember({.key = learned.key,
            .ranks = learned.ranks,
            .nodes = learned.nodes,
            .bytes = learned.bytes,
            .choice = learned.choice,
            .seconds = kind.model->times(kind.model->leader()).seconds.median,
            .native = native,
            .predicted = arm > 0 ? kind.said[arm - 1] : 0});
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
