#include "tools/bench/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <span>
#include <stdexcept>

#include "tools/bench/race.h"
#include "unisono/unisono.h"

namespace unisono::bench {

namespace {

double seconds_since(Measurer::Clock::time_point begin) {
  return std::chrono::duration<double>(Measurer::Clock::now() - begin).count();
}

unsigned long long calls_passed_on() {
  unsigned long long own = 0, native = 0;
  unisono_counts(&own, &native);
  return native;
}

unsigned long long calls_run_by_unisono() {
  unsigned long long own = 0, native = 0;
  unisono_counts(&own, &native);
  return own;
}

constexpr double kShortestBatch = 20e-6;  // seconds; well above the skew of the barrier
constexpr double kLongestBatch = 500e-6;
// What comes before it is shared by all its calls: draining takes as long, and where ranks share
// cores, the last of 16 leaves the barrier half a millisecond after the first.
constexpr double kLongestSharingBatch = 10e-3;
constexpr double kLoop = 20e-3;  // several slices of a core's time, where ranks share cores
constexpr int kBlocksWanted = 40;
constexpr int kFewestBlocks = 6;  // the fewest whose range is a 95 % interval of the median
constexpr int kMostCalls = 4096;
constexpr int kMostAfterPauses = 64;   // the times of all are agreed on after the batch
constexpr int kMostInLoop = 1 << 17;   // 20 ms of calls of 0.15 us
constexpr double kPatience = 5;        // times the budget, after which even fewer blocks must do
constexpr double kLongCall = 20e-3;    // seconds; a batch of one call, unless that was the set-up
constexpr double kVeryLongCall = 0.3;  // no set-up takes so long
constexpr RaceRules kRules;
constexpr std::size_t kFinalists = 2;  // beside native, when time is short

}  // namespace

struct Measurer::Contender {
  const Arm* arm;
  ArmResult result;
  int calls = 1;
  double seconds = 0;           // this rank's time of a call in the last batch
  double with_pauses = 0;       // and of all that lies before one
  bool not_by_unisono = false;  // in the last batch, on this rank
  bool wrong = false;           // in any batch, on this rank
  int blocks = 0;               // that its times are of; none: of its first call
  int blocks_passed_on = 0;     // in which the MPI library ran
};

void Measurer::select(const Cell& cell, const Arm& arm) const {
  if (arm.is_library) return;
  if (unisono_force(name(cell.what.collective).data(), arm.spec.c_str()) != 0)
    throw std::runtime_error(unisono_error());
}

// No rank drains while another is still in the call before.
void Measurer::start_together() {
  if (options_.drain > 0) {
    sideband_.barrier();
    sideband_.drain(options_.drain);
  }
  sideband_.barrier();
}

double Measurer::batch_seconds(const Cell& cell, std::size_t arms) const {
  if (loops()) return kLoop;
  const bool shares = in_one_go(cell) && (options_.drain > 0 || sideband_.wakes_ranks());
  return std::clamp(options_.budget_seconds / kBlocksWanted / static_cast<double>(arms),
                    kShortestBatch,
                    shares || pauses(options_.pattern) ? kLongestSharingBatch : kLongestBatch);
}

void Measurer::pause(Cell& cell, int call) {
  if (options_.pattern == CallPattern::sleep) return sleep_before_call();
  compute_for(computing_time(seed_, round_, call, cell.rank));
  cell.write_input(++iteration_);
}

// The same on all ranks.
double Measurer::run_after_pauses(Cell& cell, const Mpi& mpi, int calls) {
  const auto n = static_cast<std::size_t>(calls);
  std::vector<double> latest(2 * n);  // entries, exits
  for (std::size_t i = 0; i < n; ++i) {
    start_together();
    const auto begin = one_clock_ ? Clock::time_point{} : Clock::now();
    pause(cell, static_cast<int>(i));
    latest[i] = seconds_since(begin);
    cell.run(mpi);
    latest[n + i] = seconds_since(begin);
  }
  sideband_.agree(latest);
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += latest[n + i] - latest[i];
  return sum / calls;
}

double Measurer::run_batch(Cell& cell, const Mpi& mpi, int calls) {
  if (pauses(options_.pattern)) return run_after_pauses(cell, mpi, calls);
  if (in_one_go(cell)) {
    start_together();
    const auto begin = Clock::now();
    cell.run_in_loop(mpi, calls);
    return seconds_since(begin) / calls;
  }
  Clock::duration sum{};
  for (int i = 0; i < calls; ++i) {
    start_together();
    const auto begin = Clock::now();
    cell.run(mpi);
    sum += Clock::now() - begin;
  }
  return std::chrono::duration<double>(sum).count() / calls;
}

// In place, a batch works on its own results, so that its outcome cannot be checked: one more call
// with fresh values follows, outside the timed region.
void Measurer::run(Cell& cell, Contender& contender, int calls) {
  const Mpi& mpi = contender.arm->is_library ? kLibraryFunctions : kProgramFunctions;
  select(cell, *contender.arm);
  cell.prepare(++iteration_);
  const auto own_before = calls_run_by_unisono();
  const auto passed_on_before = calls_passed_on();
  const auto begin = Clock::now();
  contender.seconds = run_batch(cell, mpi, calls);
  contender.with_pauses = seconds_since(begin) / calls;
  const auto passed_on = calls_passed_on() - passed_on_before;
  const auto own = calls_run_by_unisono() - own_before;
  // Within a node "default" is found out in calls of both ways: then the greater part counts.
  const auto bearable = contender.arm->may_pass_on ? own : 0;
  contender.not_by_unisono = !contender.arm->is_library && (own == 0 || passed_on > bearable);
  if (cell.in_place) {
    cell.prepare(++iteration_);
    sideband_.barrier();
    cell.run(mpi);
  }
  check(cell, contender);
}

void Measurer::check(const Cell& cell, Contender& contender) {
  const auto mismatch = cell.verify(iteration_);
  if (!mismatch || contender.wrong) return;
  contender.wrong = true;
  fmt::print(stderr,
             "unisono-bench: WRONG RESULT: {} of {} bytes, arm {}, rank {}, element {} of the "
             "output: expected {}, found {}\n",
             name(cell.what.collective), bytes_, contender.arm->label(), cell.rank, mismatch->index,
             mismatch->expected, mismatch->found);
}

// The first calls make communicators, plans and connections; then the length of a batch is found.
void Measurer::warm_up(Cell& cell, std::vector<Contender>& contenders) {
  double fastest = std::numeric_limits<double>::infinity();
  for (Contender& contender : contenders) {
    if (options_.race && elapsed_ > options_.budget_seconds / 2 && std::isfinite(fastest)) {
      contender.result.left = true;  // no time left even to try it
      continue;
    }
    run(cell, contender, 1);
    double facts[] = {contender.not_by_unisono ? 1.0 : 0.0, contender.seconds,
                      seconds_since(begin_)};
    sideband_.agree(facts);
    elapsed_ = facts[2];
    contender.result.passed_on = facts[0] != 0;
    contender.result.available = facts[0] == 0 || contender.arm->may_pass_on;
    if (!contender.result.available) continue;
    contender.result.calls_per_batch = 1;
    if (options_.race && !contender.arm->is_library &&
        hopeless_at_once(facts[1], fastest, kRules)) {
      contender.result.left = true;
      contender.result.samples_us = {facts[1] * 1e6};
      continue;
    }
    fastest = std::min(fastest, facts[1]);
    find_batch(cell, contender, facts[1], batch_seconds(cell, contenders.size()));
  }
}

void Measurer::find_batch(Cell& cell, Contender& contender, double first_call,
                          double batch_seconds) {
  // One that must be drained before takes far longer than it is timed.
  const int most = options_.drain > 0 && !in_one_go(cell) ? 1
                   : loops()                              ? kMostInLoop
                   : pauses(options_.pattern)             ? kMostAfterPauses
                                                          : kMostCalls;
  const int fewest = loops() ? cell.size : 1;  // every rank is root
  contender.calls = options_.calls > 0 ? options_.calls : fewest;
  if (options_.calls == 0 && first_call < kVeryLongCall) {
    for (int calls = first_call < kLongCall ? 2 : 1, round = 0; round < 2; ++round) {
      run(cell, contender, calls);
      double seconds[] = {pauses(options_.pattern) ? contender.with_pauses : contender.seconds};
      sideband_.agree(seconds);
      const double wanted = std::ceil(batch_seconds / std::max(seconds[0], 1e-9));
      contender.calls = std::max(fewest, static_cast<int>(std::min<double>(wanted, most)));
      if (contender.calls <= calls) break;
      calls = std::min(contender.calls, 64);
    }
  }
  contender.result.calls_per_batch = contender.calls;
}

// What is agreed on after a block: of every arm its time, whether it ran elsewhere, and whether it
// was wrong; then how long the cell has taken.
bool Measurer::record(std::vector<Contender>& contenders, const std::vector<std::size_t>& order) {
  const std::size_t n = contenders.size();
  std::vector<double> maxima(3 * n + 1), sums(n);
  for (std::size_t i = 0; i < n; ++i) {
    maxima[i] = sums[i] = contenders[i].seconds;
    maxima[n + i] = contenders[i].not_by_unisono ? 1 : 0;
    maxima[2 * n + i] = contenders[i].wrong ? 1 : 0;
  }
  maxima[3 * n] = seconds_since(begin_);
  sideband_.agree(maxima, sums);

  bool correct = true;
  for (std::size_t i = 0; i < n; ++i) {  // also those that left when they were tried
    contenders[i].result.correct = maxima[2 * n + i] == 0;
    correct &= contenders[i].result.correct;
  }
  for (const std::size_t i : order) {
    ArmResult& result = contenders[i].result;
    const double seconds = options_.mean_over_ranks ? sums[i] / sideband_.size() : maxima[i];
    result.samples_us.push_back(seconds * 1e6);
    ++contenders[i].blocks;
    contenders[i].blocks_passed_on += maxima[n + i] == 0 ? 0 : 1;
    result.passed_on = 2 * contenders[i].blocks_passed_on > contenders[i].blocks;
    if (contenders[i].blocks_passed_on > 0) result.available = contenders[i].arm->may_pass_on;
  }
  block_ = maxima[3 * n] - elapsed_;
  elapsed_ = maxima[3 * n];
  return correct;
}

bool Measurer::over(int blocks) const {
  const double budget = options_.budget_seconds;
  if (blocks >= options_.max_blocks) return true;
  if (options_.race) return elapsed_ + block_ > budget;
  return elapsed_ >= budget * kPatience || (elapsed_ >= budget && blocks >= kFewestBlocks);
}

// Rank 0 judges for all: mathematical libraries need not give the same bits on all machines.
bool Measurer::race(std::vector<Contender>& contenders, std::vector<std::size_t>& order) {
  const std::size_t n = contenders.size();
  std::vector<Racer> racers(n);
  double before = 0, after = 0;
  const auto arms = static_cast<double>(order.size());
  for (std::size_t i = 0; i < n; ++i) racers[i].runs = false;
  for (const std::size_t i : order) {
    racers[i] = {contenders[i].result.samples_us, true};
    for (double& time : racers[i].times) time *= 1e-6;
    before += racers[i].times.back() * contenders[i].calls;
  }
  std::vector<double> decision(n + 1);
  if (sideband_.rank() == 0) {
    Verdict verdict = judge(racers, 0, kRules);
    const auto blocks = static_cast<int>(racers[0].times.size());
    const double wanted = block_ * (kRules.fewest_blocks - blocks);
    if (verdict.leave.empty() && elapsed_ + wanted > options_.budget_seconds)
      verdict.leave = all_but_fastest(racers, 0, kFinalists);
    for (const std::size_t i : verdict.leave) decision[i] = 1;
    decision[n] = verdict.settled ? 1 : 0;
  }
  sideband_.agree(decision);
  for (std::size_t i = 0; i < n; ++i) contenders[i].result.left |= decision[i] != 0;
  std::erase_if(order, [&](std::size_t i) { return contenders[i].result.left; });
  for (const std::size_t i : order) after += racers[i].times.back() * contenders[i].calls;
  // What is not timed (barriers, draining, checking) takes all arms equally long.
  const double beside = std::max(0.0, block_ - before) / arms;
  block_ = after + beside * static_cast<double>(order.size());
  return decision[n] != 0;
}

CellResult Measurer::measure(const Setting& setting, const std::vector<Arm>& arms) {
  begin_ = Clock::now();
  elapsed_ = 0;
  round_ = 0;
  one_clock_ = setting.one_node;
  Cell cell(setting);
  bytes_ = setting.bytes;
  std::vector<Contender> contenders;
  contenders.reserve(arms.size());
  for (const Arm& arm : arms) contenders.push_back({&arm, {}});
  for (Contender& contender : contenders) contender.result.arm = contender.arm->label();
  warm_up(cell, contenders);

  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < contenders.size(); ++i)
    if (contenders[i].result.available && !contenders[i].result.left) order.push_back(i);

  bool correct = true;
  for (int blocks = 1; !order.empty(); ++blocks) {
    std::shuffle(order.begin(), order.end(), random_);
    ++round_;
    for (const std::size_t i : order) run(cell, contenders[i], contenders[i].calls);
    correct = record(contenders, order);
    std::erase_if(order, [&](std::size_t i) { return !contenders[i].result.available; });
    if (!correct || (options_.race && race(contenders, order)) || over(blocks)) break;
  }

  CellResult result{setting.collective, setting.bytes, std::nullopt, {}, elapsed_, correct};
  const auto library = std::find_if(contenders.begin(), contenders.end(),
                                    [](const Contender& c) { return c.arm->is_library; });
  for (Contender& contender : contenders) {
    ArmResult& arm = contender.result;
    if (arm.available) {
      arm.time_us = estimate_median(arm.samples_us);
      if (library != contenders.end() && !contender.arm->is_library && contender.blocks > 0) {
        const std::span<const double> native = library->result.samples_us;
        arm.ratio =
            estimate_median(paired_ratios(arm.samples_us, native.first(arm.samples_us.size())));
      }
    }
    result.arms.push_back(arm);
  }
  return result;
}

}  // namespace unisono::bench
