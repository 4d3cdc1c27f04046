#include "runtime/online.h"

#include <algorithm>
#include <ctime>
#include <mutex>
#include <utility>

#include "base/config.h"
#include "base/file.h"
#include "comm/communicator.h"
#include "exec/messages.h"
#include "runtime/call_time.h"
#include "select/online/arms.h"
#include "select/online/learned.h"

namespace unisono {

namespace {

// Communicators that serve a few calls are not worth a duplicate, which costs tens of calls.
constexpr int kCallsBefore = 16;
// A program that calls with ever new sizes would learn nothing and keep it all.
constexpr std::size_t kMostKinds = 128;

// The time of every rank is shared where an arm wants it, so many at most.
constexpr int kMostPredicted = 128;

struct Job {
  OnlineSettings settings;
  bool reproducible = false;
  Platform here;
  WaitMode wait = WaitMode::yield;
  std::mutex mutex;
  Ledger ledger;
};

// Never destroyed: a program may finalize MPI in its own exit handlers, after ours.
Job& job() {
  static Job& only = *new Job;
  return only;
}

// Not PMPI_Wait: MPICH spins in it, also when ranks share a core.
void wait_for(MPI_Request& request) {
  if (kWaitsInMpi) {
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
    return;
  }
  Waiter waiter(job().wait);
  int done = 0;
  while (PMPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0)
    waiter.nothing_came();
}

}  // namespace

Online& Online::of(Communicator& communicator) {
  std::unique_ptr<Learning>& learning = communicator.learning();
  if (learning == nullptr) learning = std::make_unique<Online>();
  return static_cast<Online&>(*learning);
}

Online::Kind* Online::kind_of(const Communicator& communicator, const Facts& facts, int root,
                              const Choice& by_default) {
  const OnlineKey key = online_key(facts, root);
  if (const auto known = kinds_.find(key); known != kinds_.end()) return known->second.get();
  if (kinds_.size() >= kMostKinds) return nullptr;
  auto& kind = kinds_[key];
  auto arms = online_arms(facts, by_default);
  if (arms.size() < 2 || !is_worth_learning(job().settings, facts)) return nullptr;
  const auto seed = seed_of(key) * 1000003U + static_cast<std::uint64_t>(communicator.size());
  auto policy = make_policy(job().settings, static_cast<int>(arms.size()), seed);
  const bool predicts = communicator.size() <= kMostPredicted &&
                        std::any_of(arms.begin(), arms.end(), [](const Spec& arm) {
                          return !arm.is_native() && (arm.algorithm->restrictions & kPredicts) != 0;
                        });
  kind.reset(new Kind{std::move(arms), Learner(std::move(policy)), facts.bytes, predicts, {}});
  return kind.get();
}

std::optional<Choice> Online::choose(Communicator& communicator, const Facts& facts, int root,
                                     const Choice& by_default, CallScope& scope) {
  if (off_) return std::nullopt;
  Kind* kind = kind_of(communicator, facts, root, by_default);
  if (kind == nullptr) return std::nullopt;
  // What is promised is relative to native; what the table of defaults says is an arm like others.
  if (calls_ < kCallsBefore && ++calls_ < kCallsBefore) return Choice{nullptr, {}, "online"};
  if (own_ == MPI_COMM_NULL || kind->learner.needs_summaries()) {
    const std::int64_t begin = call_time();
    own_ = communicator.own();
    rank_ = communicator.rank();
    size_ = communicator.size();
    off_ = own_ == MPI_COMM_NULL;
    if (off_) return std::nullopt;
    if (kind->learner.needs_summaries()) {
      wait_for(kind->under_way);
      learn(*kind, size_);
    }
    kind->in_choosing += call_time() - begin;
  }
  const Spec spec = arm_of(*kind, kind->learner.arm());
  current_ = kind;
  scope.tell(*this);
  waited_ = call_time() - scope.begin_ns();
  return Choice{spec.algorithm, spec.params, "online"};
}

// After the summary come what choosing has taken, and the times of the ranks.
void Online::learn(Kind& kind, int ranks) {
  const std::span<const Nanoseconds> shared = kind.shared;
  const std::size_t times = kind.predicts ? static_cast<std::size_t>(ranks) : 0;
  if (kind.predicts) kind.lateness.learn(shared.last(times));
  const std::span<const Nanoseconds> all = shared.first(shared.size() - times);
  kind.learner.learn(all.first(all.size() - 1), ranks, all.back());
}

Spec Online::arm_of(const Kind& kind, int arm) {
  Spec spec = kind.arms[static_cast<std::size_t>(arm)];
  if (!spec.is_native() && (spec.algorithm->restrictions & kPredicts) != 0)
    spec.params.late = kind.lateness.predicted();
  return spec;
}

// No memory is the end here: the other ranks will wait for this one's times.
void Online::took(std::int64_t elapsed_ns) noexcept {
  Kind& kind = *current_;
  const Nanoseconds elapsed = elapsed_ns - waited_;
  kind.in_calls += elapsed;
  ++kind.calls;
  auto summary = kind.learner.note(elapsed);
  if (!summary) return;
  kind.summary = std::move(*summary);
  kind.summary.push_back(std::exchange(kind.in_choosing, 0));
  if (kind.predicts) {
    // Zeros of the others: sum and maximum are this rank's time.
    const std::size_t first = kind.summary.size();
    kind.summary.resize(first + static_cast<std::size_t>(size_));
    kind.summary[first + static_cast<std::size_t>(rank_)] = kind.in_calls / kind.calls;
    kind.in_calls = kind.calls = 0;
  }
  kind.shared.resize(kind.summary.size());
  const MPI_Op op = kind.learner.policy().combine() == Combine::sum ? MPI_SUM : MPI_MAX;
  PMPI_Iallreduce(kind.summary.data(), kind.shared.data(), static_cast<int>(kind.summary.size()),
                  MPI_INT64_T, op, own_, &kind.under_way);
}

void Online::record(const Communicator& communicator) {
  off_ = true;
  for (const auto& [key, kind] : kinds_) {
    if (kind == nullptr) continue;
    const Policy& policy = kind->learner.policy();
    Learned learned{.key = key,
                    .ranks = communicator.size(),
                    .nodes = communicator.nodes(),
                    .bytes = kind->bytes,
                    .account = kind->learner.account(),
                    .choice = arm_of(*kind, policy.leader())};
    for (std::size_t arm = 0; arm < kind->arms.size(); ++arm)
      if (const ArmTimes times = policy.times(static_cast<int>(arm)); times.calls > 0)
        learned.arms.push_back({arm_of(*kind, static_cast<int>(arm)), times});
    learned.decided = policy.times(policy.leader()).calls > 1;
    const std::lock_guard lock(job().mutex);
    job().ledger.add(std::move(learned));
  }
}

bool Online::is_over() {
  int over = 1;
  for (const auto& [key, kind] : kinds_)
    if (over != 0 && kind != nullptr) PMPI_Test(&kind->under_way, &over, MPI_STATUS_IGNORE);
  return over != 0;
}

void Online::complete() {
  Waiter waiter(job().wait);
  while (!is_over()) waiter.nothing_came();
}

Result<OnlineSettings> start_online(const Platform& here, WaitMode wait) {
  job().here = here;
  const std::string reproducible = variable("UNISONO_REPRODUCIBLE");
  job().reproducible = !reproducible.empty() && reproducible != "0";
  job().wait = wait;
  auto settings = parse_online(variable("UNISONO_ONLINE"));
  if (settings) job().settings = *settings;
  return settings;
}

CollectiveSet online_collectives() {
  if (std::holds_alternative<std::monostate>(job().settings)) return 0;
  return job().reproducible ? kAmongAll & ~kReducing : kAmongAll;
}

std::vector<std::string> online_report() {
  std::vector<std::string> lines;
  for (const Learned& learned : job().ledger.all()) lines.push_back("online: " + line_of(learned));
  return lines;
}

std::optional<std::string> save_online() {
  const std::string path = variable("UNISONO_ONLINE_SAVE");
  if (path.empty() || online_collectives() == 0) return std::nullopt;
  const std::string subject = "UNISONO_ONLINE_SAVE=" + path + ": ";
  const auto& all = job().ledger.all();
  if (std::none_of(all.begin(), all.end(), [](const Learned& one) { return one.decided; }))
    return subject + "nothing was learned in so few calls; there is no file";
  char created[32];
  const std::time_t time = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&time, &utc);
  std::strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", &utc);
  const auto error = write_file(path, profile_text(job().ledger, job().here, created));
  if (!error) return std::nullopt;
  return subject + *error + "; what was learned is not saved";
}

}  // namespace unisono
