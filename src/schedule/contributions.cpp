#include "schedule/contributions.h"

#include <algorithm>
#include <utility>

namespace unisono {

Contributions::Contributions(int ranks, bool ordered) : ordered_(ordered) {
  const auto words = static_cast<std::size_t>(ranks + 63) / 64;
  sets_.push_back({std::vector<std::uint64_t>(words), 0, 0});
  for (int r = 0; r < ranks; ++r) {
    Set set{std::vector<std::uint64_t>(words), r, r + 1};
    set.bits[static_cast<std::size_t>(r) / 64] |= std::uint64_t{1} << (r % 64);
    intern(std::move(set));
  }
}

SetId Contributions::intern(Set set) {
  std::string key(reinterpret_cast<const char*>(set.bits.data()),
                  set.bits.size() * sizeof set.bits[0]);
  const auto [it, added] = ids_.try_emplace(std::move(key), static_cast<SetId>(sets_.size()));
  if (added) sets_.push_back(std::move(set));
  return it->second;
}

SetId Contributions::first(int end) {
  if (end <= 0) return 0;
  Set set{std::vector<std::uint64_t>(sets_[0].bits.size()), 0, end};
  for (int r = 0; r < end; ++r)
    set.bits[static_cast<std::size_t>(r) / 64] |= std::uint64_t{1} << (r % 64);
  return intern(std::move(set));
}

std::optional<SetId> Contributions::merge(SetId left, SetId right) {
  const std::uint64_t key = (std::uint64_t{left} << 32) | right;
  const auto [it, added] = merged_.try_emplace(key, 0);
  if (!added) return it->second == 0 ? std::nullopt : std::optional(it->second);
  const Set& a = sets_[left];
  const Set& b = sets_[right];
  Set both = a;
  for (std::size_t w = 0; w < both.bits.size(); ++w) {
    if ((a.bits[w] & b.bits[w]) != 0) return std::nullopt;
    both.bits[w] |= b.bits[w];
  }
  if (ordered_ && a.end != b.begin) return std::nullopt;
  both.begin = std::min(a.begin, b.begin);
  both.end = std::max(a.end, b.end);
  it->second = intern(std::move(both));
  return it->second;
}

std::string Contributions::text(SetId id) const {
  if (id == 0) return "nothing";
  const Set& set = sets_[id];
  const auto has = [&](int r) {
    return r < set.end && (set.bits[static_cast<std::size_t>(r) / 64] >> (r % 64) & 1) != 0;
  };
  std::string out = "{";
  for (int r = set.begin; r < set.end; ++r) {
    if (!has(r)) continue;
    int last = r;
    while (has(last + 1)) ++last;
    if (out.size() > 1) out += ", ";
    out += std::to_string(r);
    if (last > r) out += ".." + std::to_string(last);
    r = last;
  }
  return out + "}";
}

}  // namespace unisono
