// Every row of the catalogue, for every collective it serves among all ranks (for the others see
// neighbours_test.cpp), against the checker: numbers of ranks
// x roots x counts x in-place x displacements x commutativity x who knows the counts x parameters.
// Small groups see all combinations; larger ones a sample that is spread evenly over them.
#include "algorithms/catalogue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <sstream>

#include "patterns/arrival.h"
#include "schedule/checker.h"
#include "schedule/problem.h"
#include "tests/thorough.h"

namespace unisono {

namespace {

std::string text(const Problem& problem, const Algorithm& row) {
  std::ostringstream out;
  out << "p=" << problem.size << " root=" << problem.root << " count=" << problem.count
      << " in_place=" << problem.in_place << " gaps=" << problem.gaps
      << " commutative=" << problem.commutative << " share_counts=" << problem.share_counts;
  for (const Parameter& parameter : row.parameters)
    out << ' ' << parameter.name << '=' << problem.params.*parameter.field;
  if (problem.params.late != nullptr)
    for (const int rank : *problem.params.late) out << " late " << rank;
  return out.str();
}

// ---- which problems -----------------------------------------------------------------------------

constexpr int kLargestFullSize = 33;

/// All up to 33, among them powers of two with their neighbours on both sides; and larger ones: a
/// power of two, one past another, an even one and a prime. Those of about 100 ranks take most of
/// the time.
std::vector<int> sizes() {
  std::vector<int> result(kLargestFullSize);
  std::iota(result.begin(), result.end(), 1);
  for (const int p : {48, 64, 67, 129}) result.push_back(p);
  if (is_thorough()) result.insert(result.end(), {65, 96, 127, 128});
  return result;
}

/// Of larger groups few in `make test`, as a problem takes them a hundred times as long; the sample
/// begins elsewhere for each size, so that all sizes together see a row's choices.
std::size_t problems_per_size(int p) {
  const bool all = is_thorough();
  if (p <= 5) return all ? 1500 : 500;
  if (p <= 17) return all ? 150 : 30;
  if (p <= kLargestFullSize) return all ? 48 : 4;
  return all ? 12 : 1;
}

/// Collectives whose count is that of one block, so that a buffer holds p times as much.
bool counts_blocks(Collective c) {
  using enum Collective;
  return !contains(set_of(barrier, bcast, reduce, allreduce, scan, exscan), c);
}

template <class T>
std::vector<T> distinct(std::initializer_list<T> values) {
  const std::set<T> set(values);
  return {set.begin(), set.end()};
}

std::vector<Count> counts(Collective c, int p) {
  if (c == Collective::barrier) return {0};
  if (counts_blocks(c) && p > kLargestFullSize) return {0, 1, 3};
  if (counts_blocks(c) && p > 9) return {0, 1, 3, 8};
  return distinct<Count>({0, 1, p - 1, p, p + 1, 2 * p + 5});
}

std::vector<Count> values(const Parameter& parameter) {
  std::vector<Count> wanted = {parameter.default_value};
  if (parameter.name == "segment") wanted = {1, 5, parameter.default_value};  // many, few and one
  if (parameter.name == "radix") wanted = {1, 2, 3, 4, 8};
  if (parameter.name == "threshold") wanted = {0, 4, parameter.default_value};
  if (parameter.name == "window") wanted = {1, 2, 4};
  std::erase_if(wanted, [&](Count v) { return v < parameter.least || v > parameter.most; });
  return wanted;
}

/// Nothing, each end and the middle, several, everybody, and a rank that there is not.
std::vector<const std::vector<int>*> predictions(int p) {
  std::vector<int> all(static_cast<std::size_t>(p));
  std::iota(all.rbegin(), all.rend(), 0);
  std::vector<std::vector<int>> lists = {{0}, {p / 2}, {p - 1}, all, {p}};
  if (p > 2) lists.push_back({p / 2, 0});
  if (p > 3) lists.push_back({p - 1, 1, p / 2});
  std::vector<const std::vector<int>*> result = {nullptr};
  for (std::vector<int>& list : lists) result.push_back(intern(list));
  return result;
}

/// All combinations of choices, numbered through; each dimension sets a field of the problem.
class Combinations {
 public:
  template <class T, class Field>
  void add(std::vector<T> choices, Field field) {
    const std::size_t n = choices.size();
    total_ *= n;
    dimensions_.push_back(
        {n, [choices, field](Problem& problem, std::size_t i) { field(problem) = choices[i]; }});
  }
  /// At most `limit` of them: all, or every stride-th, where the stride is prime to their number
  /// and near its golden section, which spreads the sample over every dimension.
  std::vector<Problem> sample(const Problem& base, std::size_t limit) const {
    auto stride = static_cast<std::size_t>(static_cast<double>(total_) * 0.618);
    while (std::gcd(stride, total_) != 1) ++stride;
    std::vector<Problem> problems;
    for (std::size_t i = 0; i < std::min(limit, total_); ++i)
      problems.push_back(
          numbered(base, (static_cast<std::size_t>(base.size) + i * stride) % total_));
    return problems;
  }

