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
    {barrier, Form::full, barrier, kNothing, barrier, false, false},
    {barrier, Form::leaders, barrier, barrier, barrier, false, false},
    {bcast, Form::leaders, bcast, kNothing, bcast, false, false},
    {bcast, Form::lanes, scatter, allgather, bcast, false, false},
    {gather, Form::leaders, gather, kNothing, gather, false, false},
    {scatter, Form::leaders, scatter, kNothing, scatter, false, false},
    {allgather, Form::lanes, allgather, kNothing, allgather, true, false},
    {allgather, Form::split, allgather, kNothing, allgather, false, false},
    {allgather, Form::leaders, gather, bcast, allgather, false, false},
    {alltoall, Form::lanes, alltoall, kNothing, alltoall, false, false},
    {alltoall, Form::leaders, gather, scatter, alltoall, false, false},
    {reduce, Form::leaders, reduce, kNothing, reduce, false, false},
    {reduce, Form::lanes, reduce_scatter, gather, reduce, false, false},
    {allreduce, Form::lanes, reduce_scatter, allgather, allreduce, false, false},
    {allreduce, Form::full, allreduce, kNothing, allreduce, false, false},
    {allreduce, Form::leaders, reduce, bcast, allreduce, false, false},
    {reduce_scatter, Form::lanes, reduce_scatter, kNothing, reduce_scatter, true, true},
    {reduce_scatter, Form::split, reduce_scatter, kNothing, reduce_scatter, false, false},
    {reduce_scatter, Form::leaders, reduce, scatter, reduce_scatter, false, false},
    {scan, Form::leaders, scan, bcast, exscan, false, false},
    {exscan, Form::leaders, exscan, bcast, exscan, false, false},
};

constexpr std::string_view kMisfit = "has a shape that does not fit the number of ranks";

bool is_composed(const NestedSpec& spec) {
  return spec.algorithm != nullptr && (spec.algorithm->restrictions & kComposed) != 0;
}

/// The width nearest to the square root; among the divisors if rows are to be of equal length.
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

