// A collective call with data that every rank can compute.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "node/kernels.h"

namespace unisono::node {

/// How often this thread has taken memory in a kernel (memory_taken_test.cpp counts): none may, for
/// the other ranks wait, and could not be told that there is none.
inline thread_local int t_memory_taken = 0;
inline thread_local bool t_in_kernel = false;
/// While a kernel runs.
struct InKernel {
  InKernel() { t_in_kernel = true; }
  ~InKernel() { t_in_kernel = false; }
  InKernel(const InKernel&) = delete;
  InKernel& operator=(const InKernel&) = delete;
};

enum class What {
  barrier,
  bcast,
  gather,
  scatter,
  allgather,
  alltoall,
  allgatherv,
  gatherv,
  scatterv,
  alltoallv,
  reduce,
  allreduce,
  reduce_scatter_block,
  reduce_scatter,
  scan,
  exscan,
};
inline constexpr int kWhats = 16;

struct Call {
  What what = What::barrier;
  /// Bytes; elements of eight bytes where something is reduced. The most, if blocks differ.
  std::size_t count = 0;
  int root = 0;
  bool in_place = false;
  bool own_operation = false;  ///< one that does not commute; otherwise a sum of double
  std::uint64_t seed = 0;
  Protocol way = Protocol::rule;
};

using Bytes = std::vector<std::byte>;
constexpr std::size_t kElementBytes = 8;
constexpr std::byte kUntouched{0xEE};  ///< in buffers, where nothing was written

inline bool reduces(What what) { return what >= What::reduce; }

inline std::uint64_t random_word(std::uint64_t seed, std::uint64_t index);
/// `in_place` of a call that says so: of all ranks, or of some where ranks may differ.
inline bool is_in_place(const Call& call, int rank) {
  if (!call.in_place || !reduces(call.what) || call.what == What::reduce) return call.in_place;
  return call.seed % 3 == 0 || random_word(call.seed, 1 << 21 | static_cast<unsigned>(rank)) % 2;
}

inline std::uint64_t random_word(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t word = (seed + 1) * 0x9e3779b97f4a7c15ULL + index * 0xbf58476d1ce4e5b9ULL;
  word = (word ^ (word >> 30)) * 0x94d049bb133111ebULL;
  return word ^ (word >> 31);
}

/// x -> a x + b, applied one after the other.
struct Affine {
  std::uint32_t a, b;
};
inline Affine then(Affine first, Affine second) {
  return {second.a * first.a, second.a * first.b + second.b};
}
inline void affine_reduce_local(const void*, const std::byte* in, std::byte* inout,
                                std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    Affine left, right;
    std::memcpy(&left, in + i * sizeof left, sizeof left);
    std::memcpy(&right, inout + i * sizeof right, sizeof right);
    const Affine both = then(left, right);
    std::memcpy(inout + i * sizeof both, &both, sizeof both);
  }
}
inline constexpr UserOperation kAffine{affine_reduce_local, nullptr, kElementBytes};

inline Reduction reduction_of(const Call& call) {
  return call.own_operation ? called(kAffine) : *built_in(Op::sum, Element::float64);
}

/// What a rank contributes.
inline Bytes contribution(const Call& call, int rank, std::size_t bytes) {
  Bytes data(bytes + kElementBytes);
  for (std::size_t i = 0; i * 8 < bytes; ++i) {
    std::uint64_t word = random_word(call.seed * 64 + static_cast<std::uint64_t>(rank), i);
    // Sums of these depend on their order in the last bits.
    if (reduces(call.what) && !call.own_operation)
      word = std::bit_cast<std::uint64_t>(static_cast<double>(word >> 11) * 0x1p-53);
    std::memcpy(data.data() + i * 8, &word, 8);
  }
  data.resize(bytes);
  return data;
}

/// left (+) right.
inline Bytes combined(const Call& call, Bytes left, const Bytes& right) {
  for (std::size_t at = 0; at < left.size(); at += kElementBytes) {
    if (call.own_operation) {
      Affine first, second;
      std::memcpy(&first, &left[at], sizeof first);
      std::memcpy(&second, &right[at], sizeof second);
      first = then(first, second);
      std::memcpy(&left[at], &first, sizeof first);
    } else {
      double first, second;
      std::memcpy(&first, &left[at], sizeof first);
      std::memcpy(&second, &right[at], sizeof second);
      first += second;
      std::memcpy(&left[at], &first, sizeof first);
    }
  }
  return left;
}

/// The contributions of the ranks before `ranks`: of scans left to right, of others in pairs until
/// a power of two is left, then neighbours, level by level.
inline Bytes reduced(const Call& call, int ranks, std::size_t bytes) {
  const bool is_scan = call.what == What::scan || call.what == What::exscan;
  const auto given = [&](int rank) { return contribution(call, rank, bytes); };
  const int power = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)));
  std::vector<Bytes> sums;
  for (int rank = 0; rank < ranks; ++rank) {
    sums.push_back(given(rank));
    if (!is_scan && sums.size() <= static_cast<std::size_t>(ranks - power))
      sums.back() = combined(call, sums.back(), given(++rank));
  }
  if (is_scan) {
    for (std::size_t i = 1; i < sums.size(); ++i) sums[0] = combined(call, sums[0], sums[i]);
    return sums[0];
  }
  for (; sums.size() > 1; sums.resize(sums.size() / 2))
    for (std::size_t i = 0; i < sums.size() / 2; ++i)
      sums[i] = combined(call, sums[2 * i], sums[2 * i + 1]);
  return sums[0];
}

inline std::string text(const Call& call, const Team& team) {
  return "collective " + std::to_string(static_cast<int>(call.what)) + " of " +
         std::to_string(call.count) + ", seed " + std::to_string(call.seed) + ", root " +
         std::to_string(call.root) + (call.in_place ? ", in place" : "") +
         (call.own_operation ? ", own operation" : "") + ", rank " + std::to_string(team.rank()) +
         " of " + std::to_string(team.size());
}

}  // namespace unisono::node
