#include "tools/bench/race.h"

#include <algorithm>

#include "base/statistics.h"

namespace unisono::bench {

namespace {

/// numerator / denominator over the blocks that both have run.
MedianEstimate ratio(const Racer& numerator, const Racer& denominator) {
  const std::size_t n = std::min(numerator.times.size(), denominator.times.size());
  return estimate_median(
      paired_ratios(std::span(numerator.times).first(n), std::span(denominator.times).first(n)));
}

/// The fewer blocks there are, the clearer they must speak.
bool clearly_slower(const Racer& racer, const Racer& best, const RaceRules& rules) {
  const std::size_t blocks = racer.times.size();
  if (blocks == 1) return hopeless_at_once(racer.times[0], best.times[0], rules);
  const bool enough = blocks >= static_cast<std::size_t>(rules.fewest_blocks);
  if (!enough && median(racer.times) < rules.short_call) return false;
  return ratio(racer, best).low > (enough ? 1 + rules.margin : blocks == 2 ? 2 : 1.2);
}

std::size_t fastest_of(std::span<const Racer> racers) {
  std::size_t best = racers.size();
  double least = 0;
  for (std::size_t i = 0; i < racers.size(); ++i) {
    if (!racers[i].runs || racers[i].times.empty()) continue;
    const double time = median(racers[i].times);
    if (best == racers.size() || time < least) best = i, least = time;
  }
  return best;
}

}  // namespace

Verdict judge(std::span<const Racer> racers, std::size_t native, const RaceRules& rules) {
  Verdict verdict;
  const std::size_t best = fastest_of(racers);
  if (best == racers.size()) return {{}, true};
  const std::size_t blocks = racers[best].times.size();
  const auto fewest = static_cast<std::size_t>(rules.fewest_blocks);
  bool alike = true;  // all that stay are within the margin of the fastest
  std::size_t staying = 0;
  for (std::size_t i = 0; i < racers.size(); ++i) {
    if (!racers[i].runs || i == native) continue;
    const MedianEstimate to_native = ratio(racers[i], racers[native]);
    const bool useless = blocks >= fewest && to_native.low > 1 - rules.margin;
    if (useless || (i != best && clearly_slower(racers[i], racers[best], rules))) {
      verdict.leave.push_back(i);
      continue;
    }
    ++staying;
    alike &= i == best || ratio(racers[i], racers[best]).high <= 1 + rules.margin;
    alike &= to_native.high < 1 - rules.margin;
  }
  verdict.settled = staying == 0 || (alike && blocks >= fewest);
  return verdict;
}

std::vector<std::size_t> all_but_fastest(std::span<const Racer> racers, std::size_t native,
                                         std::size_t staying) {
  std::vector<std::size_t> running;
  for (std::size_t i = 0; i < racers.size(); ++i)
    if (racers[i].runs && i != native && !racers[i].times.empty()) running.push_back(i);
  std::ranges::stable_sort(running, {}, [&](std::size_t i) { return median(racers[i].times); });
  const auto kept = std::min(staying, running.size());
  running.erase(running.begin(), running.begin() + static_cast<std::ptrdiff_t>(kept));
  return running;
}

bool hopeless_at_once(double once, double fastest, const RaceRules& rules) {
  return once >= rules.long_call && once > rules.hopeless * fastest;
}

}  // namespace unisono::bench
