#include "calls/plans.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "algorithms/composition.h"
#include "patterns/message_order.h"

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

TEST(PlanKey, HoldsTheOrderOfMessagesAndTheMatrix) {
  const auto key = [](const MessageOrder* order, const CountMatrix* matrix) {
    Args args;
    args.collective = Collective::alltoallv;
    args.size = 3;
    args.order = order;
    args.matrix = matrix;
    std::string key;
    describe_plan(key, row("greedy"), args);
    return key;
  };
  const MessageOrder one{2, {{1, 0, true}, {2, 1, true}}}, same = one;
  const MessageOrder swapped{2, {{2, 0, true}, {1, 1, true}}}, more{3, one.steps};
  EXPECT_EQ(key(&one, nullptr), key(&same, nullptr));
  for (const MessageOrder* other : {&swapped, &more, static_cast<const MessageOrder*>(nullptr)})
    EXPECT_NE(key(&one, nullptr), key(other, nullptr));
  const std::vector<Count> counts = {0, 1, 0, 2, 0, 0, 0, 0, 0},
                           moved = {0, 0, 1, 2, 0, 0, 0, 0, 0};
  const CountMatrix a(counts, 3), b(counts, 3), c(moved, 3);
  EXPECT_EQ(key(nullptr, &a), key(nullptr, &b));
  EXPECT_NE(key(nullptr, &a), key(nullptr, &c));
}

}  // namespace
}  // namespace unisono
