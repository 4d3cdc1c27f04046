// The order in which every algorithm combines contributions is the one in its row, and depends on
// what its row says.
#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <string>
#include <vector>

#include "algorithms/catalogue.h"
#include "algorithms/composition.h"
#include "patterns/arrival.h"
#include "schedule/problem.h"
#include "select/composition_spec.h"
#include "tests/algorithms/interpreter.h"
#include "tests/algorithms/on_tori.h"
#include "tests/thorough.h"

namespace unisono {
namespace {

// --- the orders, by their definitions ---

Tree left(Trees& trees, int ranks) {
  Tree sum = trees.leaf(0);
  for (int r = 1; r < ranks; ++r) sum = trees.combined(sum, trees.leaf(r));
  return sum;
}

Tree right(Trees& trees, int ranks) {
  Tree sum = trees.leaf(ranks - 1);
  for (int r = ranks - 2; r >= 0; --r) sum = trees.combined(trees.leaf(r), sum);
  return sum;
}

Tree halves(Trees& trees, int begin, int end) {
  if (end - begin == 1) return trees.leaf(begin);
  const int middle =
      begin + static_cast<int>(std::bit_ceil(static_cast<unsigned>(end - begin)) / 2);
  return trees.combined(halves(trees, begin, middle), halves(trees, middle, end));
}

/// `far`: i with i + half, instead of neighbours.
Tree in_pairs(Trees& trees, int ranks, bool far) {
  const int left_over = ranks - static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)));
  std::vector<Tree> sums;
  for (int r = 0; r < ranks; ++r) {
    const bool is_paired = r < 2 * left_over;
    sums.push_back(is_paired ? trees.combined(trees.leaf(r), trees.leaf(r + 1)) : trees.leaf(r));
    r += is_paired ? 1 : 0;
  }
  while (sums.size() > 1) {
    const std::size_t half = sums.size() / 2;
    std::vector<Tree> next;
    for (std::size_t i = 0; i < half; ++i)
      next.push_back(far ? trees.combined(sums[i], sums[i + half])
                         : trees.combined(sums[2 * i], sums[2 * i + 1]));
    sums = std::move(next);
  }
  return sums[0];
}

Tree tree_of(Trees& trees, Order order, int ranks) {
  switch (order) {
    case Order::left: return left(trees, ranks);
    case Order::right: return right(trees, ranks);
    case Order::halves: return halves(trees, 0, ranks);
    case Order::folded: return in_pairs(trees, ranks, false);
    case Order::far: return in_pairs(trees, ranks, true);
    default: return 0;
  }
}

constexpr Order kNamed[] = {Order::left, Order::right, Order::halves, Order::folded, Order::far};

// --- what a row does ---

bool scatters(Collective c) {
  return c == Collective::reduce_scatter || c == Collective::reduce_scatter_block;
}
bool is_prefix(Collective c) { return c == Collective::scan || c == Collective::exscan; }

/// The results of a call: sums of the same ranks' contributions are in one list.
struct Sums {
  int ranks = 0;  ///< that contribute
  std::vector<Tree> of_elements;
  bool operator==(const Sums&) const = default;
};

/// Nothing: the row cannot serve the call.
std::vector<Sums> results(const Algorithm& row, const Problem& problem, Trees& trees) {
  const ArgsOfRanks ranks(problem);
  std::vector<Sums> all;
  if (unmet_restriction(row, ranks[0])) return all;
  const Interpreter run(ranks.args(), row, trees);
  EXPECT_TRUE(run.complete()) << row.name << " p=" << problem.size;
  for (int r = 0; r < problem.size; ++r) {
    const Collective c = problem.collective;
    const int contributors = c == Collective::scan     ? r + 1
                             : c == Collective::exscan ? r
                                                       : problem.size;
    const bool has_result = c == Collective::reduce || c == Collective::allreduce
                                ? r == problem.root  // of an allreduce: identical_test.cpp
                                : contributors > 0;
    if (!has_result) continue;
    const Count length = scatters(c) ? ranks[r].recv.length(r) : problem.count;
    const auto& output = run.output(static_cast<std::size_t>(r));
    if (all.empty() || is_prefix(c)) all.push_back({contributors, {}});
    auto& into = all.back().of_elements;
    into.insert(into.end(), output.begin(), output.begin() + length);
  }
  return all;
}

/// What a row was seen to do.
class Seen {
 public:
  Seen(const Algorithm& row, Collective collective) : row_(row), collective_(collective) {}

  unsigned depends_on() const { return depends_on_; }
  /// All sums of all calls with root 0 had this order.
  bool is_always(Order order) const { return (others_ >> static_cast<int>(order) & 1) == 0; }
  /// Parameters that may not make a difference did.
  const std::string& wrong() const { return wrong_; }
  int calls() const { return calls_; }

  /// `varies`: and at what it depends on.
  void look(int p, bool varies) {
    for (const bool commutative : {true, false})
      for (const int root : {0, p - 1}) {
        if (root != 0 && collective_ != Collective::reduce) continue;
        Problem call{.collective = collective_,
                     .size = p,
                     .root = root,
                     .count = 2 * p + 5,
                     .commutative = commutative,
                     .params = default_params(row_)};
        if (call.params.segment > 0) call.params.segment = 7;
        if ((row_.restrictions & kPredicts) != 0) call.params.late = intern({p / 2, 0});
        look_at(call, varies);
      }
  }

