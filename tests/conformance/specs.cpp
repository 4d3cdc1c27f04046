#include "specs.h"

#include <algorithm>
#include <vector>

namespace conformance {

Spec random_spec(Rng& rng, unisono::Collective collective) {
  if (rng.chance(3)) return {"native", nullptr};
  if (rng.chance(3)) return {"default", nullptr};
  std::vector<const unisono::Algorithm*> rows;
  for (const unisono::Algorithm& row : unisono::catalogue())
    if (unisono::contains(row.collectives, collective)) rows.push_back(&row);
  if (rows.empty()) return {"default", nullptr};
  const unisono::Algorithm* row = rng.pick(rows);
  std::string text(row->name);
  char separator = ':';
  for (const unisono::Parameter& parameter : row->parameters) {
    if (rng.chance(40)) continue;
    const long long value = parameter.is_size
                                ? rng.pick({1, 7, 64, 100, 1024, 1024, 4096, 4096, 16384, 65536})
                                : rng.pick({1, 2, 2, 3, 4, 5, 7, 8, 16, 64});
    text += separator + std::string(parameter.name) + "=" +
            std::to_string(std::clamp<long long>(value, parameter.least, parameter.most));
    separator = ',';
  }
  return {text, row};
}

Spec spec_of(unisono::Collective collective, const std::string& text) {
  return {text, unisono::find_algorithm(collective, text.substr(0, text.find(':')))};
}

}  // namespace conformance
