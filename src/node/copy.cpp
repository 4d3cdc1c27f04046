#include "node/copy.h"

#include <algorithm>
#include <cstdint>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace unisono::node {

#if defined(__x86_64__)

// Whole lines, for the processor gathers a line before it writes it. Wider instructions than these,
// which every x86-64 has, are no faster: the memory is the limit.
void stream_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
  constexpr std::size_t kLine = 64, kWord = sizeof(__m128i);
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(to) % kLine;
  const std::size_t head = std::min(before, bytes), lines = (bytes - head) / kLine * kLine;
  copy_bytes(to, from, head);
  for (std::size_t at = head; at < head + lines; at += kLine)
    for (std::size_t word = at; word < at + kLine; word += kWord)
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + word),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + word)));
  const std::size_t done = head + lines;
  copy_bytes(to + done, from + done, bytes - done);
}

void fence_streams() { _mm_sfence(); }

#else

void stream_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
  copy_bytes(to, from, bytes);
}
void fence_streams() {}

#endif

}  // namespace unisono::node
