#include "tools/bench/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <stdexcept>

#include "unisono/unisono.h"

namespace unisono::bench {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
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
constexpr int kBlocksWanted = 40;
constexpr int kFewestBlocks = 6;  // the fewest whose range is a 95 % interval of the median
constexpr int kMostCalls = 4096;
constexpr double kPatience = 5;  // times the budget, after which even fewer blocks must do

}  // namespace

struct Measurer::Contender {
  const Arm* arm;
  ArmResult result;
  int calls = 1;
  double seconds = 0;           // this rank's time of a call in the last batch
  bool not_by_unisono = false;  // in the last batch, on this rank
  bool wrong = false;           // in any batch, on this rank
};

void Measurer::select(const Cell& cell, const Arm& arm) const {
  if (arm.is_library) return;
  if (unisono_force(name(cell.what.collective).data(), arm.spec.c_str()) != 0)
    throw std::runtime_error(unisono_error());
}

double Measurer::run_batch(const Cell& cell, const Mpi& mpi, int calls) {
  if (cell.what.synchronises) {
    sideband_.barrier();
    const auto begin = Clock::now();
    for (int i = 0; i < calls; ++i) cell.run(mpi);
    return seconds_since(begin) / calls;
  }
  Clock::duration sum{};
  for (int i = 0; i < calls; ++i) {
    sideband_.barrier();
    const auto begin = Clock::now();
    cell.run(mpi);
    sum += Clock::now() - begin;
  }
  return std::chrono::duration<double>(sum).count() / calls;
}

// In place, a batch works on its own results, so that its outcome cannot be checked: one more call
// with fresh values follows, outside the timed region.
void Measurer::run(Cell& cell, Contender& contender, int calls) {
  const Mpi& mpi = contender.arm->is_library ? kLibrary : kProgram;
  select(cell, *contender.arm);
  cell.prepare(++iteration_);
  const auto own_before = calls_run_by_unisono();
  const auto passed_on_before = calls_passed_on();
  contender.seconds = run_batch(cell, mpi, calls);
  contender.not_by_unisono = !contender.arm->is_library && (calls_passed_on() != passed_on_before ||
                                                            calls_run_by_unisono() == own_before);
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
  const double batch_seconds =
      std::clamp(options_.budget_seconds / kBlocksWanted / static_cast<double>(contenders.size()),
                 kShortestBatch, kLongestBatch);
  const auto calls_for = [&](double seconds) {
    const double calls = std::ceil(batch_seconds / std::max(seconds, 1e-9));
    return static_cast<int>(std::min<double>(calls, kMostCalls));
  };
  for (Contender& contender : contenders) {
    run(cell, contender, 1);
    double facts[] = {contender.not_by_unisono ? 1.0 : 0.0, 0};
    sideband_.agree(facts);
    contender.result.passed_on = facts[0] != 0;
    contender.result.available = facts[0] == 0 || contender.arm->may_pass_on;
    if (!contender.result.available) continue;
    for (int calls = 2, round = 0; round < 2; ++round) {
      run(cell, contender, calls);
      double seconds[] = {contender.seconds};
      sideband_.agree(seconds);
      contender.calls = calls_for(seconds[0]);
      if (contender.calls <= calls) break;
      calls = std::min(contender.calls, 64);
    }
    contender.result.calls_per_batch = contender.calls;
  }
}

CellResult Measurer::measure(const Setting& setting, const std::vector<Arm>& arms) {
  const auto begin = Clock::now();
  Cell cell(setting);
  bytes_ = setting.bytes;
  std::vector<Contender> contenders;
  contenders.reserve(arms.size());
  for (const Arm& arm : arms) contenders.push_back({&arm, {}});
  for (Contender& contender : contenders) contender.result.arm = contender.arm->label();
  warm_up(cell, contenders);

  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < contenders.size(); ++i)
    if (contenders[i].result.available) order.push_back(i);

  // What is agreed on after a block: of every arm its time, whether it ran elsewhere, and whether
  // it was wrong; then how long the cell has taken.
  const std::size_t n = contenders.size();
  bool wrong = false;
  double elapsed = 0;
  for (int blocks = 0; !order.empty(); ++blocks) {
    std::shuffle(order.begin(), order.end(), random_);
    for (const std::size_t i : order) run(cell, contenders[i], contenders[i].calls);

    std::vector<double> maxima(3 * n + 1), sums(n);
    for (std::size_t i = 0; i < n; ++i) {
      maxima[i] = sums[i] = contenders[i].seconds;
      maxima[n + i] = contenders[i].not_by_unisono ? 1 : 0;
      maxima[2 * n + i] = contenders[i].wrong ? 1 : 0;
    }
    maxima[3 * n] = seconds_since(begin);
    sideband_.agree(maxima, sums);

    for (const std::size_t i : order) {
      ArmResult& result = contenders[i].result;
      const double seconds = options_.mean_over_ranks ? sums[i] / sideband_.size() : maxima[i];
      result.samples_us.push_back(seconds * 1e6);
      result.correct = maxima[2 * n + i] == 0;
      wrong |= !result.correct;
      if (maxima[n + i] == 0) continue;
      result.passed_on = true;
      result.available = contenders[i].arm->may_pass_on;
    }
    std::erase_if(order, [&](std::size_t i) { return !contenders[i].result.available; });
    elapsed = maxima[3 * n];
    if (wrong || blocks + 1 >= options_.max_blocks) break;
    if (elapsed >= options_.budget_seconds && blocks + 1 >= kFewestBlocks) break;
    if (elapsed >= options_.budget_seconds * kPatience) break;
  }

  CellResult result{setting.collective, setting.bytes, std::nullopt, {}, elapsed, !wrong};
  const auto library = std::find_if(contenders.begin(), contenders.end(),
                                    [](const Contender& c) { return c.arm->is_library; });
  for (Contender& contender : contenders) {
    ArmResult& arm = contender.result;
    if (arm.available) {
      arm.time_us = estimate_median(arm.samples_us);
      if (library != contenders.end() && !contender.arm->is_library)
        arm.ratio = estimate_median(paired_ratios(arm.samples_us, library->result.samples_us));
    }
    result.arms.push_back(arm);
  }
  return result;
}

}  // namespace unisono::bench
