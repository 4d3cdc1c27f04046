// Compositions against the checker: every factorisation of p <= 48 in two and three dimensions (in
// `make test` of p <= 24, and every fourth above), samples of larger p to 128, ragged grids, every
// form, inner algorithms of the whole catalogue and the MPI library's own, roots, counts and
// in-place in turn.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "algorithms/catalogue.h"
#include "algorithms/composition.h"
#include "schedule/checker.h"
#include "schedule/problem.h"
#include "select/spec.h"
#include "tests/thorough.h"

namespace unisono {

namespace {

using Shape = std::vector<int>;

std::vector<Shape> factorisations(int p) {
  std::vector<Shape> shapes;
  for (int a = 1; a <= p; ++a) {
    if (p % a != 0) continue;
    shapes.push_back({a, p / a});
    for (int b = 2; a > 1 && b < p / a; ++b)
      if (p / a % b == 0) shapes.push_back({a, b, p / a / b});
  }
  return shapes;
}

/// Shapes with a shorter last row; the third has rows of rows.
std::vector<Shape> ragged(int p) {
  std::vector<Shape> shapes;
  for (int width = 2; width < p; ++width)
    if (p % width != 0) shapes.push_back({(p + width - 1) / width, width});
  if (p > 8) shapes.push_back({((p + 2) / 3 + 1) / 2, 2, 3});
  return shapes;
}

std::string text(const Shape& shape) {
  std::string written;
  for (const int length : shape) written += (written.empty() ? "" : "x") + std::to_string(length);
  return written;
}

/// Algorithms for a phase, by turns: a textbook one, all of the catalogue, the MPI library's.
class Turns {
 public:
  std::string inner(Collective collective) {
    std::vector<std::string> names = {"native"};
    for (const Algorithm& row : catalogue())
      if (contains(row.collectives, collective) && (row.restrictions & (kComposed | kOneNode)) == 0)
        names.emplace_back(row.name);
    return names[++turn_ % names.size()];
  }
  std::size_t next(std::size_t choices) { return ++turn_ % choices; }

 private:
  std::size_t turn_ = 0;
};

std::string spec_text(const FormRow& form, const Shape& shape, Turns& turns) {
  std::string spec = "grid:shape=" + text(shape) +
                     ",form=" + std::string(kFormNames[static_cast<std::size_t>(form.form)]) +
                     ",rows=" + turns.inner(form.first);
  if (form.second) spec += "+" + turns.inner(*form.second);
  if (shape.size() == 2) return spec + ",columns=" + turns.inner(form.columns);
  return spec;  // the other dimensions are textbook: their collectives depend on the form
}

class Grids : public testing::TestWithParam<Collective> {
 protected:
  /// Checks one composition; false if its restrictions are not met.
  bool holds(const FormRow& form, const Shape& shape, int p) {
    const Collective c = GetParam();
    const std::string written = spec_text(form, shape, turns_);
    const auto spec = parse_spec(c, written);
    EXPECT_TRUE(spec) << (spec ? "" : spec.error());
    if (!spec) return false;
    const auto again = parse_spec(c, unisono::text(*spec));
    EXPECT_TRUE(again && again->params == spec->params) << written << " " << unisono::text(*spec);

    Problem problem{.collective = c, .size = p, .params = spec->params};
    const Count counts[] = {1, 0, p + 1, 3};
    problem.count = c == Collective::barrier ? 0 : counts[turns_.next(p > 48 ? 2 : 4)];
    if (is_rooted(c)) problem.root = static_cast<int>(turns_.next(static_cast<std::size_t>(p)));
    problem.in_place = turns_.next(3) == 0;  // where MPI allows it
    problem.differ = static_cast<unsigned>(turns_.next(4));
    if (is_irregular(c)) problem.gaps = turns_.next(2) == 0;
    problem.commutative = !is_reducing(c) || turns_.next(3) != 0;
    const ArgsOfRanks ranks(problem);
    if (unmet_restriction(*spec->algorithm, ranks[0])) return false;
    std::vector<Schedule> schedules;
    for (const Args& args : ranks.args())
      schedules.push_back(expand(build(*spec->algorithm, args), args));
    const auto violation = check(ranks.args(), schedules);
    EXPECT_FALSE(violation) << written << " p=" << p << " root=" << problem.root
                            << " count=" << problem.count << " in_place=" << problem.in_place
                            << " gaps=" << problem.gaps << " commutative=" << problem.commutative
                            << "\n"
                            << violation->text();
    return true;
  }

