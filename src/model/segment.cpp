#include "model/segment.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numbers>

namespace unisono {

namespace {

// A multiple of every element's size that matters.
constexpr Count kLine = 64;
// More pieces no schedule has: Args::segment_of.
constexpr Count kMostPieces = 4096;
constexpr std::array kSteps = {4.0, 2.0, std::numbers::sqrt2};

constexpr Count divided_up(Count bytes, Count by) { return (bytes + by - 1) / by; }

const Parameter* segment_of(const Algorithm& algorithm) {
  const auto found =
      std::find_if(algorithm.parameters.begin(), algorithm.parameters.end(),
                   [](const Parameter& parameter) { return parameter.field == &Params::segment; });
  return found == algorithm.parameters.end() ? nullptr : &*found;
}

Schedule schedule_of_root(const Algorithm& algorithm, const Problem& problem, int root) {
  const ArgsOfRanks ranks(problem);
  return build(algorithm, ranks[root]);
}

}  // namespace

bool has_segment(const Algorithm& algorithm) { return segment_of(algorithm) != nullptr; }

// Who has the root's part takes part in every phase.
Count longest_message(const Algorithm& algorithm, Params params, const PricedCall& asked) {
  PricedCall call = asked;
  if (call.bytes <= 0 || call.ranks < 2) return 0;
  const bool is_grid = (algorithm.restrictions & kComposed) != 0;
  if (!is_walked_whole(algorithm, call)) {
    if (is_grid) return call.bytes;
    // As the walks do. The arguments of a hundred thousand ranks would take longer than these.
    call.ranks = kMostWalkedRanks;
    call.root = std::min(call.root, call.ranks - 1);
    call.topology = nullptr;
  }
  const Parameter* segment = segment_of(algorithm);
  if (segment != nullptr) params.segment = segment->most;
  const Problem problem = problem_of(call, params, call.topology);
  if (!can_serve(algorithm, problem)) return 0;
  const Schedule uncut = schedule_of_root(algorithm, problem, call.root);
  Count longest = 0;
  for (const Op& op : uncut.ops())
    if (op.kind == OpKind::send || op.kind == OpKind::recv) longest = std::max(longest, op.length);
  longest *= problem.unit_bytes;
  // A message may hold less than what the row cuts: circulant_segments counts the blocks of all.
  for (params.segment = longest; segment != nullptr && longest > 0; params.segment = longest *= 2) {
    const Problem cut = problem_of(call, params, call.topology);
    if (schedule_of_root(algorithm, cut, call.root).ops().size() <= uncut.ops().size()) break;
  }
  return longest;
}

SegmentSearch::SegmentSearch(Count longest, Count first)
    : longest_(longest),
      most_(std::clamp(longest / kLeastSegment, Count{1}, kMostPieces)),
      first_(first > 0 ? std::clamp(divided_up(longest, first), Count{1}, most_) : 1),
      cheapest_(first_),
      asked_(first_) {}

Count SegmentSearch::bytes_of(Count pieces) const {
  return std::max(Count{1}, divided_up(divided_up(longest_, pieces), kLine)) * kLine;
}

Count SegmentSearch::fewest() const {
  for (const auto& [pieces, seconds] : known_)
    if (seconds <= limit()) return pieces;
  return cheapest_;
}

// Towards longer pieces first: there the walks are short.
std::optional<Count> SegmentSearch::next() {
  for (const Count pieces : {first_, Count{1}}) {
    asked_ = pieces;
    if (!known_.contains(asked_)) return bytes_of(asked_);
  }
  if (!has_any()) return std::nullopt;
  for (; step_ < kSteps.size(); ++step_)
    for (const double factor : {1 / kSteps[step_], kSteps[step_]}) {
      const auto pieces = std::llround(static_cast<double>(cheapest_) * factor);
      asked_ = std::clamp(static_cast<Count>(pieces), Count{1}, most_);
      if (!known_.contains(asked_)) return bytes_of(asked_);
    }
  return std::nullopt;
}

void SegmentSearch::note(double seconds) {
  known_[asked_] = seconds;
  if (!(seconds < least_)) return;
  least_ = seconds;
  cheapest_ = asked_;
}

std::optional<Count> best_segment(const Algorithm& algorithm, const Params& params,
                                  const PricedCall& call, const Machine& machine, double seconds) {
  using Clock = std::chrono::steady_clock;
  const Parameter* segment = segment_of(algorithm);
  const Count longest = segment != nullptr ? longest_message(algorithm, params, call) : 0;
  if (longest == 0) return std::nullopt;
  const Clock::time_point begin = Clock::now();
  SegmentSearch search(longest, segment->default_value);
  while (const auto bytes = search.next()) {
    if (std::chrono::duration<double>(Clock::now() - begin).count() >= seconds) break;
    Params tried = params;
    tried.segment = *bytes;
    const auto priced = price(algorithm, tried, call, machine, search.limit());
    if (!priced) return std::nullopt;
    search.note(*priced);
  }
  return search.has_any() ? std::optional(search.best()) : std::nullopt;
}

}  // namespace unisono
