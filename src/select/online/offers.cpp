#include "select/online/offers.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <string>

#include "model/price.h"
#include "select/online/proposals.h"

namespace unisono {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kShareOfSpent = 0.05, kLeast = 2e-3, kMost = 250e-3;
constexpr long kOfAFamily = 2;
// Of a few that are better than all others one will do.
constexpr long kEnough = 4;
constexpr double kShareOfRisks = 2;  // of the time for prices
// What takes so many times what the best one takes is not walked through to its end, nor offered.
constexpr double kFar = 4;

/// Prices one after the other for so long.
class Pricing {
 public:
  Pricing(const std::vector<Spec>& proposals, const PricedCall& call, const Machine& machine,
          const Corrections& corrections, double seconds)
      : proposals_(proposals),
        call_(call),
        machine_(machine),
        corrections_(corrections),
        allowed_(
            std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))),
        end_(Clock::now() + allowed_) {
    for (const Spec& spec : proposals) families_.push_back(family_of(spec));
  }

  /// The first of each family, then the others of the families that were the fastest.
  std::vector<Offer> go() {
    std::vector<std::size_t> others;
    for (std::size_t i = 0; i < proposals_.size(); ++i) {
      if (best_.contains(families_[i]))
        others.push_back(i);
      else
        price_one(i);
    }
    const std::map<std::string, double> of_first = best_;
    std::stable_sort(others.begin(), others.end(), [&](std::size_t a, std::size_t b) {
      return of_first.at(families_[a]) < of_first.at(families_[b]);
    });
    for (const std::size_t i : others) price_one(i);
    sort();
    ask_risks();
    sort();
    return at_most_of_a_family();
  }

 private:
  void price_one(std::size_t i) {
    double& best =
        best_.try_emplace(families_[i], std::numeric_limits<double>::infinity()).first->second;
    if (Clock::now() >= end_) return;
    const Spec& spec = proposals_[i];
    const double factor = corrections_.factor(families_[i]), most = kFar * best_of_all_ / factor;
    const auto said = price(*spec.algorithm, spec.params, call_, machine_, most);
    if (!said || *said > most) return;
    priced_.push_back({i, *said, *said * factor, 0});
    best = std::min(best, priced_.back().seconds);
    best_of_all_ = std::min(best_of_all_, best);
  }

  static double all_of(const Offer& offer) { return offer.seconds + offer.risk; }

  void sort() {
    std::stable_sort(priced_.begin(), priced_.end(),
                     [](const Offer& a, const Offer& b) { return all_of(a) < all_of(b); });
  }

  /// In their order, until so many are known to be better than what comes next.
  void ask_risks() {
    const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        kShareOfRisks * std::chrono::duration<double>(allowed_));
    std::vector<double> known;
    for (Offer& offer : priced_) {
      const auto better = std::count_if(known.begin(), known.end(),
                                        [&](double one) { return one <= offer.seconds; });
      if (better >= kEnough || Clock::now() >= end) return;
      const Spec& spec = proposals_[offer.proposal];
      offer.risk = risk(*spec.algorithm, spec.params, call_, machine_, offer.said);
      known.push_back(all_of(offer));
    }
  }

  std::vector<Offer> at_most_of_a_family() const {
    std::map<std::string, long> taken;
    std::vector<Offer> best;
    for (const Offer& offer : priced_)
      if (best.size() < kMostOffered && ++taken[families_[offer.proposal]] <= kOfAFamily)
        best.push_back(offer);
    return best;
  }

  const std::vector<Spec>& proposals_;
  const PricedCall& call_;
  const Machine& machine_;
  const Corrections& corrections_;
  Clock::duration allowed_;
  Clock::time_point end_;
  std::vector<std::string> families_;
  std::map<std::string, double> best_;  // seconds, by family
  double best_of_all_ = std::numeric_limits<double>::infinity();
  std::vector<Offer> priced_;
};

}  // namespace

std::vector<Offer> best_offers(const std::vector<Spec>& proposals, const Facts& facts, int root,
                               const Machine& machine, const Corrections& corrections,
                               double seconds) {
  const PricedCall call{facts.collective,  facts.size,    facts.nodes, facts.bytes, root,
                        facts.commutative, facts.topology};
  return Pricing(proposals, call, machine, corrections, seconds).go();
}

double pricing_time(double spent) { return std::clamp(kShareOfSpent * spent, kLeast, kMost); }

}  // namespace unisono
