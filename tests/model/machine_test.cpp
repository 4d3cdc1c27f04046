#include "model/machine.h"

#include <gtest/gtest.h>

namespace unisono {
namespace {

TEST(Cost, IsLinearOnItsIntervalsAndNeverNegative) {
  const Cost cost{{{0, 1, 0.5}, {100, -10, 2}}};
  EXPECT_DOUBLE_EQ(cost(0), 1);
  EXPECT_DOUBLE_EQ(cost(99), 50.5);
  EXPECT_DOUBLE_EQ(cost(100), 190);
  EXPECT_DOUBLE_EQ((Cost{{{0, -5, 1}}})(2), 0);
  EXPECT_DOUBLE_EQ(Cost{}(1000), 0);
}

TEST(MachineFile, KeepsEverything) {
  Machine machine{.flavour = "openmpi", .library = "Open MPI v5", .gamma = 1e-10, .copy = 2e-10};
  machine.levels[kBetweenNodes] = {
      {{{0, 1e-6, 1e-9}, {65536, 1e-5, 5e-10}}}, {{{0, 1e-7, 1e-9}}}, {}, 4};
  const auto read = read_machine(write_machine(machine));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(write_machine(*read), write_machine(machine));
  EXPECT_EQ(read->levels[kBetweenNodes]->active, 4);
  EXPECT_EQ(read->flavour, "openmpi");
  EXPECT_FALSE(read->levels[kWithinNode]);
  EXPECT_DOUBLE_EQ(read->levels[kBetweenNodes]->one_way(100000), 1e-5 + 5e-5);
}

TEST(MachineFile, KeepsWhatPortsLose) {
  Machine machine;
  EXPECT_EQ(write_machine(machine).find("incast"), std::string::npos);
  machine.incast = kCheapSwitch;
  const auto read = read_machine(write_machine(machine));
  ASSERT_TRUE(read) << read.error();
  EXPECT_TRUE(read->incast.loses());
  EXPECT_EQ(write_machine(*read), write_machine(machine));
}

TEST(MachineFile, KeepsWhatTheMemoryOfANodeDoes) {
  Machine machine;
  EXPECT_EQ(write_machine(machine).find("node_memory"), std::string::npos);
  machine.node_memory = {.stores = {{{{0, 3e-7, 3e-10}}}, {{{0, 1e-7, 2e-10}}}},
                         .copy = {{{0, 1e-8, 1e-11}, {65536, 0, 4e-11}}},
                         .combine = {{{0, 2e-8, 2e-11}}},
                         .fence = 2e-7};
  auto read = read_machine(write_machine(machine));
  ASSERT_TRUE(read) << read.error();
  ASSERT_TRUE(read->node_memory);
  EXPECT_FALSE(read->node_memory->single_copy) << "not permitted where it was measured";
  EXPECT_FALSE(read->node_memory->copies_once(1 << 30));
  machine.node_memory->single_copy = {{{{0, 2e-6, 1e-10}}}, {{{0, 2e-6, 1e-10}}}};
  read = read_machine(write_machine(machine));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(write_machine(*read), write_machine(machine));
  EXPECT_DOUBLE_EQ(read->node_memory->fence, 2e-7);
  EXPECT_DOUBLE_EQ(read->node_memory->copy(100000), 4e-6);
  // The lines cross at 8500 bytes.
  EXPECT_FALSE(read->node_memory->copies_once(8400));
  EXPECT_TRUE(read->node_memory->copies_once(8600));
  EXPECT_DOUBLE_EQ(read->node_memory->way(8400).gap(8400), 1e-7 + 8400 * 2e-10);
  EXPECT_DOUBLE_EQ(read->node_memory->way(8600).gap(8600), 2e-6 + 8600 * 1e-10);
}

TEST(MachineFile, InOneLine) {
  Machine machine;
  machine.levels[kBetweenNodes] = hockney(6e-5, 8e-8);
  EXPECT_EQ(summary(machine), "between nodes 60.0 us, 60.0 us a message, 100 Mb/s");
}

TEST(MachineFile, BrokenOnesAreOneLine) {
  for (const char* text :
       {"", "[]", "{}", R"({"format": 7})", R"({"format":"unisono-machine"})",
        R"({"format":"unisono-machine","version":2})",
        R"({"format":"unisono-machine","version":1})",
        R"({"format":"unisono-machine","version":1,"mpi":{"flavour":1,"library":2}})"}) {
    const auto machine = read_machine(text);
    ASSERT_FALSE(machine) << text;
    EXPECT_EQ(machine.error().find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace unisono
