#include "select/online/offers.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "select/online/proposals.h"

namespace unisono {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kShareOfSpent = 0.05, kShareOfCall = 0.2, kLeast = 2e-3, kMost = 250e-3;
constexpr long kOfAFamily = 2;
// Of a few that are better than all others one will do.
constexpr long kEnough = 4;
constexpr double kShareOfRisks = 2;  // of the time for prices
// What takes so many times what the best one takes is not walked through to its end, nor offered.
constexpr double kFar = 4;

Clock::time_point after(double seconds) {
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

double all_of(const Offer& offer) { return offer.seconds + offer.risk; }

}  // namespace

// The first of each family, then the others of the families that were the fastest.
Pricing::Pricing(std::vector<Spec> proposals, const Facts& facts, int root, Machine machine,
                 const Corrections& corrections)
    : proposals_(std::move(proposals)),
      call_{facts.collective,  facts.size,     facts.nodes, facts.bytes, root,
            facts.commutative, facts.topology, facts.graph},
      machine_(std::move(machine)),
      corrections_(corrections) {
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
    if (next_ < order_.size()) price_one(order_[next_++]);
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

void Pricing::price_one(std::size_t proposal) {
  const Spec& spec = proposals_[proposal];
  const double factor = corrections_.factor(families_[proposal]),
               most = kFar * best_of_all_ / factor;
  const auto said = price(*spec.algorithm, spec.params, call_, machine_, most);
  if (!said || *said > most) return;
  priced_.push_back({.proposal = proposal, .said = *said, .seconds = *said * factor});
  double& best = best_[families_[proposal]];
  best = std::min(best, priced_.back().seconds);
  best_of_all_ = std::min(best_of_all_, best);
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
    const Spec& spec = proposals_[offer.proposal];
    if (!std::exchange(offer.knows_risk, true))
      offer.risk = risk(*spec.algorithm, spec.params, call_, machine_, offer.said);
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

double pricing_time(double spent, double call) {
  return std::clamp(kShareOfSpent * spent, std::min(kLeast, kShareOfCall * call), kMost);
}

}  // namespace unisono
