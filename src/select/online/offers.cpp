#include "select/online/offers.h"

#include <algorithm>
#include <chrono>

#include "model/price.h"

namespace unisono {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kShareOfSpent = 0.05, kLeast = 2e-3, kMost = 50e-3;
constexpr long kOfAnAlgorithm = 2;

}  // namespace

std::vector<Offer> best_offers(const std::vector<Spec>& proposals, const Facts& facts, int root,
                               const Machine& machine, const Corrections& corrections,
                               double spent) {
  const auto end = Clock::now() +
                   std::chrono::duration<double>(std::clamp(kShareOfSpent * spent, kLeast, kMost));
  const PricedCall call{facts.collective, facts.size, facts.nodes,
                        facts.bytes,      root,       facts.commutative};
  std::vector<Offer> priced;
  for (std::size_t i = 0; i < proposals.size() && Clock::now() < end; ++i) {
    const Spec& spec = proposals[i];
    const auto said = price(*spec.algorithm, spec.params, call, machine);
    if (said) priced.push_back({i, *said, *said * corrections.factor(spec.algorithm->name)});
  }
  std::stable_sort(priced.begin(), priced.end(),
                   [](const Offer& a, const Offer& b) { return a.seconds < b.seconds; });
  std::vector<Offer> best;
  for (const Offer& offer : priced) {
    const auto same = [&](const Offer& other) {
      return proposals[other.proposal].algorithm == proposals[offer.proposal].algorithm;
    };
    if (best.size() < kMostOffered &&
        std::count_if(best.begin(), best.end(), same) < kOfAnAlgorithm)
      best.push_back(offer);
  }
  return best;
}

}  // namespace unisono
