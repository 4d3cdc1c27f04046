// Online selection in a job: its settings, what its communicators share, and what is said at the
// end.
#pragma once
#include <mpi.h>

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "comm/placement.h"
#include "runtime/mode.h"
#include "select/online/learned.h"
#include "select/online/policy.h"
#include "select/online/settings.h"
#include "select/online/verdict.h"
#include "select/platform.h"
#include "select/selector.h"
#include "wait/waiter.h"

namespace unisono {

struct OnlineJob {
  OnlineSettings settings;
  bool checks = false;          // native against one other way, in nodes and between hosts
  bool keeps_verdicts = false;  // of that
  bool leads_safely = false;    // between hosts
  Platform here;
  WaitMode wait = WaitMode::yield;
  bool explains = false;
  std::atomic<Nanoseconds> began{0}, lost{0};  // of this rank
  std::mutex mutex;                            // guards what follows
  Ledger ledger;
  std::map<std::tuple<Collective, int, int>, Verdict> verdicts;  // size class, ranks
};

OnlineJob& online_job();

/// What this rank's kinds have lost (JobAccount), for summaries that are combined by maxima.
void add_account(std::vector<Nanoseconds>& summary);
inline constexpr std::size_t kAccountWords = 2;
JobAccount account_from(std::span<const Nanoseconds> words);
/// `lost`: seconds more than when it was last noted.
void note_account(double lost);

/// What this rank has seen on other communicators of as many ranks; and what all of them have seen
/// alike.
void add_verdict(std::vector<Nanoseconds>& summary, const Facts& facts);
inline constexpr std::size_t kVerdictWords = 6;
std::optional<Verdict> verdict_from(std::span<const Nanoseconds> words);
void note_verdict(const Facts& facts, const Verdict& verdict);

/// Whether verdicts of earlier jobs hold here: nothing is set that changes what runs. The same on
/// all ranks.
bool keeps_verdicts();

/// Reads UNISONO_ONLINE; the error is one line. Before any choose().
/// `explains`: choices say why. Nothing is learned where the mode is fixed.
Result<OnlineSettings> start_online(const Platform& here, WaitMode wait, bool explains, Mode mode);
/// What leads between these nodes. `machine`: what messages cost, in a simulation.
void use_network(const NodeFacts& facts, const Machine& machine, Mode mode);
/// In which calls there is something to learn.
LeftOnline left_online();
/// After the last record(): a line for each kind of call, where this rank took part.
std::vector<std::string> online_report();
/// What UNISONO_ONLINE_SAVE asks for; the error is one line.
std::optional<std::string> save_online();
}  // namespace unisono
