// Random numbers that are the same on every rank, machine and standard library.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace conformance {

/// A stream named by its words: streams of different names are independent, so that every call,
/// rank and buffer has its own and nobody has to consume the numbers of others.
class Rng {
 public:
  Rng(std::initializer_list<std::uint64_t> name) {
    for (const std::uint64_t word : name) state_ = mix(state_ ^ mix(word + 0x9e3779b97f4a7c15U));
  }

  std::uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15U); }
  /// In [0, n).
  long long below(long long n) {
    return static_cast<long long>(next() % static_cast<std::uint64_t>(n));
  }
  /// In [low, high].
  long long between(long long low, long long high) { return low + below(high - low + 1); }
  bool chance(int percent) { return below(100) < percent; }

  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(below(static_cast<long long>(from.size())))];
  }
  long long pick(std::initializer_list<long long> from) {
    return from.begin()[below(static_cast<long long>(from.size()))];
  }
  /// 0 .. n-1 in random order.
  std::vector<int> permutation(int n) {
    std::vector<int> order(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) {
      const auto j = static_cast<std::size_t>(below(i + 1));
      order[static_cast<std::size_t>(i)] = order[j];
      order[j] = i;
    }
    return order;
  }

 private:
  static std::uint64_t mix(std::uint64_t z) {  // the finaliser of SplitMix64 (Steele et al., 2014)
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  std::uint64_t state_ = 0;
};

}  // namespace conformance
