#include "select/online/corrections.h"

#include <cmath>

namespace unisono {

namespace {

// What takes so many times as long has met timeouts, which says nothing of others.
constexpr double kHeldUp = 3;

}  // namespace

Corrections::Entry Corrections::sum(const Entry& one, const Entry& other) {
  constexpr int kMost = 16;
  Entry both{other.family, one.logarithms + other.logarithms, one.count + other.count};
  if (both.count <= kMost) return both;
  both.logarithms *= static_cast<double>(kMost) / both.count;
  both.count = kMost;
  return both;
}

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
  for (Sum* sum : {&by_family_[std::string(family)], &learned_[std::string(family)], &all_}) {
    if (sum == &all_ && logarithm > std::log(kHeldUp)) continue;
    sum->logarithms += logarithm;
    ++sum->count;
  }
}

void Corrections::recall(const std::vector<Entry>& entries) {
  const std::lock_guard lock(mutex_);
  for (const Entry& entry : entries)
    for (Sum* sum : {&by_family_[entry.family], &all_}) {
      if (sum == &all_ && entry.logarithms > entry.count * std::log(kHeldUp)) continue;
      sum->logarithms += entry.logarithms;
      sum->count += entry.count;
    }
}

std::vector<Corrections::Entry> Corrections::learned() const {
  const std::lock_guard lock(mutex_);
  std::vector<Entry> entries;
  for (const auto& [family, sum] : learned_) entries.push_back({family, sum.logarithms, sum.count});
  return entries;
}

}  // namespace unisono
