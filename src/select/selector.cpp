#include "select/selector.h"

#include <algorithm>
#include <cassert>

namespace unisono {

namespace {

constexpr std::size_t index(Collective c) { return static_cast<std::size_t>(c); }

// What an algorithm wants of counts the runtime can supply.
std::optional<std::string_view> unmet(const Algorithm& algorithm, const Facts& facts) {
  return unmet_restriction(algorithm, facts.size, facts.commutative);
}

bool holds(const Default& row, int size, Count bytes) {
  return size >= row.least_ranks && size <= row.most_ranks && bytes >= row.least_bytes &&
         bytes <= row.most_bytes;
}

}  // namespace

std::array<Spec, kCollectives> Selector::filled() {
  std::array<Spec, kCollectives> specs;
  for (Spec& spec : specs) spec.is_default = true;
  return specs;
}

Selector::Selector(std::string_view flavour, Place place) {
  for (const Default& row : defaults()) {
    if (row.flavour != flavour || row.place != place) continue;
    const auto spec = parse_spec(row.collective, row.spec);
    assert(spec && "a row of the table of defaults names no algorithm");
    cells_[index(row.collective)].push_back({&row, *spec});
  }
}

Result<Spec> Selector::force(Collective collective, std::string_view text) {
  auto spec = parse_spec(collective, text);
  if (spec) forced_[index(collective)] = *spec;
  return spec;
}

CollectiveSet Selector::candidates() const {
  CollectiveSet set = 0;
  for (std::size_t c = 0; c < forced_.size(); ++c)
    if (forced_[c].is_default ? !cells_[c].empty() : !forced_[c].is_native())
      set |= CollectiveSet{1} << c;
  return set;
}

bool Selector::covers(Collective collective, int size, Count bytes) const {
  const Spec& forced = forced_[index(collective)];
  if (!forced.is_default) return !forced.is_native();
  const auto& cells = cells_[index(collective)];
  return std::any_of(cells.begin(), cells.end(),
                     [&](const Cell& cell) { return holds(*cell.row, size, bytes); });
}

Choice Selector::choose(const Facts& facts) const {
  const Spec& forced = forced_[index(facts.collective)];
  if (forced.is_native()) return {nullptr, {}, "forced"};
  if (!forced.is_default) {
    if (const auto reason = unmet(*forced.algorithm, facts))
      return {nullptr, {}, *reason, forced.algorithm};
    return {forced.algorithm, forced.params, "forced"};
  }
  for (const Cell& cell : cells_[index(facts.collective)]) {
    if (!holds(*cell.row, facts.size, facts.bytes)) continue;
    if (cell.spec.algorithm == nullptr || unmet(*cell.spec.algorithm, facts)) continue;
    return {cell.spec.algorithm, cell.spec.params, kDefaultsPage};
  }
  return {nullptr, {}, "no better one known"};
}

}  // namespace unisono
