#include "select/safe_arms.h"

#include <algorithm>
#include <bit>

#include "algorithms/composition.h"
#include "schedule/semantics.h"

namespace unisono {

namespace {

using enum Collective;

/// A call of `bytes` (Facts::bytes) gets the arm from `least` + `per_round` * rounds on, where
/// rounds are those that the first byte takes to the last host.
struct Row {
  CollectiveSet collectives;
  std::string_view arm;
  Count least, per_round;
  bool is_pipeline = false;
  std::string_view on_many = {};  ///< the pipeline of fewer such rounds, where there is one
  bool leads = true;
};

// By first looks at 20 Mb/s to 1 Gb/s (docs/results/unasked.md, which says where they still lose).
constexpr Row kRows[] = {
    {set_of(bcast), "chain", 16 << 10, 4 << 10, true, "two_tree_credits"},
    {set_of(reduce), "chain", 8 << 10, 3 << 10, true, "two_tree_credits"},
    {set_of(scan, exscan), "chain", 28 << 10, 6 << 10, true},
    {set_of(allreduce), "ring", 32 << 10, 16 << 10},
    {set_of(reduce_scatter, reduce_scatter_block), "ring", 32 << 10, 16 << 10},
    {set_of(allgather, allgatherv), "ring", 16 << 10, 0},
    // Faster than the MPI libraries at 100 Mb/s, and slower at 1 Gb/s.
    {.collectives = set_of(alltoall),
     .arm = "credits",
     .least = 64 << 10,
     .per_round = 0,
     .leads = false},
};

/// Where an MPI library's own takes hardly more than the wire, and an arm is not worth its
/// messages: among so few hosts of one rank, below so many bytes.
struct OwnAtTheWire {
  std::string_view flavour;
  CollectiveSet collectives;
  int most_hosts;
  Count below;
};

// All ranks send to the root at once. On 4 and 6 hosts the chain takes 0.95 to 1.03 of its time at
// 100 Mb/s, and 1.01 to 2 at 400 Mb/s and 1 Gb/s (docs/results/unasked/lengths.md).
constexpr OwnAtTheWire kOwnAtTheWire[] = {{"openmpi", set_of(reduce), 7, 64 << 10}};

const Row* row_of(Collective collective) {
  const auto* row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& one) {
    return contains(one.collectives, collective);
  });
  return row == std::end(kRows) ? nullptr : row;
}

int rounds_of_chain(int hosts) { return hosts - 2; }
int rounds_of_trees(int hosts) { return 1 + 2 * std::bit_width(static_cast<unsigned>(hosts - 1)); }

bool takes_trees(const Row& row, int hosts) {
  return !row.on_many.empty() && rounds_of_trees(hosts) < rounds_of_chain(hosts);
}

/// Before the last host gets something. Rings have as many as chains.
int rounds_before(const Row& row, int hosts) {
  return takes_trees(row, hosts) ? rounds_of_trees(hosts) : rounds_of_chain(hosts);
}

/// Bytes that an Ethernet carries while a message is on its way: 330 us at 100 Mb/s, 33 us at
/// 1 Gb/s.
constexpr Count kRound = 4 << 10;

/// Of a pipeline, with so many rounds before the last host gets something, besides one for each
/// segment. So the square root of bytes * kRound / rounds is best, of which this is the nearest
/// power of two: in whole numbers, for ranks may round in different directions.
Count segment_of(Count bytes, int rounds) {
  constexpr Count kLeast = 8 << 10, kMost = 64 << 10;
  Count segment = kLeast;
  while (segment < kMost && bytes >= 2 * segment * segment / kRound * std::max(1, rounds))
    segment *= 2;
  return segment;
}

/// Trees of so many hosts have so many levels that eight segments should be under way out of each,
/// within what a port surely holds: with four, ports wait for credits (docs/results/unasked.md).
constexpr int kManyHosts = 32;
constexpr Count kMostOnMany = PortBounds{}.out / 8;

/// Of the arm among so many hosts, each of which has `bytes`.
std::optional<NestedSpec> arm_among(const Row& row, Collective collective, const Facts& facts,
                                    Count bytes) {
  const int hosts = facts.nodes;
  HostsCall call{collective, hosts, bytes, facts.commutative};
  const bool trees = takes_trees(row, hosts);
  if (row.is_pipeline) call.segment = segment_of(bytes, rounds_before(row, hosts));
  if (trees && hosts >= kManyHosts) call.segment = std::min(call.segment, kMostOnMany);
  for (const std::string_view name : {trees ? row.on_many : row.arm, row.arm}) {
    const Algorithm* arm = find_algorithm(collective, name);
    if (const auto params = safe_params(*arm, call)) return NestedSpec{arm, *params};
  }
  return std::nullopt;
}

/// The arm in the columns of a grid whose rows are the hosts.
std::optional<Spec> in_grid(const Row& row, const Facts& facts) {
  const Algorithm* grid = find_algorithm(facts.collective, "grid");
  if (grid == nullptr || facts.topology == nullptr) return std::nullopt;
  const FormRow& form = *find_form(facts.collective, Form::leaders);
  const bool has_blocks = semantics(facts.collective).measure == Measure::block;
  const Count ranks = facts.topology->at(Level::node)->lengths().front();
  const auto arm =
      arm_among(row, form.columns, facts, has_blocks ? ranks * facts.bytes : facts.bytes);
  if (!arm) return std::nullopt;
  const Algorithm* first = find_algorithm(form.first, "shm");
  const Algorithm* second = find_algorithm(form.second.value_or(form.first), "shm");
  Composition composition{.levels = {Level::node}, .form = Form::leaders};
  composition.rows = {NestedSpec{first, default_params(*first)},
                      NestedSpec{second, default_params(*second)}};
  composition.columns = *arm;
  Spec spec{grid, false, default_params(*grid)};
  spec.params.composition = intern(composition);
  return spec;
}

}  // namespace

std::optional<SafeArm> SafeRule::arm(const Facts& facts) const {
  if (!reach(facts.collective, facts.size, facts.nodes).holds(facts.bytes)) return std::nullopt;
  const Row* row = row_of(facts.collective);
  std::optional<Spec> spec;
  if (facts.size == facts.nodes) {
    if (const auto arm = arm_among(*row, facts.collective, facts, facts.bytes))
      spec = Spec{arm->algorithm, false, arm->params};
  } else if (facts.kernels_in_nodes) {
    spec = in_grid(*row, facts);
  }
  if (!spec || unmet_restriction(*spec->algorithm, conditions(facts), spec->params))
    return std::nullopt;
  return SafeArm{*spec, row->leads};
}

// Between two hosts of one rank a message is all there is.
ByteRange SafeRule::reach(Collective collective, int size, int nodes) const {
  const Row* row = row_of(collective);
  if (row == nullptr || nodes < 2 || size == 2) return {};
  Count least = row->least + row->per_round * rounds_before(*row, nodes);
  for (const OwnAtTheWire& own : kOwnAtTheWire)
    if (own.flavour == flavour_ && contains(own.collectives, collective) && size == nodes &&
        nodes <= own.most_hosts)
      least = std::max(least, own.below);
  return {least, ByteRange::all().most};
}

}  // namespace unisono
