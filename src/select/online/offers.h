// What the cost model recommends for a kind of call.
#pragma once
#include <vector>

#include "model/machine.h"
#include "select/online/corrections.h"
#include "select/selector.h"

namespace unisono {

inline constexpr std::size_t kMostOffered = 16;

struct Offer {
  std::size_t proposal = 0;  ///< number in proposals()
  double said = 0;           ///< seconds by the model
  double seconds = 0;        ///< the same, corrected
  double risk = 0;           ///< seconds lost on top where ranks drift apart
};

/// The fastest predicted ones, at most two of a family. Pricing takes at most `seconds`: what is
/// not priced by then is left out. That is first the variants of what is slow with its standard
/// parameters. What they risk is part of what is compared, and takes at most twice as long.
std::vector<Offer> best_offers(const std::vector<Spec>& proposals, const Facts& facts, int root,
                               const Machine& machine, const Corrections& corrections,
                               double seconds);

/// Seconds that pricing may take for a kind whose calls have taken `spent` seconds: a twentieth of
/// them, but 2 to 250 ms.
double pricing_time(double spent);

}  // namespace unisono
