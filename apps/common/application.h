// What the applications share: command line, MPI from beginning to end, the report.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "apps/common/command_line.h"
#include "apps/common/facts.h"
#include "apps/common/loop_timer.h"
#include "apps/common/world.h"

namespace apps {

/// MPI_Init, the command line, `body`, MPI_Finalize. A bad command line and a UsageError end all
/// ranks with one line from rank 0 and status 2; any other exception aborts the job. Status 1 if
/// `body` returns false, which must be the same on all ranks.
int with_mpi(int argc, char** argv, CommandLine& command_line,
             const std::function<bool(const World&)>& body);

/// What came out of a run. Printed as a table, and written as JSON: what is known `of_this_run`,
/// then
///   seconds                  of the whole loop, on the slowest rank
///   seconds_per_iteration    median over the iterations, on the slowest rank
///   seconds_in_collectives, seconds_computing    of an iteration; median of the mean over ranks
///   verified, error          null without --verify; error: largest difference / largest value
///   iteration_seconds        each iteration's, on the slowest rank
///   collective_seconds       each iteration's in collectives, mean over ranks
/// `of_this_run` holds app, form, n, iterations and what else the program was asked for.
class Report {
 public:
  /// Opens the file at once, so that a bad path costs no run. Without a path: no JSON.
  /// Throws UsageError on all ranks if it cannot be written. Collective.
  Report(const World& world, const std::string& json_path);

  /// Collective. Compares the solutions of rank 0, if there is an `expected` one. Returns, on all
  /// ranks, false if they differ, the solution is not finite, or rank 0 has a `complaint`, the line
  /// that says what else is wrong.
  bool finish(const Facts& of_this_run, const LoopTimer& timer, const std::vector<double>& solution,
              const std::vector<double>* expected, const std::string& complaint = "");

 private:
  World world_;
  std::string json_path_;
};

}  // namespace apps
