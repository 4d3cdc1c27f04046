#include "select/offers/proposals.h"

#include "algorithms/composition.h"
#include "model/segment.h"

namespace unisono {

namespace {

// From one value to the next, as in the tuner's candidates.
constexpr Count kStep = 2;

/// A row of the catalogue by itself, or in the columns of a grid whose rows are nodes.
struct Base {
  const Algorithm* row;
  const Algorithm* grid = nullptr;  // null: by itself
  const FormRow* form = nullptr;
  int ranks = 1;  // that run the row

  Spec with(const Params& params) const {
    if (grid == nullptr) return {row, false, params};
    const Algorithm* first = find_algorithm(form->first, "shm");
    const Algorithm* second = find_algorithm(form->second.value_or(form->first), "shm");
    Composition composition{.levels = {Level::node}, .form = form->form};
    composition.rows = {NestedSpec{first, default_params(*first)},
                        NestedSpec{second, default_params(*second)}};
    composition.columns = {row, params};
    Spec spec{grid, false, default_params(*grid)};
    spec.params.composition = intern(composition);
    return spec;
  }
};

constexpr unsigned kNotInColumns = kOneNode | kComposed | kBindsPeers;

/// With the standard parameters.
bool can_serve(const Base& base, const Facts& facts) {
  const Spec spec = base.with(default_params(*base.row));
  return !unmet_restriction(*spec.algorithm, conditions(facts), spec.params);
}

void add_rows(std::vector<Base>& bases, const Facts& facts) {
  for (const Algorithm& row : catalogue()) {
    const Base base{.row = &row, .ranks = facts.size};
    if (contains(row.collectives, facts.collective) &&
        (row.restrictions & (kOneNode | kComposed)) == 0 && can_serve(base, facts))
      bases.push_back(base);
  }
}

void add_grids(std::vector<Base>& bases, const Facts& facts) {
  const Algorithm* grid = find_algorithm(facts.collective, "grid");
  if (grid == nullptr || !facts.kernels_in_nodes || facts.topology == nullptr) return;
  const int nodes = facts.topology->at(Level::node)->groups();
  for (const FormRow& form : forms_of(facts.collective))
    for (const Algorithm& row : catalogue()) {
      const Base base{&row, grid, &form, nodes};
      if (contains(row.collectives, form.columns) && (row.restrictions & kNotInColumns) == 0 &&
          can_serve(base, facts))
        bases.push_back(base);
    }
}

/// Whether the parameter makes any difference: a segment that holds everything is none, and nobody
/// has more than p - 1 peers. One segment is asked for, which the model finds.
bool matters(const Parameter& parameter, Count value, const Base& base, const Facts& facts) {
  if (value == kOpenSegment) return facts.bytes > kLeastSegment;
  if (value < parameter.least || value > parameter.most) return false;
  if (value == parameter.default_value) return false;  // 0 stands for what is found out
  return parameter.is_size ? value < facts.bytes : value < base.ranks;
}

std::vector<Count> values_of(const Parameter& parameter, bool nearer) {
  if (parameter.field == &Params::segment)
    return nearer ? std::vector{kOpenSegment} : std::vector<Count>();
  const Count standard = parameter.default_value;
  if (nearer) return {standard / kStep, standard * kStep};
  return {standard / kStep / kStep};
}

}  // namespace

std::vector<Spec> proposals(const Facts& facts) {
  std::vector<Base> bases;
  add_grids(bases, facts);
  add_rows(bases, facts);
  std::vector<Spec> all;
  for (const Base& base : bases) all.push_back(base.with(default_params(*base.row)));
  for (const auto nearer : {true, false})
    for (const Base& base : bases)
      for (const Parameter& parameter : base.row->parameters)
        for (const Count value : values_of(parameter, nearer)) {
          if (!matters(parameter, value, base, facts)) continue;
          Params params = default_params(*base.row);
          params.*parameter.field = value;
          all.push_back(base.with(params));
        }
  return all;
}

bool has_open_segment(const Spec& spec) {
  const Composition* grid = spec.params.composition;
  return (grid != nullptr ? grid->columns.params : spec.params).segment == kOpenSegment;
}

Spec with_segment(const Spec& spec, Count bytes) {
  Spec closed = spec;
  if (spec.params.composition == nullptr) {
    closed.params.segment = bytes;
    return closed;
  }
  Composition grid = *spec.params.composition;
  grid.columns.params.segment = bytes;
  closed.params.composition = intern(grid);
  return closed;
}

std::string family_of(const Spec& spec) {
  std::string family(spec.algorithm->name);
  const Composition* grid = spec.params.composition;
  if (grid == nullptr || grid->columns.algorithm == nullptr) return family;
  return family + " " + std::string(kFormNames[static_cast<std::size_t>(grid->form)]) + " " +
         std::string(grid->columns.algorithm->name);
}

}  // namespace unisono
