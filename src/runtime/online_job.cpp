#include "runtime/online_job.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <utility>

#include "base/config.h"
#include "base/printable.h"
#include "files/file.h"
#include "mpi/simulated.h"
#include "runtime/call_time.h"
#include "runtime/memory.h"
#include "select/online/key.h"
#include "select/profile.h"

namespace unisono {

namespace {

constexpr double kFastNetwork = 3e-6;  // seconds of a short message

constexpr double kPerSecond = 1e9;

Nanoseconds nanoseconds(double seconds) {
  return static_cast<Nanoseconds>(std::llround(seconds * kPerSecond));
}

double seconds(Nanoseconds time) { return static_cast<double>(time) / kPerSecond; }

auto kind_of(const Facts& facts) {
  return std::tuple(facts.collective, size_class(facts.bytes), facts.size);
}

}  // namespace

// Never destroyed: a program may finalize MPI in its own exit handlers, after ours.
OnlineJob& online_job() {
  static OnlineJob& only = *new OnlineJob;
  return only;
}

// The least time by the greatest negative one.
void add_account(std::vector<Nanoseconds>& summary) {
  const OnlineJob& job = online_job();
  summary.insert(summary.end(), {job.lost, job.began - call_time()});
}

JobAccount account_from(std::span<const Nanoseconds> words) {
  return {seconds(words[0]), seconds(-words[1])};
}

void note_account(double lost) { online_job().lost += nanoseconds(lost); }

// Who won, as a number from 1 and as its negative: maxima tell whether all have said the same.
void add_verdict(std::vector<Nanoseconds>& summary, const Facts& facts) {
  OnlineJob& job = online_job();
  const std::lock_guard lock(job.mutex);
  const auto known = job.verdicts.find(kind_of(facts));
  if (known == job.verdicts.end()) {
    summary.resize(summary.size() + kVerdictWords);
    return;
  }
  const auto& [winner, times] = known->second;
  summary.insert(summary.end(), {winner + 1, -(winner + 1)});
  for (const WayTimes& way : times)
    summary.insert(summary.end(), {nanoseconds(way.in_calls), nanoseconds(way.all)});
}

std::optional<Verdict> verdict_from(std::span<const Nanoseconds> words) {
  if (words[0] == 0 || words[0] != -words[1]) return std::nullopt;
  return Verdict{
      static_cast<int>(words[0]) - 1,
      {{{seconds(words[2]), seconds(words[3])}, {seconds(words[4]), seconds(words[5])}}}};
}

void note_verdict(const Facts& facts, const Verdict& verdict) {
  OnlineJob& job = online_job();
  const std::lock_guard lock(job.mutex);
  job.verdicts.insert_or_assign(kind_of(facts), verdict);
}

// Not UNISONO_WAIT, which is a rank's own affair.
bool keeps_verdicts() {
  const auto settings = parse_online(variable("UNISONO_ONLINE"));
  constexpr std::array kWays{"UNISONO_SHM", "UNISONO_SHM_RING", "UNISONO_SHM_STORE",
                             "UNISONO_SINGLE_COPY"};
  return settings && is_auto(*settings) && !kSimulated &&
         std::all_of(kWays.begin(), kWays.end(),
                     [](const char* name) { return is_standard(name); });
}

Result<OnlineSettings> start_online(const Platform& here, WaitMode wait, bool explains, Mode mode) {
  online_job().here = here;
  online_job().began = call_time();
  online_job().keeps_verdicts = keeps_verdicts();
  online_job().explains = explains;
  online_job().wait = wait;
  auto settings = parse_online(variable("UNISONO_ONLINE"));
  if (settings && mode != Mode::fixed) online_job().settings = *settings;
  return settings;
}

void use_network(const NodeFacts& facts, const Machine& machine, Mode mode) {
  OnlineJob& job = online_job();
  // A simulated network has no device that says so.
  const auto& between = machine.levels[kBetweenNodes];
  const bool bypasses_kernel = kSimulated && between && between->one_way(0) <= kFastNetwork;
  job.checks = is_of_two_ways(job.settings) && mode != Mode::fixed && !kSimulated;
  // A simulation compares with the MPI library's own, unless it is asked for ours.
  const bool leads = !kSimulated || std::getenv("UNISONO_ONLINE") != nullptr;
  job.leads_safely = leads && facts.has_network() && !bypasses_kernel && !is_star(job.settings);
}

LeftOnline left_online() {
  const OnlineJob& job = online_job();
  return left_online_by(job.settings, job.checks);
}

std::vector<std::string> online_report() {
  std::vector<std::string> lines;
  const double since_init = seconds(call_time() - online_job().began);
  for (const Learned& learned : online_job().ledger.all())
    lines.push_back("online: " + line_of(learned, since_init));
  return lines;
}

std::optional<std::string> save_online() {
  const std::string path = variable("UNISONO_ONLINE_SAVE");
  if (path.empty() || !left_online().any()) return std::nullopt;
  const std::string subject = "UNISONO_ONLINE_SAVE=" + path;
  const auto& all = online_job().ledger.all();
  if (std::none_of(all.begin(), all.end(), [](const Learned& one) { return one.decided; }))
    return line_about(subject, "nothing was learned: too few calls, or too short ones",
                      "no file was written");
  char created[32];
  const std::time_t time = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&time, &utc);
  std::strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", &utc);
  const auto error =
      write_file(path, profile_text(online_job().ledger, online_job().here, created), kProfileMark);
  if (!error) return std::nullopt;
  return line_about(subject, *error, "what was learned is not saved");
}

}  // namespace unisono