  Turns turns_;
};

TEST_P(Grids, DoWhatMpiDefines) {
  int checked = 0;
  // Above 48 multiples of 4, which have many factorisations; alltoall has p * p blocks.
  const int step = GetParam() == Collective::alltoall ? 40 : is_thorough() ? 4 : 16;
  for (int p = 1; p <= 128; p += p < 48 ? 1 : step) {
    std::vector<Shape> shapes = factorisations(p);
    const auto others = ragged(p);
    shapes.insert(shapes.end(), others.begin(), others.end());
    const std::size_t some = is_thorough() || p <= 24 ? 1 : 4;
    const std::size_t stride = p <= 48 ? std::min(some, shapes.size()) : 1 + shapes.size() / 3;
    for (const FormRow& form : forms_of(GetParam()))
      for (std::size_t i = turns_.next(stride); i < shapes.size(); i += stride) {
        checked += holds(form, shapes[i], p) ? 1 : 0;
        if (HasFailure()) return;
      }
  }
  EXPECT_GT(checked, is_thorough() ? 500 : 300);
}

std::vector<Collective> with_grids() {
  std::vector<Collective> result;
  for (int c = 0; c < kCollectives; ++c)
    if (find_algorithm(static_cast<Collective>(c), "grid") != nullptr)
      result.push_back(static_cast<Collective>(c));
  return result;
}

INSTANTIATE_TEST_SUITE_P(All, Grids, testing::ValuesIn(with_grids()),
                         [](const auto& info) { return std::string(name(info.param)); });

TEST(Composition, HasCollectivesOfTheLibraryBetweenJoins) {
  const auto spec =
      parse_spec(Collective::allreduce, "grid:shape=2x3,form=full,rows=native,columns=ring");
  ASSERT_TRUE(spec) << spec.error();
  Problem problem{
      .collective = Collective::allreduce, .size = 6, .count = 4, .params = spec->params};
  const ArgsOfRanks ranks(problem);
  const Schedule schedule = build(*spec->algorithm, ranks[4]);
  ASSERT_EQ(schedule.group_calls().size(), 1U);
  const GroupCall& call = schedule.group_calls()[0];
  EXPECT_EQ(call.group, (RankGroup{{3, 4, 5}}));
  EXPECT_EQ(call.collective, Collective::allreduce);
  EXPECT_EQ(call.output, (Slice{kOutput, 0, 4}));
  const auto violation = check(ranks.args(), std::vector<Schedule>(6, schedule));
  ASSERT_TRUE(violation);
  EXPECT_NE(violation->what.find("expand"), std::string::npos);
}

TEST(Composition, IsNestedForThreeDimensions) {
  const auto spec = parse_spec(
      Collective::bcast, "grid:shape=4x3x8,rows=chain/segment=8K,columns=native,planes=binomial");
  ASSERT_TRUE(spec) << spec.error();
  const Composition& composition = *spec->params.composition;
  const auto called = called_groups(composition, Collective::bcast, 96, 0, nullptr);
  ASSERT_EQ(called.size(), 1U);
  ASSERT_EQ(called[0].groups.size(), 32U);  // 8 columns, each of 4 planes
  EXPECT_EQ(called[0].groups[0], (RankGroup{{0, 8, 16}}));
  EXPECT_EQ(called[0].groups[5], (RankGroup{{25, 33, 41}}));
  EXPECT_FALSE(has_groups_of_root(composition, Collective::bcast, 96, nullptr));
  EXPECT_TRUE(has_calls(composition));
  EXPECT_EQ(unisono::text(*spec),
            "grid:shape=4x3x8,form=leaders,rows=chain/segment=8K,columns=native,planes=binomial");
  EXPECT_FALSE(unmet_composition(composition, Collective::bcast, {95, true}));
  EXPECT_TRUE(unmet_composition(composition, Collective::bcast, {104, true}));
}

TEST(Composition, KnowsWhatRunsInNodes) {
  const auto spec = parse_spec(Collective::allreduce, "grid:shape=4x2,form=leaders,rows=shm");
  ASSERT_TRUE(spec) << spec.error();
  const Composition& composition = *spec->params.composition;
  EXPECT_TRUE(runs_in_nodes(composition) && has_calls(composition));
  const std::vector<RankGroup> rows = {{{0, 1}}, {{2, 3}}, {{4, 5}}, {{6, 7}}};
  EXPECT_EQ(called_groups(composition, Collective::allreduce, 8, 0, nullptr),
            (std::vector{CalledGroups{rows, true}}));
  EXPECT_FALSE(unmet_restriction(*spec->algorithm, {8}, spec->params));
}

TEST(Composition, RefusesShapesThatDoNotFit) {
  const auto unmet = [](Collective c, const char* text, int size) {
    const auto spec = parse_spec(c, text);
    EXPECT_TRUE(spec) << (spec ? "" : spec.error());
    return unmet_restriction(*spec->algorithm, {size}, spec->params).has_value();
  };
  EXPECT_TRUE(unmet(Collective::bcast, "grid:shape=4x2x8", 8));
  EXPECT_TRUE(unmet(Collective::bcast, "grid:shape=4x2x8", 65));
  EXPECT_FALSE(unmet(Collective::bcast, "grid:shape=4x2x8", 64));
  EXPECT_FALSE(unmet(Collective::bcast, "grid:shape=4x2x8", 50));
  EXPECT_TRUE(unmet(Collective::bcast, "grid:shape=4x2x8", 48));
  // The leaders of a ragged grid exchange blocks of several lengths: no grid does that.
  EXPECT_TRUE(unmet(Collective::alltoall, "grid:columns=grid", 7));
  EXPECT_FALSE(unmet(Collective::alltoall, "grid:columns=grid", 9));
}

TEST(Composition, RefusesWhatCannotBeAPart) {
  constexpr const char* kBinds = "depend on who arrives when";
  for (const auto& [text, why] : {std::pair("grid:rows=arrival_chain", kBinds),
                                  {"grid:shape=2x2x2,columns=arrival_chain", kBinds}}) {
    const auto spec = parse_spec(Collective::bcast, text);
    ASSERT_TRUE(spec) << spec.error();
    const auto unmet = unmet_restriction(*spec->algorithm, {8, true, true}, spec->params);
    ASSERT_TRUE(unmet) << text;
    EXPECT_NE(unmet->find(why), std::string::npos) << *unmet;
  }
}

TEST(Composition, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> wrong[] = {
      {"grid:shape=4", "valid: shape="},
      {"grid:shape=2x2x2x2", "valid: shape="},
      {"grid:shape=0x4", "valid: shape="},
      {"grid:form=rows", "valid: shape="},
      {"grid:form=full", "valid: leaders lanes"},
      {"grid:rows=nothing", "no algorithm 'nothing' for bcast; valid: native, flat"},
      {"grid:rows=chain/segment=x", "segment"},
      {"grid:rows=ring+ring", "only bcast runs there"},
      {"grid:form=lanes,rows=ring", "are written first+second"},
      {"grid:planes=flat", "three dimensions"},
      {"grid:width=4", "no parameter 'width'"},
      {"grid:rows=flat,rows=flat", "given twice"},
      {"grid:rows", "valid: shape="},
  };
  for (const auto& [text, expected] : wrong) {
    const auto spec = parse_spec(Collective::bcast, text);
    ASSERT_FALSE(spec) << text;
    EXPECT_NE(spec.error().find(expected), std::string::npos) << text << ": " << spec.error();
    EXPECT_EQ(spec.error().find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace unisono
