#include "apps/dsm/diff.h"

#include <cstring>

namespace apps::dsm {

namespace {

constexpr std::size_t kWord = 4;

struct Head {
  PageNumber page;
  std::uint32_t runs;
};

struct Run {
  std::uint32_t first, words;
};

template <class Part>
void append(Bytes& to, const Part* from, std::size_t count) {
  const std::size_t at = to.size(), bytes = count * sizeof(Part);
  to.resize(at + bytes);
  std::memcpy(to.data() + at, from, bytes);
}

template <class Part>
Part read(const std::byte* from) {
  Part part;
  std::memcpy(&part, from, sizeof part);
  return part;
}

}  // namespace

bool append_changes(PageNumber page, const std::byte* now, const std::byte* before,
                    std::size_t page_bytes, Bytes& record) {
  const std::size_t words = page_bytes / kWord, at = record.size();
  const auto differs = [&](std::size_t word) {
    return std::memcmp(now + word * kWord, before + word * kWord, kWord) != 0;
  };
  Head head{page, 0};
  append(record, &head, 1);
  for (std::size_t word = 0; word < words; ++word) {
    if (!differs(word)) continue;
    const std::size_t first = word;
    while (word < words && differs(word)) ++word;
    const Run run{static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(word - first)};
    append(record, &run, 1);
    append(record, now + first * kWord, run.words * kWord);
    ++head.runs;
  }
  if (head.runs == 0) {
    record.resize(at);
    return false;
  }
  std::memcpy(record.data() + at, &head, sizeof head);
  return true;
}

void append_page(PageNumber page, const std::byte* now, std::size_t page_bytes, Bytes& record) {
  const Head head{page, 1};
  const Run run{0, static_cast<std::uint32_t>(page_bytes / kWord)};
  append(record, &head, 1);
  append(record, &run, 1);
  append(record, now, page_bytes);
}

PageNumber Records::page() const { return read<Head>(at_).page; }

void Records::apply(std::byte* page) {
  const Head head = read<Head>(at_);
  at_ += sizeof head;
  for (std::uint32_t i = 0; i < head.runs; ++i) {
    const Run run = read<Run>(at_);
    at_ += sizeof run;
    std::memcpy(page + run.first * kWord, at_, run.words * kWord);
    at_ += run.words * kWord;
  }
}

}  // namespace apps::dsm
