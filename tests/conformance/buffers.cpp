#include "buffers.h"

#include <algorithm>
#include <cstring>

namespace conformance {

namespace {

constexpr MPI_Aint kMargin = 64;

template <class F>
void each_entry(const Block& block, F f) {
  for (long long i = 0; i < block.count; ++i)
    for (const Entry& e : block.type->map()) f(e, block.at + i * block.type->extent() + e.at);
}

}  // namespace

void Buffer::cover(const Block& block) {
  if (block.count == 0 || block.type->empty()) return;
  const MPI_Aint last_instance = (block.count - 1) * block.type->extent();
  low_ = std::min(low_, block.at + block.type->first());
  high_ = std::max(high_, block.at + last_instance + block.type->last());
}

void Buffer::allocate(Rng& rng) {
  // Offset 0 keeps the alignment of the allocation: reductions on basic types need it.
  const MPI_Aint before = (-low_ + kMargin + 63) / 64 * 64;
  origin_ = static_cast<std::size_t>(before);
  memory_.resize(static_cast<std::size_t>(before + high_ + kMargin));
  std::size_t i = 0;
  for (; i + 8 <= memory_.size(); i += 8) {
    const std::uint64_t word = rng.next();
    std::memcpy(&memory_[i], &word, 8);
  }
  for (; i < memory_.size(); ++i) memory_[i] = static_cast<std::uint8_t>(rng.next());
}

void Buffer::pack(const Block& block, std::vector<std::uint8_t>& to) const {
  each_entry(block, [&](const Entry& e, MPI_Aint at) {
    const auto from = memory_.begin() + static_cast<MPI_Aint>(origin_) + at;
    to.insert(to.end(), from, from + e.basic->size);
  });
}

const std::uint8_t* Buffer::unpack(const Block& block, const std::uint8_t* from) {
  each_entry(block, [&](const Entry& e, MPI_Aint at) {
    std::memcpy(static_cast<char*>(address()) + at, from, static_cast<std::size_t>(e.basic->size));
    from += e.basic->size;
  });
  return from;
}

void Buffer::write_values(const Block& block, const Reduction& reduction, Rng& rng) {
  each_entry(block, [&](const Entry& e, MPI_Aint at) {
    write_value(rng, *e.basic, reduction, static_cast<char*>(address()) + at);
  });
}

void Buffer::mark(std::vector<Expect>& expect, const Block& block, Expect what) const {
  expect.resize(memory_.size(), Expect::untouched);
  each_entry(block, [&](const Entry& e, MPI_Aint at) {
    const auto begin = expect.begin() + static_cast<MPI_Aint>(origin_) + at;
    std::fill_n(begin, e.basic->size, Expect::undefined);
    std::fill_n(begin, e.basic->value_bytes, what);
  });
}

void Buffer::spoil(const std::vector<Expect>& expect) {
  for (std::size_t i = 0; i < expect.size(); ++i) {
    if (expect[i] != Expect::result) continue;
    memory_[i] ^= 1;
    return;
  }
}

}  // namespace conformance
