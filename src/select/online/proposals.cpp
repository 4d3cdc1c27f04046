#include "select/online/proposals.h"

namespace unisono {

namespace {

// From one value to the next, as in the tuner's candidates.
constexpr Count kSizeStep = 4, kStep = 2;

bool is_priced(const Algorithm& row, const Facts& facts) {
  return contains(row.collectives, facts.collective) &&
         (row.restrictions & (kOneNode | kComposed)) == 0 &&
         !unmet_restriction(row, conditions(facts));
}

/// Whether the parameter makes any difference: a segment that holds everything is none, and nobody
/// has more than p - 1 peers.
bool matters(const Parameter& parameter, Count value, const Facts& facts) {
  if (value < parameter.least || value > parameter.most) return false;
  return parameter.is_size ? value < facts.bytes : value < facts.size;
}

}  // namespace

std::vector<Spec> proposals(const Facts& facts) {
  std::vector<Spec> all;
  for (const Algorithm& row : catalogue())
    if (is_priced(row, facts)) all.push_back({&row, false, default_params(row)});
  const std::size_t rows = all.size();
  for (const auto nearer : {true, false})
    for (std::size_t i = 0; i < rows; ++i)
      for (const Parameter& parameter : all[i].algorithm->parameters) {
        const Count step = parameter.is_size ? kSizeStep : kStep, base = parameter.default_value;
        for (const Count value : nearer ? std::vector<Count>{base / step, base * step}
                                        : std::vector<Count>{base / step / step}) {
          if (!matters(parameter, value, facts)) continue;
          all.push_back(all[i]);
          all.back().params.*parameter.field = value;
        }
      }
  return all;
}

}  // namespace unisono
