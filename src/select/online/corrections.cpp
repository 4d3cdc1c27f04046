#include "select/online/corrections.h"

#include <cmath>

namespace unisono {

// A mean with one value of 0 (the model is right), or of the mean of all, added to it.
double Corrections::factor(std::string_view family) const {
  const std::lock_guard lock(mutex_);
  const double all = all_.logarithms / (all_.count + 1);
  const auto known = by_family_.find(family);
  if (known == by_family_.end()) return std::exp(all);
  return std::exp((known->second.logarithms + all) / (known->second.count + 1));
}

void Corrections::learn(std::string_view family, double predicted, double measured) {
  if (!(predicted > 0) || !(measured > 0)) return;
  const double logarithm = std::log(measured / predicted);
  const std::lock_guard lock(mutex_);
  for (Sum* sum : {&by_family_[std::string(family)], &all_}) {
    sum->logarithms += logarithm;
    ++sum->count;
  }
}

}  // namespace unisono
