#include "select/offers/offers.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "algorithms/composition.h"
#include "select/offers/proposals.h"

namespace unisono {

namespace {

using Clock = std::chrono::steady_clock;

constexpr long kOfAFamily = 2;
// Of a few that are better than all others one will do.
constexpr long kEnough = 4;
constexpr double kShareOfRisks = 2;  // of the time for prices
// What takes so many times what the best one takes is not walked through to its end, nor offered.
constexpr double kFar = 4;
// Nothing is cut.
constexpr Count kLongestSegment = Count{1} << 30;

Clock::time_point after(double seconds) {
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

double all_of(const Offer& offer) { return offer.seconds + offer.risk; }

/// The row whose segment it is.
const Algorithm& pipeline_of(const Spec& spec) {
  const Composition* grid = spec.params.composition;
  return grid != nullptr ? *grid->columns.algorithm : *spec.algorithm;
}

/// Calls `use` with the parameters that have this segment; a grid is interned when it is offered.
template <class Use>
auto at_segment(const Params& open, Count bytes, const Use& use) {
  Params params = open;
  if (open.composition == nullptr) {
    params.segment = bytes;
    return use(params);
  }
  Composition grid = *open.composition;
  grid.columns.params.segment = bytes;
  params.composition = &grid;
  return use(params);
}

}  // namespace

// The first of each family, then the others of the families that were the fastest.
Pricing::Pricing(std::vector<Spec> proposals, const Facts& facts, int root, Machine machine)
    : proposals_(std::move(proposals)),
      call_{facts.collective,  facts.size,     facts.nodes, facts.bytes, root,
            facts.commutative, facts.topology, facts.graph},
      machine_(std::move(machine)) {
  for (std::size_t i = 0; i < proposals_.size(); ++i) {
    families_.push_back(family_of(proposals_[i]));
    if (best_.try_emplace(families_[i], std::numeric_limits<double>::infinity()).second)
      order_.push_back(i);
  }
}

std::vector<Offer> Pricing::best(double seconds) {
  const Clock::time_point end = after(seconds);
  while (Clock::now() < end && !is_complete()) {
    if (next_ == order_.size()) add_variants();
    if (next_ < order_.size() && price_one(order_[next_])) ++next_;
  }
  sort();
  ask_risks(kShareOfRisks * seconds);
  sort();
  return at_most_of_a_family();
}

void Pricing::add_variants() {
  has_variants_ = true;
  const std::set<std::size_t> known(order_.begin(), order_.end());
  const auto first = static_cast<std::ptrdiff_t>(order_.size());
  for (std::size_t i = 0; i < proposals_.size(); ++i)
    if (!known.contains(i)) order_.push_back(i);
  std::stable_sort(order_.begin() + first, order_.end(), [&](std::size_t a, std::size_t b) {
    return best_.at(families_[a]) < best_.at(families_[b]);
  });
}

/// Whether that was all that this proposal needs.
bool Pricing::price_one(std::size_t proposal) {
  const Spec& spec = proposals_[proposal];
  const double most = kFar * best_of_all_;
  if (!has_open_segment(spec)) {
    const auto said = price(*spec.algorithm, spec.params, call_, machine_, most);
    if (said && *said <= most) note({.proposal = proposal, .seconds = *said});
    return true;
  }
  if (!search_) look_for_segment(proposal);
  if (const auto bytes = search_ ? search_->next() : std::nullopt) {
    const auto said = at_segment(spec.params, *bytes, [&](const Params& params) {
      return price(*spec.algorithm, params, call_, machine_, std::min(most, search_->limit()));
    });
    search_->note(said && *said <= most ? *said : kNoLimit);
    return false;
  }
  // With as many pieces it is the standard one.
  if (search_ && search_->has_any() && !search_->is_as_first())
    note({.proposal = proposal, .segment = search_->best(), .seconds = search_->seconds()});
  search_.reset();
  return true;
}

void Pricing::look_for_segment(std::size_t proposal) {
  const Spec& spec = proposals_[proposal];
  const Algorithm& row = pipeline_of(spec);
  const Count longest = at_segment(spec.params, kLongestSegment, [&](const Params& params) {
    return longest_message(*spec.algorithm, params, call_);
  });
  if (longest > 0) search_.emplace(longest, default_params(row).segment);
}

void Pricing::note(const Offer& offer) {
  priced_.push_back(offer);
  double& best = best_[families_[offer.proposal]];
  best = std::min(best, offer.seconds);
  best_of_all_ = std::min(best_of_all_, best);
}

Spec Pricing::spec_of(const Offer& offer) const {
  const Spec& spec = proposals_[offer.proposal];
  return offer.segment > 0 ? with_segment(spec, offer.segment) : spec;
}

void Pricing::sort() {
  std::stable_sort(priced_.begin(), priced_.end(),
                   [](const Offer& a, const Offer& b) { return all_of(a) < all_of(b); });
}

/// In their order, until so many are known to be better than what comes next.
void Pricing::ask_risks(double seconds) {
  const Clock::time_point end = after(seconds);
  std::vector<double> known;
  for (Offer& offer : priced_) {
    const auto better =
        std::count_if(known.begin(), known.end(), [&](double one) { return one <= offer.seconds; });
    if (better >= kEnough || Clock::now() >= end) return;
    const Spec spec = spec_of(offer);
    if (!std::exchange(offer.knows_risk, true))
      offer.risk = risk(*spec.algorithm, spec.params, call_, machine_, offer.seconds);
    known.push_back(all_of(offer));
  }
}

std::vector<Offer> Pricing::at_most_of_a_family() const {
  std::map<std::string, long> taken;
  std::vector<Offer> best;
  for (const Offer& offer : priced_)
    if (best.size() < kMostOffered && ++taken[families_[offer.proposal]] <= kOfAFamily)
      best.push_back(offer);
  return best;
}

}  // namespace unisono
