#include "algorithms/composition.h"

#include <algorithm>
#include <deque>
#include <mutex>

namespace unisono {

namespace {

using enum Collective;

constexpr std::optional<Collective> kNothing;

// By collective; rooted collectives have the root in the first phase or the last as it must be.
constexpr FormRow kForms[] = {
    {barrier, Form::full, barrier, kNothing, barrier, true, false},
    {barrier, Form::leaders, barrier, barrier, barrier, false, false},
    {bcast, Form::leaders, bcast, kNothing, bcast, false, false},
    {bcast, Form::lanes, scatter, allgather, bcast, true, false},
    {gather, Form::leaders, gather, kNothing, gather, false, false},
    {scatter, Form::leaders, scatter, kNothing, scatter, false, false},
    {allgather, Form::lanes, allgather, kNothing, allgather, true, false},
    {allgather, Form::leaders, gather, bcast, allgather, false, false},
    {alltoall, Form::lanes, alltoall, kNothing, alltoall, true, false},
    {alltoall, Form::leaders, gather, scatter, alltoall, false, false},
    {reduce, Form::leaders, reduce, kNothing, reduce, false, false},
    {reduce, Form::lanes, reduce_scatter, gather, reduce, true, false},
    {allreduce, Form::lanes, reduce_scatter, allgather, allreduce, true, false},
    {allreduce, Form::full, allreduce, kNothing, allreduce, true, false},
    {allreduce, Form::leaders, reduce, bcast, allreduce, false, false},
    {reduce_scatter, Form::lanes, reduce_scatter, kNothing, reduce_scatter, true, true},
    {reduce_scatter, Form::leaders, reduce, scatter, reduce_scatter, false, false},
    {scan, Form::leaders, scan, bcast, exscan, false, false},
    {exscan, Form::leaders, exscan, bcast, exscan, false, false},
};

constexpr std::string_view kMisfit = "has a shape that does not fit the number of ranks";

bool is_composed(const Inner& inner) {
  return inner.algorithm != nullptr && (inner.algorithm->restrictions & kComposed) != 0;
}

/// The width nearest to the square root; among the divisors if the grid must be full.
int balanced_width(int size, bool full) {
  int width = 1;
  while (width * width < size) ++width;
  while (full && size % width != 0) ++width;
  return width;
}

}  // namespace

Collective regular(Collective collective) {
  switch (collective) {
    case gatherv: return gather;
    case scatterv: return scatter;
    case allgatherv: return allgather;
    case reduce_scatter_block: return reduce_scatter;
    default: return collective;
  }
}

std::span<const FormRow> forms_of(Collective collective) {
  const auto is_other = [wanted = regular(collective)](const FormRow& row) {
    return row.collective != wanted;
  };
  const auto* begin = std::find_if_not(std::begin(kForms), std::end(kForms), is_other);
  return {begin, std::find_if(begin, std::end(kForms), is_other)};
}

const FormRow* find_form(Collective collective, Form form) {
  for (const FormRow& row : forms_of(collective))
    if (row.form == form) return &row;
  return nullptr;
}

Inner textbook(Collective collective) {
  const auto name = [&]() -> std::string_view {
    switch (regular(collective)) {
      case barrier: return "dissemination";
      case bcast:
      case gather:
      case scatter:
      case reduce: return "binomial";
      case reduce_scatter: return "pairwise";
      case allreduce:
      case scan:
      case exscan: return "recursive_doubling";
      default: return "ring";
    }
  }();
  const Algorithm* algorithm = find_algorithm(collective, name);
  return {algorithm, default_params(*algorithm)};
}

const Composition& composition_of(const Params& params, Collective collective) {
  if (params.composition != nullptr) return *params.composition;
  static const auto all = [] {
    std::array<Composition, kCollectives> result;
    for (int c = 0; c < kCollectives; ++c) {
      const auto forms = forms_of(static_cast<Collective>(c));
      if (forms.empty()) continue;
      // A form that serves any number of ranks.
      const FormRow& form = *find_form(static_cast<Collective>(c), Form::leaders);
      Composition& composition = result[static_cast<std::size_t>(c)];
      composition.form = form.form;
      composition.rows = {textbook(form.first), textbook(form.second.value_or(form.first))};
      composition.columns = textbook(form.columns);
    }
    return result;
  }();
  return all[static_cast<std::size_t>(collective)];
}

const Composition* intern(const Composition& composition) {
  static std::mutex& mutex = *new std::mutex;
  static auto& all = *new std::deque<Composition>;
  const std::lock_guard lock(mutex);
  const auto known = std::find(all.begin(), all.end(), composition);
  if (known != all.end()) return &*known;
  return &all.emplace_back(composition);
}

int width_of(const Composition& composition, const FormRow& form, int size) {
  if (composition.shape.empty()) return balanced_width(size, form.full_grid);
  return std::min(composition.shape.back(), size);
}

namespace {

bool fits(const Composition& composition, const FormRow& form, const Grid& grid, int size) {
  const auto& shape = composition.shape;
  if (form.full_grid && !grid.is_full()) return false;
  if (shape.empty()) return true;
  if (shape.back() > size) return false;
  // From the rows outwards, each dimension in so many of the next.
  int groups = grid.rows();
  for (std::size_t i = shape.size() - 2; i > 0; --i) groups = (groups + shape[i] - 1) / shape[i];
  return groups == shape.front();
}

}  // namespace

std::optional<std::string_view> unmet_composition(const Composition& composition,
                                                  Collective collective, int size,
                                                  bool commutative) {
  const FormRow& form = *find_form(collective, composition.form);
  const Grid grid(size, width_of(composition, form, size));
  if (!fits(composition, form, grid, size)) return kMisfit;
  // Its leaders exchange blocks of several lengths, which a grid cannot.
  if (collective == alltoall && is_composed(composition.columns) && !grid.is_full()) return kMisfit;
  if (form.commutative && !commutative) return "needs a commutative operation in this form";
  if (has_calls(composition) && !grid.is_full())
    return "needs rows of equal length for collectives of the MPI library or of a node";
  const auto unmet = [&](const Inner& inner, int ranks) -> std::optional<std::string_view> {
    // Which ranks share a node is found out when their communicator is made.
    if (inner.is_called() || ranks == 1) return std::nullopt;
    // Two phases on one pair of ranks would share the positions of bound messages.
    if ((inner.algorithm->restrictions & kBindsPeers) != 0)
      return "cannot hold an algorithm whose chains depend on who arrives when";
    return unmet_restriction(*inner.algorithm, {ranks, commutative}, inner.params);
  };
  for (const int length : {grid.width(), grid.length(grid.rows() - 1)}) {
    for (const Inner& inner : composition.rows)
      if (const auto why = unmet(inner, length)) return why;
  }
  return unmet(composition.columns, grid.rows());
}

namespace {

/// Of the phases, those of inner grids too.
template <class Is>
bool any_phase(const Composition& composition, Is is) {
  const auto holds = [&is](const Inner& inner) {
    return is(inner) ||
           (inner.params.composition != nullptr && any_phase(*inner.params.composition, is));
  };
  return std::any_of(composition.rows.begin(), composition.rows.end(), holds) ||
         holds(composition.columns);
}

}  // namespace

bool has_calls(const Composition& composition) {
  return any_phase(composition, [](const Inner& inner) { return inner.is_called(); });
}

bool runs_in_nodes(const Composition& composition) {
  return any_phase(composition, [](const Inner& inner) { return inner.in_node(); });
}

std::vector<CalledLine> called_lines(const Composition& composition, Collective collective,
                                     int size) {
  const FormRow& form = *find_form(collective, composition.form);
  const Grid grid(size, width_of(composition, form, size));
  const auto& [first, second] = composition.rows;
  std::vector<CalledLine> lines;
  const auto add = [&lines](const CalledLine& called) {
    if (called.line.size > 1) lines.push_back(called);
  };
  if (first.is_called() || second.is_called())
    add({{0, 1, grid.width()}, first.in_node() || second.in_node()});
  if (composition.columns.is_called())
    add({{0, grid.width(), grid.rows()}, composition.columns.in_node()});
  if (const Composition* nested = composition.columns.params.composition)
    for (const auto& [line, in_node] : called_lines(*nested, form.columns, grid.rows()))
      add({{0, line.stride * grid.width(), line.size}, in_node});
  return lines;
}

}  // namespace unisono