 private:
  Problem numbered(Problem problem, std::size_t number) const {
    for (const Dimension& dimension : dimensions_) {
      dimension.set(problem, number % dimension.choices);
      number /= dimension.choices;
    }
    return problem;
  }

  struct Dimension {
    std::size_t choices;
    std::function<void(Problem&, std::size_t)> set;
  };
  std::vector<Dimension> dimensions_;
  std::size_t total_ = 1;
};

std::vector<Problem> problems(const Algorithm& row, Collective c, int p) {
  const std::vector<bool> no{false}, both{false, true};
  const bool ordered_too = is_reducing(c) && (row.restrictions & kCommutative) == 0;
  const bool unknown_counts_too =
      is_irregular(c) && (row.restrictions & (kAllCounts | kMatrix | kOrder)) == 0;
  Combinations all;
  all.add(counts(c, p), [](Problem& x) -> Count& { return x.count; });
  all.add(is_rooted(c) ? distinct<int>({0, std::min(1, p - 1), p / 2, p - 1}) : std::vector<int>{0},
          [](Problem& x) -> int& { return x.root; });
  const InPlace in_place = semantics(c).in_place;
  all.add(in_place == InPlace::nowhere ? no : both, [](Problem& x) -> bool& { return x.in_place; });
  // 0: alike on all ranks; else drawn for each.
  all.add(in_place == InPlace::each ? std::vector<unsigned>{0, 1, 2} : std::vector<unsigned>{0},
          [](Problem& x) -> unsigned& { return x.differ; });
  all.add(ordered_too ? std::vector<bool>{true, false} : std::vector<bool>{true},
          [](Problem& x) -> bool& { return x.commutative; });
  all.add(is_irregular(c) ? both : no, [](Problem& x) -> bool& { return x.gaps; });
  all.add(unknown_counts_too ? both : std::vector<bool>{true},
          [](Problem& x) -> bool& { return x.share_counts; });
  for (const Parameter& parameter : row.parameters)
    all.add(values(parameter),
            [field = parameter.field](Problem& x) -> Count& { return x.params.*field; });
  if ((row.restrictions & kPredicts) != 0)
    all.add(predictions(p), [](Problem& x) -> const std::vector<int>*& { return x.params.late; });
  return all.sample({.collective = c, .size = p}, problems_per_size(p));
}

// ---- the test -----------------------------------------------------------------------------------

struct Case {
  const Algorithm* row;
  Collective collective;
};

std::vector<Case> cases() {
  std::vector<Case> result;
  for (const Algorithm& row : catalogue())
    for (int c = 0; c < kCollectives; ++c)
      if (contains(row.collectives & kAmongAll, static_cast<Collective>(c)))
        result.push_back({&row, static_cast<Collective>(c)});
  return result;
}

class Catalogue : public testing::TestWithParam<Case> {};

TEST_P(Catalogue, DoesWhatMpiDefines) {
  const auto& [row, collective] = GetParam();
  int checked = 0;
  for (const int p : sizes())
    for (const Problem& problem : problems(*row, collective, p)) {
      const ArgsOfRanks ranks(problem);
      const auto unmet = unmet_restriction(*row, ranks[0]);
      for (const Args& args : ranks.args())
        ASSERT_EQ(unmet, unmet_restriction(*row, args)) << "ranks would decide differently";
      if (unmet) continue;
      const auto violation = check(ranks.args(), build_all(*row, ranks.args()));
      ASSERT_FALSE(violation) << text(problem, *row) << "\n" << violation->text();
      ++checked;
    }
  EXPECT_GT(checked, 0);
}

INSTANTIATE_TEST_SUITE_P(All, Catalogue, testing::ValuesIn(cases()), [](const auto& info) {
  return std::string(name(info.param.collective)) + "_" + std::string(info.param.row->name);
});

TEST(CatalogueRows, NamesAreUniqueAndParametersInLimits) {
  std::set<std::string> names;
  for (const auto& [row, collective] : cases()) {
    EXPECT_TRUE(names.insert(std::string(name(collective)) + ":" + std::string(row->name)).second)
        << name(collective) << " has two algorithms named " << row->name;
    EXPECT_EQ(find_algorithm(collective, row->name), row);
    for (const Parameter& parameter : row->parameters) {
      EXPECT_LE(parameter.least, parameter.default_value) << row->name << " " << parameter.name;
      EXPECT_LE(parameter.default_value, parameter.most) << row->name << " " << parameter.name;
    }
  }
}

}  // namespace
}  // namespace unisono
