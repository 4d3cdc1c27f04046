#include "apps/is/keys.h"

#include <algorithm>
#include <numeric>

#include "apps/common/random.h"

namespace apps::is {

namespace {

constexpr std::size_t kApart = 10;

}  // namespace

std::vector<Key> draw(std::size_t first, std::size_t count, int bits) {
  NasRandom random(4 * first);
  std::vector<Key> keys(count);
  const double quarter = static_cast<double>(std::int64_t{1} << bits) / 4;
  for (Key& key : keys) {
    double sum = 0;  // of four: most keys lie in the middle
    for (int i = 0; i < 4; ++i) sum += random.next();
    key = static_cast<Key>(quarter * sum);
  }
  return keys;
}

std::vector<int> Buckets::sizes(const std::vector<Key>& keys) const {
  std::vector<int> found(count_, 0);
  for (const Key key : keys) ++found[of(key)];
  return found;
}

std::vector<Key> Buckets::ordered(const std::vector<Key>& keys,
                                  const std::vector<int>& sizes) const {
  std::vector<int> next(sizes.size(), 0);
  std::exclusive_scan(sizes.begin(), sizes.end(), next.begin(), 0);
  std::vector<Key> result(keys.size());
  for (const Key key : keys) result[static_cast<std::size_t>(next[of(key)]++)] = key;
  return result;
}

std::vector<std::size_t> shared_out(const std::vector<int>& sizes_of_all, std::size_t ranks) {
  const std::int64_t all =
      std::accumulate(sizes_of_all.begin(), sizes_of_all.end(), std::int64_t{0});
  std::vector<std::size_t> first(ranks + 1, sizes_of_all.size());
  first[0] = 0;
  std::int64_t before = 0;
  std::size_t rank = 1;
  for (std::size_t bucket = 0; bucket < sizes_of_all.size(); ++bucket) {
    while (rank < ranks &&
           before * static_cast<std::int64_t>(ranks) >= all * static_cast<std::int64_t>(rank))
      first[rank++] = bucket;
    before += sizes_of_all[bucket];
  }
  return first;
}

std::vector<int> ranked(const std::vector<Key>& keys, Key low, Key high) {
  std::vector<int> ranks(static_cast<std::size_t>(high - low) + 1, 0);
  for (const Key key : keys) ++ranks[static_cast<std::size_t>(key - low)];
  std::exclusive_scan(ranks.begin(), ranks.end(), ranks.begin(), 0);
  return ranks;
}

std::vector<Key> sorted(const std::vector<int>& ranks, Key low) {
  std::vector<Key> keys(static_cast<std::size_t>(ranks.back()));
  for (std::size_t k = 0; k + 1 < ranks.size(); ++k)
    std::fill(keys.begin() + ranks[k], keys.begin() + ranks[k + 1], low + static_cast<Key>(k));
  return keys;
}

void change(std::vector<Key>& keys, std::size_t first, int iteration, int bits) {
  const Key highest = Key{1} << bits;
  if (iteration >= highest) return;  // there are no such keys
  const auto put = [&](std::size_t place, Key key) {
    if (place >= first && place - first < keys.size()) keys[place - first] = key;
  };
  put(static_cast<std::size_t>(iteration), iteration);
  put(static_cast<std::size_t>(iteration) + kApart, highest - iteration);
}

std::uint64_t fingerprint(const std::vector<Key>& keys) {
  std::uint64_t sum = 0;
  for (const Key key : keys) {  // SplitMix64 (Steele, Lea, Flood 2014)
    std::uint64_t x = static_cast<std::uint64_t>(key) + 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    sum += x ^ (x >> 31);
  }
  return sum;
}

}  // namespace apps::is