 private:
  void look_at(const Problem& call, bool varies) {
    Trees trees(Trees::Sides::do_not_matter);
    const std::vector<Sums> base = results(row_, call, trees);
    if (base.empty()) return;
    ++calls_;
    look_at_order(call, base, trees);
    look_at_places(call, base, trees);
    if (varies) look_at_what_it_depends_on(call, base, trees);
  }

  void look_at_what_it_depends_on(const Problem& call, const std::vector<Sums>& base,
                                  Trees& trees) {
    const auto vary = [&](unsigned what, const std::function<void(Problem&)>& change) {
      Problem other = call;
      change(other);
      const std::vector<Sums> found = results(row_, other, trees);
      if (!found.empty() && found != base) depends_on_ |= what;
    };
    if (collective_ == Collective::reduce)
      for (const int root : {0, call.size / 2, call.size - 1})
        vary(kOnRoot, [&](Problem& other) { other.root = root; });
    for (const Parameter& parameter : row_.parameters) vary_parameter(parameter, vary);
    if ((row_.restrictions & kPredicts) != 0)
      vary(kOnLate, [&](Problem& other) { other.params.late = intern({call.size - 1}); });
    for (const auto& topology : on_tori(call.size))
      vary(kOnTorus, [&](Problem& other) { other.topology = topology.get(); });
    if ((row_.restrictions & kComposed) == 0) return;
    for (const FormRow& form : forms_of(collective_))
      for (const int rows : {2, 3, 4})
        if (call.size % rows == 0 && call.size > rows)
          vary(kOnGrid, [&](Problem& other) {
            const std::string text =
                "shape=" + std::to_string(rows) + "x" + std::to_string(call.size / rows) +
                ",form=" + std::string(kFormNames[static_cast<std::size_t>(form.form)]);
            other.params.composition = intern(*parse_composition(collective_, text));
          });
  }

  template <class Vary>
  void vary_parameter(const Parameter& parameter, const Vary& vary) {
    const auto try_values = [&](unsigned what, std::initializer_list<Count> values) {
      for (const Count value : values)
        vary(what, [&](Problem& other) { other.params.*parameter.field = value; });
    };
    if (parameter.field == &Params::segment) try_values(kOnSegment, {1, 3, 16, 1 << 20});
    if (parameter.field == &Params::radix) try_values(kOnRadix, {2, 3, 8});
    if (parameter.field == &Params::trees) try_values(kOnTrees, {0, 1, 2, 3, 4, 5});
    if (parameter.field == &Params::window) try_values(kNever, {1, 2, 64});
    if (depends_on_ & kNever) wrong_ = std::string(parameter.name) + " changes the order";
  }

  void look_at_order(const Problem& call, const std::vector<Sums>& base, Trees& trees) {
    if (call.root != 0) return;
    for (const Order order : kNamed)
      for (const Sums& sums : base) {
        const Tree expected = tree_of(trees, order, sums.ranks);
        for (const Tree tree : sums.of_elements)
          if (tree != expected) others_ |= 1U << static_cast<int>(order);
      }
  }

  /// Whether the elements' sums differ within a call, or from those of calls of other lengths.
  void look_at_places(const Problem& call, const std::vector<Sums>& base, Trees& trees) {
    std::vector<std::vector<Sums>> all = {base};
    for (const Count count : {1, call.size, 4 * call.size}) {
      Problem other = call;
      other.count = count;
      all.push_back(results(row_, other, trees));
    }
    for (std::size_t i = 0; i < base.size(); ++i)
      for (const std::vector<Sums>& one : all)
        for (const Tree tree : one[i].of_elements)
          if (tree != base[i].of_elements[0]) depends_on_ |= kOnPlace;
  }

  static constexpr unsigned kNever = 1U << 31;

  const Algorithm& row_;
  Collective collective_;
  unsigned depends_on_ = 0;
  unsigned others_ = 0;  // a bit for each order that some sum did not have
  std::string wrong_;
  int calls_ = 0;
};

/// Of every number of ranks the order; of a few of them, what it depends on.
Seen seen_of(const Algorithm& row, Collective collective) {
  Seen seen(row, collective);
  for (const int p : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 24, 32, 33})
    seen.look(p, is_thorough() || p < 10 || p == 12 || p == 16);
  return seen;
}

class SumOrder : public testing::TestWithParam<const Algorithm*> {};

TEST_P(SumOrder, IsThatOfTheRow) {
  const Algorithm& row = *GetParam();
  for (int c = 0; c < kCollectives; ++c) {
    const auto collective = static_cast<Collective>(c);
    if (!contains(row.collectives & kReducing, collective)) continue;
    SCOPED_TRACE(std::string(name(collective)) + " " + std::string(row.name));
    const Seen seen = seen_of(row, collective);
    EXPECT_GT(seen.calls(), 0);
    EXPECT_EQ(seen.wrong(), "");
    EXPECT_EQ(seen.depends_on(), row.combining.depends_on);
    for (const Order order : kNamed)
      EXPECT_EQ(seen.is_always(order), order == row.combining.order)
          << kOrderNames[static_cast<std::size_t>(order)];
  }
}

std::vector<const Algorithm*> reductions() {
  std::vector<const Algorithm*> rows;
  for (const Algorithm& row : catalogue())
    if ((row.collectives & kReducing) != 0) rows.push_back(&row);
  return rows;
}

INSTANTIATE_TEST_SUITE_P(, SumOrder, testing::ValuesIn(reductions()));

TEST(SumOrders, AreThoseOfReductions) {
  for (const Algorithm& row : catalogue())
    EXPECT_EQ(row.combining.order != Order::none, (row.collectives & kReducing) != 0) << row.name;
}

}  // namespace
}  // namespace unisono
