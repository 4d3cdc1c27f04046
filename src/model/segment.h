// The segment that the model finds best: into how many pieces a pipeline is cut.
#pragma once
#include <map>
#include <optional>

#include "model/price.h"

namespace unisono {

/// No message of a pipeline is worth less: what a call of MPI costs is no longer small beside it.
inline constexpr Count kLeastSegment = 1024;

/// Whether the row cuts what it sends, so that its segment is a parameter.
bool has_segment(const Algorithm& algorithm);

/// Bytes of the longest message of the call where nothing is cut, doubled until a segment of so
/// many cuts nothing; 0: it cannot serve the call, or nobody knows. `params`: of a grid, of which
/// no phase may cut anything.
Count longest_message(const Algorithm& algorithm, Params params, const PricedCall& call);

/// Says which segment to price next, until the best one is known: in practice the price has one
/// valley over the logarithm of the number of pieces. From the segment it begins with it goes down
/// by factors of 4, then of 2, then of the square root of 2; so the pieces are at most 2^(1/4) too
/// long or too short, which costs a pipeline 1.5 % of what it could choose. Of those that cost no
/// more than that beside the best the longest counts: a message takes a processor, which ranks may
/// share, more than its price tells. What is not cut at all is always a candidate. About ten
/// prices: two, one for each factor of 4 that it is away from where it began, one or two more
/// there, and two for each of the other factors.
class SegmentSearch {
 public:
  /// `longest`: bytes of the longest message where nothing is cut; `first`: of the first segment,
  /// 0: that message.
  SegmentSearch(Count longest, Count first);

  /// Bytes of a segment; nothing: the search is over. The same until note().
  std::optional<Count> next();
  /// Seconds with what next() said; infinity: more than seconds() of the best so far.
  void note(double seconds);

  bool has_any() const { return least_ < kNoLimit; }
  /// Who costs more is no candidate; infinity where there is none.
  double limit() const { return kAlike * least_; }
  /// Of the best so far; infinity where there is none.
  double seconds() const { return has_any() ? known_.at(fewest()) : kNoLimit; }
  Count best() const { return bytes_of(fewest()); }
  /// Whether the best cuts into as many pieces as the first one.
  bool is_as_first() const { return fewest() == first_; }

 private:
  static constexpr double kAlike = 1.015;

  Count bytes_of(Count pieces) const;
  Count fewest() const;

  Count longest_, most_, first_, cheapest_, asked_;
  double least_ = kNoLimit;
  std::size_t step_ = 0;
  std::map<Count, double> known_;  // seconds by pieces
};

/// The bytes of a segment with which price() is least, all other parameters as they are; nothing
/// where the row has no segment, or the call no price. A multiple of 64 bytes, so that elements fit
/// into it; at least kLeastSegment, or the whole message. It costs about ten walks (price.h), most
/// of which end early: some milliseconds for hundreds of pieces on 16 ranks, a tenth of a
/// second on 64. No walk begins after so many `seconds`.
std::optional<Count> best_segment(const Algorithm& algorithm, const Params& params,
                                  const PricedCall& call, const Machine& machine,
                                  double seconds = kNoLimit);

}  // namespace unisono
