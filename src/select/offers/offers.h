// What the cost model recommends for a kind of call.
#pragma once
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/machine.h"
#include "model/price.h"
#include "model/segment.h"
#include "select/selector.h"

namespace unisono {

inline constexpr std::size_t kMostOffered = 16;

struct Offer {
  std::size_t proposal = 0;  ///< number in proposals()
  Count segment = 0;         ///< bytes, in place of an open one; 0: it has none
  double seconds = 0;        ///< by the model
  double risk = 0;           ///< seconds lost on top where ranks drift apart
  bool knows_risk = false;
};

/// Prices what may serve a kind of call, in as many instalments as it takes; an instalment ends
/// after any price, also in the midst of a search for a segment.
class Pricing {
 public:
  /// What the call points to must outlive it.
  Pricing(std::vector<Spec> proposals, const Facts& facts, int root, Machine machine);

  /// The fastest predicted ones, at most two of a family, of those that have a price after at most
  /// `seconds` more. What has none yet is first the variants of what is slow with its standard
  /// parameters. What they risk is part of what is compared, and takes at most twice as long.
  std::vector<Offer> best(double seconds);
  bool is_complete() const { return next_ == order_.size() && has_variants_; }
  const std::vector<Spec>& proposals() const { return proposals_; }
  Spec spec_of(const Offer& offer) const;

 private:
  bool price_one(std::size_t proposal);
  void note(const Offer& offer);
  void look_for_segment(std::size_t proposal);
  void add_variants();
  void sort();
  void ask_risks(double seconds);
  std::vector<Offer> at_most_of_a_family() const;

  std::vector<Spec> proposals_;
  std::vector<std::string> families_;
  PricedCall call_;
  Machine machine_;
  std::vector<std::size_t> order_;  // of proposals: what is to be priced
  std::size_t next_ = 0;            // in it
  bool has_variants_ = false;
  std::map<std::string, double> best_;  // seconds, by family
  double best_of_all_ = std::numeric_limits<double>::infinity();
  std::optional<SegmentSearch> search_;  // of the proposal that is next
  std::vector<Offer> priced_;
};

}  // namespace unisono
