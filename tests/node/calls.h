// Calls of all kernels, and whether their results are right.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "tests/node/data.h"
#include "tests/node/irregular_calls.h"

namespace unisono::node {

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
      default: return {};
    }
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
  const Protocol w = call.way;
  const Reduction reduction = reduction_of(call);
  switch (call.what) {
    case What::barrier: return barrier(team, w);
    case What::bcast: return bcast(team, output, n, call.root, w);
    case What::gather: return gather(team, input, output, n, call.root, w);
    case What::scatter: return scatter(team, input, output, n, call.root, w);
    case What::allgather: return allgather(team, input, output, n, w);
    case What::alltoall: return alltoall(team, input, output, n, w);
    case What::reduce: return reduce(team, input, output, n, reduction, call.root, w);
    case What::allreduce: return allreduce(team, input, output, n, reduction, w);
    case What::reduce_scatter_block:
      return reduce_scatter_block(team, input, output, n, reduction, w);
    case What::scan: return scan(team, input, output, n, reduction, w);
    case What::exscan: return exscan(team, input, output, n, reduction, w);
    default: return;
  }
}

/// Empty, or what is wrong.
inline std::string run_and_check(Team& team, const Call& call) {
  if (is_irregular(call.what)) {
    const bool right = runs_irregularly(team, call);
    if (t_memory_taken > 0) return text(call, team) + ": took memory";
    return right ? "" : text(call, team) + ": wrong bytes";
  }
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
  } else if (is_in_place(call, team.rank()) && !expected.empty()) {
    // The block of a gather lies at its place; everything else at the start.
    const bool gathers = call.what == What::gather || call.what == What::allgather;
    from = into + (gathers ? mine : 0);
    std::memcpy(from, input.data(), in_bytes);
  }
  {
    const InKernel kernel;
    run(team, call, from, into);
  }
  if (t_memory_taken > 0) return text(call, team) + ": took memory";
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (into[i] != expected[i]) return text(call, team) + ": byte " + std::to_string(i);
  // Behind the result there is what was there, be it input that was reduced in place.
  const bool kept = reduces(call.what) && from == into;
  for (std::size_t i = expected.size(); i < output.size() && into == output.data(); ++i)
    if (output[i] != (kept && i < in_bytes ? input[i] : kUntouched))
      return text(call, team) + ": wrote byte " + std::to_string(i);
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
