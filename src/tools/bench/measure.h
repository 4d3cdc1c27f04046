// The measurement loop: all arms of a cell, interleaved in one run.
//
// A block runs every arm once, in an order drawn anew for each block (alike on all ranks); a run of
// an arm is a batch of calls. Whatever the machine does meanwhile hits all arms alike, and the
// ratio of two arms within a block is hardly moved by it.
//
// The time of a call:
// - collectives that synchronise (barrier, allgather, alltoall, allreduce, reduce_scatter and their
//   forms): the batch is called back to back after a barrier; (last exit - first entry) / calls.
// - the others (bcast, gather, scatter, reduce, scan, exscan and their forms) would overlap with
//   their successors, and a batch would show the throughput of a pipeline: a barrier before every
//   call, only the calls are timed, as OSU's benchmarks do.
// Other patterns than "barrier" (call_pattern.h) change that:
// - loop: every collective is called back to back, with a new root each time. That is what a
//   program sees that does nothing else, throughput included.
// - sleep, compute: a barrier before every call, then each rank's pause. Ranks come late by
// different
//   times, and would count their waiting for the last one: timed is from the last rank's entry to
//   the last rank's exit. Ranks of one node share a clock; on several nodes all count from the
//   barrier.
// Before each of them, where asked for, every rank sends so much that traffic shapers have no
// credit left. In a race (race.h) arms that are out of the question leave, and the budget is kept
// whatever happens.
//
// Of a rank's own time the maximum over the ranks is taken (or the mean, as OSU prints it).
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/statistics.h"
#include "tools/bench/call_pattern.h"
#include "tools/bench/cell.h"
#include "tools/bench/sideband.h"

namespace unisono::bench {

/// One way to run a collective.
struct Arm {
  std::string spec;          ///< "native", "default", or what unisono_force() takes
  bool is_library = false;   ///< calls PMPI_X directly
  bool may_pass_on = false;  ///< "default": may choose the MPI library's own
  std::string label() const { return spec; }
};

struct ArmResult {
  std::string arm;
  bool available = false;  ///< false: runs native, so that there is nothing to report
  bool correct = true;     ///< on all ranks, in all iterations
  bool passed_on = false;  ///< "default" handed most calls to the MPI library
  bool left = false;       ///< the race: further blocks would not have been worth it
  int calls_per_batch = 0;
  std::vector<double> samples_us;  ///< per block: time of a call
  MedianEstimate time_us;
  /// time / native's time, paired by block; < 1 is faster. Nothing without a block.
  std::optional<MedianEstimate> ratio;
};

struct CellResult {
  Collective collective = Collective::barrier;
  Count bytes = 0;
  std::optional<std::string> obstacle;  ///< why the cell was not run; then there are no arms
  std::vector<ArmResult> arms;
  double seconds = 0;
  bool correct = true;
};

struct MeasureOptions {
  double budget_seconds = 0.5;
  int max_blocks = 1000;
  int calls = 0;  // in a batch; 0: as many as fill the time
  bool mean_over_ranks = false;
  CallPattern pattern = CallPattern::barrier;
  Count drain = 0;    ///< bytes that every rank sends before what is timed, see Sideband::drain()
  bool race = false;  ///< arms leave as soon as they are out of the question, see race.h
};

class Measurer {
 public:
  using Clock = std::chrono::steady_clock;

  Measurer(Sideband& sideband, MeasureOptions options, std::uint64_t seed)
      : sideband_(sideband), options_(options), seed_(seed), random_(seed) {}

  CellResult measure(const Setting& setting, const std::vector<Arm>& arms);

 private:
  struct Contender;

  void select(const Cell& cell, const Arm& arm) const;
  void start_together();
  bool loops() const { return options_.pattern == CallPattern::loop; }
  bool in_one_go(const Cell& cell) const {
    return loops() || (cell.what.synchronises && !pauses(options_.pattern));
  }
  double batch_seconds(const Cell& cell, std::size_t arms) const;
  double run_batch(Cell& cell, const Mpi& mpi, int calls);
  double run_after_pauses(Cell& cell, const Mpi& mpi, int calls);
  void pause(Cell& cell, int call);
  /// Fills, runs and verifies a batch; the result lies in `contender`.
  void run(Cell& cell, Contender& contender, int calls);
  void warm_up(Cell& cell, std::vector<Contender>& contenders);
  void find_batch(Cell& cell, Contender& contender, double first_call, double batch_seconds);
  /// Agrees on a block and records it; whether it was right.
  bool record(std::vector<Contender>& contenders, const std::vector<std::size_t>& order);
  bool over(int blocks) const;
  /// Lets arms leave; whether the cell is settled.
  bool race(std::vector<Contender>& contenders, std::vector<std::size_t>& order);
  void check(const Cell& cell, Contender& contender);

  Sideband& sideband_;
  MeasureOptions options_;
  std::uint64_t seed_;
  std::mt19937_64 random_;
  std::uint64_t iteration_ = 0;  // never repeats: every batch has its own values

  // Of the cell:
  Count bytes_ = 0;
  bool one_clock_ = false;   // that all ranks read
  std::uint64_t round_ = 0;  // of all arms: warming up, then block by block
  Clock::time_point begin_;
  double elapsed_ = 0;  // seconds since then, as agreed on
  double block_ = 0;    // seconds that the last block took
};

}  // namespace unisono::bench
