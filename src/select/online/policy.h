// How an algorithm is chosen for one kind of call while the program runs. A policy sees numbers
// that all ranks share, and nothing else, so that the policies of all ranks stay the same.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/statistics.h"
#include "select/online/job_budget.h"
#include "select/online/verdict.h"

namespace unisono {

using Nanoseconds = std::int64_t;

struct ArmTimes {
  MedianEstimate seconds;
  MedianEstimate ratio;  ///< to native's time, which is measured as well
  int calls = 0;         ///< that the estimate is of; 0: there is none
};

/// Arms are numbered; arm 0 is the MPI library's own. Calls come in epochs: of a measured one, the
/// arms are planned beforehand and the times become known to all ranks; meanwhile comes a gap.
class Policy {
 public:
  virtual ~Policy() = default;

  /// The arms of the next measured calls, at least one.
  virtual std::vector<int> plan() = 0;
  /// Calls of the leader while the times of a measured epoch are on their way.
  virtual int gap() const = 0;
  virtual int leader() const = 0;
  /// Calls of the leader, before the planned ones, that nobody needs to look at.
  virtual int idle() const { return 0; }

  /// What a rank contributes, of its own times of the planned calls, and when they were over, from
  /// the first one's begin.
  virtual std::vector<Nanoseconds> summary(std::span<const Nanoseconds> own,
                                           std::span<const Nanoseconds> /*ends*/) const {
    return {own.begin(), own.end()};
  }
  /// `shared`: of each number in the summaries of `ranks` ranks the largest, which is the same
  /// whatever algorithm the MPI library finds it by.
  virtual void learn(std::span<const Nanoseconds> shared) = 0;

  /// What the whole job has lost, before the summaries that come with it. A policy that hears
  /// nothing has no such bound.
  virtual void hear_of_job(const JobAccount& /*account*/) {}
  /// Seconds of `lost`, with what is at stake in a trial under way.
  virtual double lost_seconds() const { return 0; }

  /// All further calls get the leader; it has no plan for them.
  virtual bool is_settled() const { return false; }
  /// What was found out here, of two ways; nothing: nothing yet, or it came from elsewhere.
  virtual std::optional<Verdict> found() const { return std::nullopt; }
  /// By what the last call was decided.
  virtual std::string explain() const { return ""; }

  /// What exploring and choosing have lost against native, in native calls.
  virtual double lost() const = 0;
  /// How often the leader was no longer what it had been.
  virtual int reopened() const = 0;
  /// Seconds of a call with this arm, as last known.
  virtual ArmTimes times(int arm) const = 0;
};

}  // namespace unisono