NestedSpec textbook(Collective collective) {
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

Grid grid_of(const Composition& composition, int size, const Topology* topology) {
  if (!composition.levels.empty()) return Grid(*topology->at(composition.levels.back()));
  // A row that is too short takes lanes from all others.
  if (composition.shape.empty())
    return {size, balanced_width(size, composition.form != Form::leaders)};
  return {size, std::min(composition.shape.back(), size)};
}

const Topology* topology_of_columns(const Composition& composition, const Topology* topology) {
  return composition.levels.empty() ? nullptr : &topology->of_groups(composition.levels.back());
}

namespace {

bool knows_rows(const Composition& composition, const Topology* topology) {
  return composition.levels.empty() ||
         (topology != nullptr && topology->at(composition.levels.back()) != nullptr);
}

/// Whether a shape in numbers is that of a grid of so many ranks.
bool fits(const std::vector<int>& shape, const Grid& grid, int size) {
  if (shape.empty()) return true;
  if (shape.back() > size) return false;
  // From the rows outwards, each dimension in so many of the next.
  int groups = grid.rows();
  for (std::size_t i = shape.size() - 2; i > 0; --i) groups = (groups + shape[i] - 1) / shape[i];
  return groups == shape.front();
}

/// Why sums cannot be in the order that MPI wants, or nothing.
std::optional<std::string_view> unmet_order(const FormRow& form, const Grid& grid,
                                            bool commutative) {
  const bool ordered = grid.is_in_rank_order();
  if (contains(set_of(scan, exscan), form.collective))
    return ordered ? std::nullopt : std::optional("needs rows of adjacent ranks");
  if (commutative || !is_reducing(form.collective)) return std::nullopt;
  if (form.commutative) return "needs a commutative operation in this form";
  if (!ordered) return "needs a commutative operation, or rows of adjacent ranks";
  return std::nullopt;
}

}  // namespace

std::optional<std::string_view> unmet_composition(const Composition& composition,
                                                  Collective collective,
                                                  const Conditions& conditions) {
  const int size = conditions.size;
  const bool commutative = conditions.commutative;
  const Topology* topology = conditions.topology;
  if (!knows_rows(composition, topology))
    return "needs a level of the topology that is not known here";
  const FormRow& form = *find_form(collective, composition.form);
  const Grid grid = grid_of(composition, size, topology);
  if (!fits(composition.shape, grid, size)) return kMisfit;
  if (form.full_grid && !grid.is_full())
    return composition.levels.empty() ? kMisfit : "needs rows of equal length in this form";
  // Its leaders exchange blocks of several lengths, which a grid cannot.
  if (collective == alltoall && is_composed(composition.columns) && !grid.is_full()) return kMisfit;
  if (const auto why = unmet_order(form, grid, commutative)) return why;
  const auto unmet = [&conditions](const NestedSpec& spec, int ranks, int nodes,
                                   const Topology* nested) -> std::optional<std::string_view> {
    // Whether a line's ranks can do what a protocol wants is known when it runs, which is too late.
    if (spec.in_node() && spec.algorithm->name != "shm")
      return "runs on a node as its rule chooses: shm, no shm_ algorithm";
    // Which ranks share a node is found out when their communicator is made.
    if (spec.is_called() || ranks == 1) return std::nullopt;
    // Two phases on one pair of ranks would share the positions of bound messages.
    if ((spec.algorithm->restrictions & kBindsPeers) != 0)
      return "cannot hold an algorithm whose chains depend on who arrives when";
    return unmet_restriction(*spec.algorithm,
                             {.size = ranks,
                              .commutative = conditions.commutative,
                              .topology = nested,
                              .nodes = nodes,
                              .multicast = conditions.multicast},
                             spec.params);
  };
  for (const int length : grid.lengths()) {
    for (const NestedSpec& spec : composition.rows)
      if (const auto why = unmet(spec, length, 0, nullptr)) return why;
  }
  const bool one_a_node = !composition.levels.empty() && composition.levels.back() == Level::node;
  return unmet(composition.columns, grid.rows(), one_a_node ? grid.rows() : 0,
               topology_of_columns(composition, topology));
}

namespace {

/// Of the phases, those of inner grids too.
template <class Is>
bool any_phase(const Composition& composition, Is is) {
  const auto holds = [&is](const NestedSpec& spec) {
    return is(spec) ||
           (spec.params.composition != nullptr && any_phase(*spec.params.composition, is));
  };
  return std::any_of(composition.rows.begin(), composition.rows.end(), holds) ||
         holds(composition.columns);
}

}  // namespace

bool reads_topology(const Algorithm& algorithm, const Params& params) {
  const auto reads = [](const Algorithm& row) {
    return (row.restrictions & (kTorus | kGraph)) != 0;
  };
  const Composition* grid = params.composition;
  return reads(algorithm) ||
         (grid != nullptr &&
          (!grid->levels.empty() || any_phase(*grid, [&](const NestedSpec& spec) {
            return spec.algorithm != nullptr && reads(*spec.algorithm);
          })));
}

bool has_calls(const Composition& composition) {
  return any_phase(composition, [](const NestedSpec& spec) { return spec.is_called(); });
}

bool runs_in_nodes(const Composition& composition) {
  return any_phase(composition, [](const NestedSpec& spec) { return spec.in_node(); });
}

bool has_multicasts(const Composition& composition) {
  return any_phase(composition, [](const NestedSpec& spec) {
    return spec.algorithm != nullptr && (spec.algorithm->restrictions & kMulticast) != 0;
  });
}

namespace {

std::vector<RankGroup> rows_of(const Grid& grid) {
  std::vector<RankGroup> rows;
  for (int row = 0; row < grid.rows(); ++row)
    if (grid.length(row) > 1) rows.push_back(grid.members(row));
  return rows;
}

/// The columns that every row has or, where leaders speak for rows that differ in length, those who
/// do so in a call.
std::vector<RankGroup> columns_of(const Grid& grid, Form form, Collective collective, int root) {
  std::vector<RankGroup> columns;
  if (grid.rows() == 1) return columns;
  const bool from_end = contains(set_of(scan, exscan), collective);
  if (form == Form::leaders && !grid.is_full())
    return {grid.leaders(from_end                ? grid.width() - 1
                         : is_rooted(collective) ? grid.column(root)
                                                 : 0)};
  for (int column = 0; column < grid.shortest(); ++column) columns.push_back(grid.leaders(column));
  return columns;
}

/// Groups of the members of a column, in every column.
std::vector<RankGroup> in_every(const std::vector<RankGroup>& columns,
                                const std::vector<RankGroup>& groups) {
  std::vector<RankGroup> all;
  for (const RankGroup& column : columns)
    for (RankGroup group : groups) {
      for (int& rank : group.ranks) rank = column.rank(rank);
      all.push_back(std::move(group));
    }
  return all;
}

}  // namespace

std::vector<CalledGroups> called_groups(const Composition& composition, Collective collective,
                                        int size, int root, const Topology* topology) {
  const FormRow& form = *find_form(collective, composition.form);
  const Grid grid = grid_of(composition, size, topology);
  const auto& [first, second] = composition.rows;
  std::vector<CalledGroups> called;
  const auto add = [&called](std::vector<RankGroup> groups, bool in_node) {
    if (!groups.empty()) called.push_back({std::move(groups), in_node});
  };
  if (first.is_called() || second.is_called())
    add(rows_of(grid), first.in_node() || second.in_node());
  const auto columns = columns_of(grid, composition.form, collective, root);
  if (composition.columns.is_called()) add(columns, composition.columns.in_node());
  const Composition* nested = composition.columns.params.composition;
  // Among the ranks of one row nobody has asked whether the levels of columns are known.
  if (nested == nullptr || columns.empty()) return called;
  const Topology* among = topology_of_columns(composition, topology);
  for (const auto& [groups, in_node] :
       called_groups(*nested, form.columns, grid.rows(), grid.row(root), among))
    add(in_every(columns, groups), in_node);
  return called;
}

// Rows are within nodes: only columns may.
std::vector<RankGroup> multicast_groups(const Composition& composition, Collective collective,
                                        int size, int root, const Topology* topology) {
  const Grid grid = grid_of(composition, size, topology);
  if (grid.rows() == 1) return {};
  if (composition.form == Form::leaders)
    return {grid.leaders(is_rooted(collective) ? grid.column(root) : 0)};
  return columns_of(grid, composition.form, collective, root);
}

bool has_groups_of_root(const Composition& composition, Collective collective, int size,
                        const Topology* topology) {
  if (!is_rooted(collective)) return false;
  const Grid grid = grid_of(composition, size, topology);
  if (composition.form == Form::leaders && !grid.is_full()) return true;
  if (grid.rows() == 1) return false;
  const Composition* nested = composition.columns.params.composition;
  const FormRow& form = *find_form(collective, composition.form);
  return nested != nullptr && has_groups_of_root(*nested, form.columns, grid.rows(),
                                                 topology_of_columns(composition, topology));
}

}  // namespace unisono
