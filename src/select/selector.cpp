#include "select/selector.h"

#include <algorithm>
#include <cassert>
#include <tuple>
#include <utility>

#include "algorithms/composition.h"
#include "select/online/key.h"
#include "select/parameters.h"
#include "select/safe_arms.h"

namespace unisono {

namespace {

// Within a node, where no row says otherwise.
constexpr std::string_view kOtherWay = "shm";

constexpr std::size_t index(Collective c) { return static_cast<std::size_t>(c); }

// What an algorithm wants of counts the runtime can supply.
std::optional<std::string_view> unmet(const Spec& spec, const Facts& facts) {
  return unmet_restriction(*spec.algorithm, conditions(facts), spec.params);
}

Choice as_asked(const Spec& spec, const Facts& facts, std::string_view why) {
  if (spec.is_native()) return {nullptr, {}, why};
  if (const auto reason = unmet(spec, facts)) return {nullptr, {}, *reason, spec.algorithm};
  return {.algorithm = spec.algorithm,
          .params = spec.params,
          .why = why,
          .is_asked_for = true,
          .is_forced = true};
}

/// What was measured within a node says nothing of several.
bool is_about(const Default& row, int size, int nodes) {
  return size >= row.least_ranks && size <= row.most_ranks && nodes == 1;
}

/// Below so many bytes, where nobody waits for all, ranks of Open MPI run ahead farther than those
/// in the kernels of the node, which hold eight calls. Where ranks share cores that saves turns:
/// four on two cores take 1.5 to 2 times as long in the kernels for calls of 8 B in a row, and at
/// 512 B a quarter. The table was measured with barriers between the calls.
constexpr Count kRunsAhead = 128;

bool runs_ahead(const Default& row, const Facts& facts) {
  const Semantics& s = semantics(row.collective);
  return row.place == Place::oversubscribed && row.flavour == "openmpi" &&
         facts.bytes < kRunsAhead && s.knows_bytes == Who::all && !synchronises(s);
}

bool holds(const Default& row, const Facts& facts) {
  return is_about(row, facts.size, facts.nodes) && facts.bytes >= row.least_bytes &&
         facts.bytes <= row.most_bytes && !runs_ahead(row, facts);
}

bool asks_for_network(const Spec& spec) {
  if (spec.algorithm == nullptr || spec.params.transport == TransportKind::shm) return false;
  return spec.params.segment == kOpenSegment || (spec.algorithm->restrictions & kMulticast) != 0;
}

auto order(const ProfileCell& cell) { return std::tuple(cell.ranks, cell.nodes, cell.least_bytes); }

}  // namespace

std::array<Spec, kCollectives> Selector::filled() {
  std::array<Spec, kCollectives> specs;
  for (Spec& spec : specs) spec.is_default = true;
  return specs;
}

Selector::Selector(std::string_view flavour, Place place) : flavour_(flavour) {
  for (const Default& row : defaults()) {
    if (row.flavour != flavour || row.place != place) continue;
    const auto spec = parse_spec(row.collective, row.spec);
    assert(spec && "a row of the table of defaults names no algorithm");
    note(row.collective, *spec);
    cells_[index(row.collective)].push_back({&row, *spec});
  }
}

void Selector::use(std::vector<ProfileCell> cells, std::string why, bool learned) {
  if (cells.empty()) return;
  Book& book = books_.emplace_back();
  book.why = std::move(why);
  book.learned = learned;
  std::sort(cells.begin(), cells.end(),
            [](const auto& a, const auto& b) { return order(a) < order(b); });
  for (const ProfileCell& cell : cells) {
    note(cell.collective, cell.spec);
    book.cells[index(cell.collective)].push_back(cell);
  }
}

Selector::Entry Selector::profiled(const Facts& facts) const {
  const std::tuple wanted(facts.size, facts.nodes, facts.bytes);
  for (const Book& book : books_) {
    if (book.learned && keeps_order(facts)) continue;
    const auto& cells = book.cells[index(facts.collective)];
    const auto next = std::upper_bound(
        cells.begin(), cells.end(), wanted,
        [](const auto& key, const ProfileCell& cell) { return key < order(cell); });
    if (next == cells.begin()) continue;
    const ProfileCell& cell = *std::prev(next);
    if (cell.ranks == facts.size && cell.nodes == facts.nodes && cell.most_bytes >= facts.bytes)
      return {&cell, &book};
  }
  return {};
}

// A spec that was taken back is still noted: that costs a pointer.
void Selector::note(Collective collective, const Spec& spec) {
  if (spec.algorithm != nullptr && unisono::reads_topology(*spec.algorithm, spec.params))
    reads_topology_ |= set_of(collective);
  asks_for_network_ |= unisono::asks_for_network(spec);
}

Result<Spec> Selector::force(Collective collective, std::string_view text) {
  auto spec = parse_spec(collective, text);
  if (!spec) return spec;
  forced_[index(collective)] = *spec;
  note(collective, *spec);
  return spec;
}

void Selector::reproduce(Reproducible what) {
  keeps_runs_ = what == Reproducible::runs;
  if (what != Reproducible::placement) return;
  for (const FixedOrder& row : kFixedOrders) {
    const auto spec = parse_spec(row.collective, row.spec);
    assert(spec && "a row of the fixed orders names no algorithm");
    fixed_.emplace_back(&row, *spec);
  }
}

bool Selector::is_left_online(Collective collective, int nodes) const {
  if (is_fixed(collective)) return false;
  if (nodes == 1 && contains(online_.in_node, collective)) return true;
  return contains(online_.collectives, collective);
}

// Between hosts an order is kept by one arm alone.
bool Selector::is_online(const Facts& facts) const {
  if (is_fixed(facts.collective) || !is_open(facts)) return false;
  if (facts.nodes > 1 && online_.checks_between)
    return !keeps_order(facts) && !has_cell_in_class(facts) && safe_ && safe_->arm(facts);
  return is_left_online(facts.collective, facts.nodes) && !keeps_kernels(facts) &&
         (facts.nodes > 1 ? !has_cell_in_class(facts)
                          : online_.in_node == 0 || is_same_in_class(facts));
}

bool Selector::is_open(const Facts& facts) const {
  return forced_[index(facts.collective)].is_default && profiled(facts).cell == nullptr;
}

bool Selector::keeps_kernels(const Facts& facts) const {
  return facts.nodes == 1 && keeps_order(facts) && contains(online_.in_node, facts.collective) &&
         is_open(facts);
}

Choice Selector::kernels_for(const Facts& facts) const {
  Spec spec = *parse_spec(facts.collective, kOtherWay);
  for (const Cell& cell : cells_[index(facts.collective)])
    if (holds(*cell.row, facts) && cell.spec.algorithm != nullptr &&
        !sends_messages(*cell.spec.algorithm))
      spec = cell.spec;
  constexpr std::string_view kWhy = "reproducible";
  if (unmet(spec, facts)) return {nullptr, {}, kWhy};
  return {.algorithm = spec.algorithm, .params = spec.params, .why = kWhy, .keeps_order = true};
}

bool Selector::has_cell_in_class(const Facts& facts) const {
  const auto [least, most] = bytes_of_class(size_class(facts.bytes));
  for (const Book& book : books_)
    for (const ProfileCell& cell : book.cells[index(facts.collective)])
      if (cell.ranks == facts.size && cell.nodes == facts.nodes && cell.least_bytes <= most &&
          cell.most_bytes >= least)
        return true;
  return false;
}

bool Selector::is_same_in_class(const Facts& facts) const {
  if (has_cell_in_class(facts)) return false;
  const auto [least, most] = bytes_of_class(size_class(facts.bytes));
  bool has_border = false, has_others = false;
  for (const Cell& cell : cells_[index(facts.collective)]) {
    const Default& row = *cell.row;
    const bool outside = row.most_bytes < least || row.least_bytes > most;
    if (outside || !is_about(row, facts.size, facts.nodes)) continue;
    has_border = has_border || row.least_bytes > least || row.most_bytes < most;
    has_others = has_others || row.spec != kOtherWay;
  }
  return !has_border || !has_others;
}

CollectiveSet Selector::candidates() const {
  CollectiveSet set = 0;
  for (std::size_t c = 0; c < forced_.size(); ++c) {
    const auto is_in = [c](const Book& book) {
      return std::any_of(book.cells[c].begin(), book.cells[c].end(),
                         [](const auto& cell) { return !cell.spec.is_native(); });
    };
    const auto collective = static_cast<Collective>(c);
    const bool chosen = contains(online_.collectives | online_.in_node, collective) ||
                        is_fixed(collective) || safe_ || !cells_[c].empty() ||
                        std::any_of(books_.begin(), books_.end(), is_in);
    if (forced_[c].is_default ? chosen : !forced_[c].is_native()) set |= CollectiveSet{1} << c;
  }
  return set;
}

bool Selector::asks_for_messages() const {
  const auto sends = [](const Spec& spec) {
    return spec.algorithm != nullptr && (spec.algorithm->restrictions & kOneNode) == 0;
  };
  const auto has_any = [&sends](const std::vector<ProfileCell>& cells) {
    return std::any_of(cells.begin(), cells.end(),
                       [&sends](const ProfileCell& cell) { return sends(cell.spec); });
  };
  return std::any_of(forced_.begin(), forced_.end(), sends) ||
         std::any_of(books_.begin(), books_.end(), [&has_any](const Book& book) {
           return std::any_of(book.cells.begin(), book.cells.end(), has_any);
         });
}

bool Selector::forces_messages_in_node() const {
  return std::any_of(forced_.begin(), forced_.end(), [](const Spec& spec) {
    return spec.algorithm != nullptr && spec.params.transport == TransportKind::shm;
  });
}

bool Selector::forces_kernels() const {
  return std::any_of(forced_.begin(), forced_.end(), [](const Spec& spec) {
    return spec.algorithm != nullptr && (spec.algorithm->restrictions & kOneNode) != 0;
  });
}

bool Selector::has_defaults_only() const {
  return fixed_.empty() && online_.collectives == 0 &&
         std::all_of(forced_.begin(), forced_.end(), [](const Spec& s) { return s.is_default; }) &&
         books_.empty();
}

ByteRange Selector::reach(Collective collective, int size, int nodes) const {
  const Spec& forced = forced_[index(collective)];
  if (!forced.is_default) return forced.is_native() ? ByteRange() : ByteRange::all();
  if (is_left_online(collective, nodes) || is_fixed(collective)) return ByteRange::all();
  ByteRange range;
  for (const Book& book : books_)
    for (const ProfileCell& cell : book.cells[index(collective)])
      if (cell.ranks == size && cell.nodes == nodes && !cell.spec.is_native())
        range.include(cell.least_bytes, cell.most_bytes);
  for (const auto& [row, spec] : cells_[index(collective)])
    if (is_about(*row, size, nodes)) range.include(row->least_bytes, row->most_bytes);
  if (safe_)
    if (const ByteRange safe = safe_->reach(collective, size, nodes); !safe.is_empty())
      range.include(safe.least, safe.most);
  return range;
}

bool Selector::covers(const Facts& facts) const {
  const Spec& forced = forced_[index(facts.collective)];
  if (!forced.is_default) return !forced.is_native();
  if (is_fixed(facts.collective)) return true;
  if (const ProfileCell* cell = profiled(facts).cell) return !cell->spec.is_native();
  if (is_left_online(facts.collective, facts.nodes)) return true;
  if (safe_ && safe_->reach(facts.collective, facts.size, facts.nodes).holds(facts.bytes))
    return true;
  const auto& cells = cells_[index(facts.collective)];
  return std::any_of(cells.begin(), cells.end(),
                     [&](const Cell& cell) { return holds(*cell.row, facts); });
}

Choice Selector::choose(const Facts& facts, const Spec& asked, std::string_view why) const {
  if (!forced_[index(facts.collective)].is_default || asked.is_default) return choose(facts);
  return as_asked(asked, facts, why);
}

Choice Selector::choose(const Facts& facts) const {
  const Spec& forced = forced_[index(facts.collective)];
  if (!forced.is_default) return as_asked(forced, facts, "forced");
  for (const auto& [row, spec] : fixed_)
    if (row->collective == facts.collective && facts.bytes <= row->most_bytes &&
        !unmet(spec, facts))
      return as_asked(spec, facts, "reproducible");
  if (keeps_kernels(facts)) return kernels_for(facts);
  if (const auto [cell, book] = profiled(facts); cell != nullptr) {
    if (cell->spec.is_native()) return {nullptr, {}, book->why};
    if (!unmet(cell->spec, facts))
      return {.algorithm = cell->spec.algorithm,
              .params = cell->spec.params,
              .why = book->why,
              .is_asked_for = true};
  }
  if (safe_)
    if (const auto arm = safe_->arm(facts); arm && arm->leads)
      return {.algorithm = arm->spec.algorithm, .params = arm->spec.params, .why = "safe"};
  for (const Cell& cell : cells_[index(facts.collective)]) {
    if (!holds(*cell.row, facts)) continue;
    if (cell.spec.algorithm == nullptr || unmet(cell.spec, facts)) continue;
    return {cell.spec.algorithm, cell.spec.params, kDefaultsPage};
  }
  return {nullptr, {}, "no better one known"};
}

}  // namespace unisono
