// A collective call with data that every rank can compute, and whether its result is right.
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

enum class What {
  barrier,
  bcast,
  gather,
  scatter,
  allgather,
  alltoall,
  reduce,
  allreduce,
  reduce_scatter_block,
  scan,
  exscan,
};
inline constexpr int kWhats = 11;

struct Call {
  What what = What::barrier;
  std::size_t count = 0;  ///< bytes; elements of eight bytes where something is reduced
  int root = 0;
  bool in_place = false;
  bool own_operation = false;  ///< one that does not commute; otherwise a sum of double
  std::uint64_t seed = 0;
};

using Bytes = std::vector<std::byte>;
constexpr std::size_t kElementBytes = 8;

inline bool reduces(What what) { return what >= What::reduce; }

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

/// The contributions of the ranks before `ranks`, left to right.
inline Bytes reduced(const Call& call, int ranks, std::size_t bytes) {
  Bytes result = contribution(call, 0, bytes);
  for (int rank = 1; rank < ranks; ++rank) {
    const Bytes next = contribution(call, rank, bytes);
    for (std::size_t at = 0; at < bytes; at += kElementBytes) {
      if (call.own_operation) {
        Affine left, right;
        std::memcpy(&left, &result[at], sizeof left);
        std::memcpy(&right, &next[at], sizeof right);
        left = then(left, right);
        std::memcpy(&result[at], &left, sizeof left);
      } else {
        double left, right;
        std::memcpy(&left, &result[at], sizeof left);
        std::memcpy(&right, &next[at], sizeof right);
        left += right;
        std::memcpy(&result[at], &left, sizeof left);
      }
    }
  }
  return result;
}

/// The lengths of the call on one rank, and what must come out.
class Expectation {
 public:
  Expectation(const Call& call, int rank, int size)
      : call_(call), rank_(rank), size_(static_cast<std::size_t>(size)) {}

  std::size_t block() const { return call_.count * (reduces(call_.what) ? kElementBytes : 1); }
  bool is_root() const { return rank_ == call_.root; }
  std::size_t input_bytes() const {
    using enum What;
    const bool all = call_.what == alltoall || call_.what == reduce_scatter_block;
    if (call_.what == scatter) return is_root() ? size_ * block() : 0;
    return call_.what == barrier ? 0 : block() * (all ? size_ : 1);
  }
  /// Empty: nothing is written.
  Bytes output() const {
    using enum What;
    const std::size_t me = static_cast<std::size_t>(rank_) * block();
    switch (call_.what) {
      case barrier: return {};
      case bcast: return contribution(call_, call_.root, block());
      case gather: return is_root() ? gathered(block(), 0) : Bytes{};
      case scatter: return part(contribution(call_, call_.root, size_ * block()), me);
      case allgather: return gathered(block(), 0);
      case alltoall: return gathered(size_ * block(), me);
      case reduce: return is_root() ? reduced(call_, static_cast<int>(size_), block()) : Bytes{};
      case allreduce: return reduced(call_, static_cast<int>(size_), block());
      case reduce_scatter_block:
        return part(reduced(call_, static_cast<int>(size_), size_ * block()), me);
      case scan: return reduced(call_, rank_ + 1, block());
      case exscan: return rank_ == 0 ? Bytes{} : reduced(call_, rank_, block());
    }
    return {};
  }

 private:
  Bytes part(const Bytes& whole, std::size_t begin) const {
    const auto from = whole.begin() + static_cast<std::ptrdiff_t>(begin);
    return {from, from + static_cast<std::ptrdiff_t>(block())};
  }
  Bytes gathered(std::size_t bytes, std::size_t begin) const {
    Bytes all;
    for (std::size_t rank = 0; rank < size_; ++rank) {
      const Bytes one = part(contribution(call_, static_cast<int>(rank), bytes), begin);
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }

  const Call& call_;
  int rank_;
  std::size_t size_;
};

inline void run(Team& team, const Call& call, std::byte* input, std::byte* output) {
  const std::size_t n = call.count;
  const Reduction reduction = reduction_of(call);
  switch (call.what) {
    case What::barrier: return barrier(team);
    case What::bcast: return bcast(team, output, n, call.root);
    case What::gather: return gather(team, input, output, n, call.root);
    case What::scatter: return scatter(team, input, output, n, call.root);
    case What::allgather: return allgather(team, input, output, n);
    case What::alltoall: return alltoall(team, input, output, n);
    case What::reduce: return reduce(team, input, output, n, reduction, call.root);
    case What::allreduce: return allreduce(team, input, output, n, reduction);
    case What::reduce_scatter_block: return reduce_scatter_block(team, input, output, n, reduction);
    case What::scan: return scan(team, input, output, n, reduction);
    case What::exscan: return exscan(team, input, output, n, reduction);
  }
}

inline std::string text(const Call& call, const Team& team) {
  return "collective " + std::to_string(static_cast<int>(call.what)) + " of " +
         std::to_string(call.count) + ", root " + std::to_string(call.root) +
         (call.in_place ? ", in place" : "") + (call.own_operation ? ", own operation" : "") +
         ", rank " + std::to_string(team.rank()) + " of " + std::to_string(team.size());
}

/// Empty, or what is wrong.
inline std::string run_and_check(Team& team, const Call& call) {
  constexpr std::byte kUntouched{0xEE};
  const Expectation expectation(call, team.rank(), team.size());
  const Bytes expected = expectation.output();
  const std::size_t n = expectation.block(), in_bytes = expectation.input_bytes();
  const std::size_t mine = static_cast<std::size_t>(team.rank()) * n;
  Bytes input = contribution(call, team.rank(), in_bytes);
  Bytes output(std::max(expected.size(), in_bytes) + 16, kUntouched);
  std::byte *from = input.data(), *into = output.data();
  if (call.what == What::bcast) {
    if (expectation.is_root()) std::memcpy(into, from, n);
  } else if (call.what == What::scatter) {
    if (call.in_place && expectation.is_root()) into = from + mine;
  } else if (call.in_place && !expected.empty()) {
    // The block of a gather lies at its place; everything else at the start.
    const bool gathers = call.what == What::gather || call.what == What::allgather;
    from = into + (gathers ? mine : 0);
    std::memcpy(from, input.data(), in_bytes);
  }
  run(team, call, from, into);
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (into[i] != expected[i]) return text(call, team) + ": byte " + std::to_string(i);
  const std::size_t written = std::max(expected.size(), from == input.data() ? 0 : in_bytes);
  for (std::size_t i = written; i < output.size() && into == output.data(); ++i)
    if (output[i] != kUntouched) return text(call, team) + ": wrote byte " + std::to_string(i);
  return "";
}

/// Any, from a seed that all ranks have.
inline Call random_call(std::uint64_t seed, int size, std::size_t most) {
  auto draw = [&, i = std::uint64_t{0}](std::uint64_t below) mutable {
    return random_word(seed, i++) % below;
  };
  Call call;
  call.what = static_cast<What>(draw(kWhats));
  const std::size_t limits[] = {4, 20, 300, most};
  call.count = draw(limits[draw(4)] + 1);
  call.root = static_cast<int>(draw(static_cast<std::uint64_t>(size)));
  call.in_place = draw(2) == 1;
  call.own_operation = draw(2) == 1;
  call.seed = seed;
  return call;
}

}  // namespace unisono::node
