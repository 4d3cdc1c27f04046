#include "select/online/shuffle.h"

#include <algorithm>
#include <bit>

namespace unisono {

Shuffle::Shuffle(unsigned seed, int longest)
    : state_(seed), longest_(static_cast<std::size_t>(longest)) {}

std::vector<int> Shuffle::plan() {
  const std::size_t calls = 2 * longest_;
  std::vector<int> arms;
  while (arms.size() < calls) {
    const std::size_t most = std::min(longest_, (calls - arms.size()) / 2);
    const std::size_t turn = std::size_t{1} << below(std::bit_width(most));
    const int first = static_cast<int>(below(2));
    arms.insert(arms.end(), turn, first);
    arms.insert(arms.end(), turn, 1 - first);
  }
  return arms;
}

std::vector<Nanoseconds> Shuffle::summary(std::span<const Nanoseconds> /*own*/,
                                          std::span<const Nanoseconds> ends) const {
  return {ends.back()};
}

void Shuffle::learn(std::span<const Nanoseconds> /*shared*/) {}

std::uint64_t Shuffle::below(std::uint64_t limit) {
  // splitmix64 (Steele, Lea, Flood, OOPSLA'14): the same on every machine.
  state_ += 0x9E3779B97F4A7C15;
  std::uint64_t mixed = state_;
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
  return (mixed ^ (mixed >> 31)) % limit;
}

}  // namespace unisono
