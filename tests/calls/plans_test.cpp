#include "calls/plans.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "algorithms/composition.h"

namespace unisono {
namespace {

const Algorithm& row(std::string_view name) {
  for (const Algorithm& algorithm : catalogue())
    if (algorithm.name == name) return algorithm;
  throw std::runtime_error("no such row");
}

std::string key_of(std::string_view algorithm, const Params& params) {
  Args args;
  args.collective = Collective::allreduce;
  args.size = 4;
  args.count = 100;
  args.params = params;
  std::string key;
  describe_plan(key, row(algorithm), args);
  return key;
}

Composition grid(int columns) {
  Composition made;
  made.shape = {2, columns};
  made.columns = {&row("ring"), {.segment = 1024}};
  return made;
}

TEST(PlanKey, IsTheSameForTheSameValuesWhereverTheyAre) {
  const auto one = std::make_unique<Composition>(grid(2)),
             other = std::make_unique<Composition>(grid(2));
  EXPECT_EQ(key_of("grid", {.composition = one.get()}),
            key_of("grid", {.composition = other.get()}));
  const std::vector<int> late = {1, 3}, again = {1, 3};
  EXPECT_EQ(key_of("ring", {.late = &late}), key_of("ring", {.late = &again}));
}

TEST(PlanKey, IsAnotherForOtherValuesAtTheSameAddress) {
  Composition composition = grid(2);
  std::vector<std::string> keys = {key_of("grid", {.composition = &composition}),
                                   key_of("grid", {})};
  const auto changed = [&](auto change) {
    composition = grid(2);
    change(composition);
    keys.push_back(key_of("grid", {.composition = &composition}));
  };
  changed([](Composition& c) { c.shape = {4, 1}; });
  changed([](Composition& c) { c.levels = {Level::node}; });
  changed([](Composition& c) { c.form = Form::lanes; });
  changed([](Composition& c) { c.rows[1].algorithm = &row("ring"); });
  changed([](Composition& c) { c.columns.algorithm = nullptr; });
  changed([](Composition& c) { c.columns.params.segment = 2048; });
  std::vector<int> late = {1, 3};
  keys.push_back(key_of("grid", {.late = &late}));
  late = {3, 1};
  keys.push_back(key_of("grid", {.late = &late}));
  for (std::size_t i = 0; i < keys.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(keys[i], keys[j]) << i << " and " << j;
}

}  // namespace
}  // namespace unisono
