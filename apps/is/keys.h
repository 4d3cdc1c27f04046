// Bucket sort of integers: the IS of the NAS Parallel Benchmarks (RNR-94-007, section 2.5). This
// part needs no MPI.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace apps::is {

using Key = std::int32_t;

/// This rank's `count` keys of those below 2^bits, from the number `first` on.
std::vector<Key> draw(std::size_t first, std::size_t count, int bits);

/// Keys of one bucket have the same leading bits.
class Buckets {
 public:
  Buckets(int bits, int bucket_bits) : shift_(bits - bucket_bits), count_(1u << bucket_bits) {}
  std::size_t count() const { return count_; }
  int width() const { return shift_; }  // 2^width keys belong to one
  std::size_t of(Key key) const { return static_cast<std::size_t>(key) >> shift_; }
  std::vector<int> sizes(const std::vector<Key>& keys) const;
  /// The keys, bucket by bucket.
  std::vector<Key> ordered(const std::vector<Key>& keys, const std::vector<int>& sizes) const;

 private:
  int shift_;
  std::size_t count_;
};

/// The first bucket of each rank, and after the last: consecutive buckets, about as many keys each.
std::vector<std::size_t> shared_out(const std::vector<int>& sizes_of_all, std::size_t ranks);

/// The ranks of keys in [low, high): entry k - low is how many keys are smaller than k; a last one
/// is how many there are.
std::vector<int> ranked(const std::vector<Key>& keys, Key low, Key high);

/// The keys in order, of their ranks.
std::vector<Key> sorted(const std::vector<int>& ranks, Key low);

/// What the benchmark does before each iteration i = 1, 2, ..: key i becomes i, and the key ten
/// places on 2^bits - i, if they are among this rank's, which begin with the number `first`.
void change(std::vector<Key>& keys, std::size_t first, int iteration, int bits);

/// The same for all orders of the same keys, other keys would hardly have it.
std::uint64_t fingerprint(const std::vector<Key>& keys);

}  // namespace apps::is
