// The checker itself: valid schedules pass, and each property has a schedule that breaks it.
#include "schedule/checker.h"

#include <gtest/gtest.h>

#include <functional>

#include "schedule/builder.h"
#include "schedule/problem.h"

namespace unisono {
namespace {

using Program = std::function<void(Builder&)>;

std::string outcome(const Problem& problem, const Program& program) {
  const ArgsOfRanks ranks(problem);
  std::vector<Schedule> schedules;
  for (const Args& args : ranks.args()) {
    Builder builder(args);
    program(builder);
    schedules.push_back(std::move(builder).finish());
  }
  const auto violation = check(ranks.args(), schedules);
  return violation ? violation->text() : "";
}

const Problem kBcast{.collective = Collective::bcast, .size = 2, .count = 4};
const Problem kAllreduce{.collective = Collective::allreduce, .size = 2, .count = 4};

TEST(Checker, AcceptsAValidBroadcast) {
  EXPECT_EQ(
      outcome(kBcast,
              [](Builder& b) { b.rank() == 0 ? b.send(1, b.output()) : b.recv(0, b.output()); }),
      "");
}

TEST(Checker, MissingMessage) {
  EXPECT_EQ(outcome(kBcast,
                    [](Builder& b) {
                      if (b.rank() == 1) b.recv(0, b.output());
                    }),
            "rank 1, op 0, output[0..3]: waits for a message that rank 0 never sends");
}

TEST(Checker, MessageNobodyReceives) {
  EXPECT_EQ(outcome(kBcast,
                    [](Builder& b) {
                      if (b.rank() == 0) b.send(1, b.output());
                    }),
            "rank 0, op 0, output[0..3]: sends a message that rank 1 never receives");
}

TEST(Checker, LengthsDiffer) {
  EXPECT_EQ(outcome(kBcast,
                    [](Builder& b) {
                      b.rank() == 0 ? b.send(1, b.output()) : b.recv(0, b.output().part(0, 3));
                    }),
            "rank 1, op 0, output[0..2]: receives 3 units where rank 0 sends 4");
}

TEST(Checker, IncompleteResult) {
  EXPECT_EQ(
      outcome(kBcast,
              [](Builder& b) {
                const Slice part = b.output().part(0, 3);
                b.rank() == 0 ? b.send(1, part) : b.recv(0, part);
              }),
      "rank 1, at the end, output[3]: holds nothing of cell 0 where MPI defines {0} of cell 3");
}

TEST(Checker, CellsInTheWrongPlace) {
  EXPECT_EQ(outcome(kBcast,
                    [](Builder& b) {
                      for (const Count at : {0, 2}) {
                        if (b.rank() == 0)
                          b.send(1, b.output().part(at, 2));
                        else
                          b.recv(0, b.output().part(2 - at, 2));
                      }
                    }),
            "rank 1, at the end, output[0]: holds {0} of cell 2 where MPI defines {0} of cell 0");
}

TEST(Checker, ReadBeforeWrite) {
  EXPECT_EQ(outcome(kAllreduce,
                    [](Builder& b) {
                      const Slice got = b.scratch(4);
                      b.send(1 - b.rank(), b.output());
                      b.recv(1 - b.rank(), got);
                    }),
            "rank 1, op 0, output[0]: reads what nobody wrote");
}

TEST(Checker, DeadlockWithoutBuffering) {
  EXPECT_EQ(outcome(kAllreduce,
                    [](Builder& b) {
                      b.copy(b.input(), b.output());
                      const Slice got = b.scratch(4);
                      b.after(b.send(1 - b.rank(), b.input()));
                      b.recv(1 - b.rank(), got);
                      b.reduce(got, b.output());
                    }),
            "rank 0, op 1, input[0..3]: deadlocks without buffering: op 2 of rank 1 never starts");
}

TEST(Checker, DoubleContribution) {
  EXPECT_EQ(outcome(kAllreduce,
                    [](Builder& b) {
                      b.copy(b.input(), b.output());
                      const Slice twice = b.scratch(4);
                      b.copy(b.input(), twice);
                      b.reduce(twice, b.output());
                    }),
            "rank 0, op 2, output[0]: may not combine {0} (+) {0}");
}

TEST(Checker, OrderMattersWhenNotCommutative) {
  Problem problem = kAllreduce;
  const Program program = [](Builder& b) {
    b.copy(b.input(), b.output());
    const Slice got = b.scratch(4);
    b.send(1 - b.rank(), b.input());
    b.recv(1 - b.rank(), got);
    b.reduce(got, b.output());  // wrong on rank 0: {1} (+) {0}
  };
  EXPECT_EQ(outcome(problem, program), "");
  problem.commutative = false;
  EXPECT_EQ(outcome(problem, program), "rank 0, op 3, output[0]: may not combine {1} (+) {0}");
}

TEST(Checker, OutOfBounds) {
  EXPECT_EQ(outcome(kBcast,
                    [](Builder& b) {
                      const Slice slice = b.scratch(3);
                      b.copy(b.output(), {slice.buffer, 0, 4});
                    }),
            "rank 0, op 0, scratch0[0..3]: is out of bounds");
}

TEST(Checker, WriteIntoTheInput) {
  EXPECT_EQ(outcome(kAllreduce,
                    [](Builder& b) {
                      const Slice slice = b.scratch(4);
                      b.copy(slice, b.input());
                    }),
            "rank 0, op 0, input[0..3]: writes into the input");
}

TEST(Checker, BarrierMustHearOfEveryone) {
  const Problem problem{.collective = Collective::barrier, .size = 3};
  EXPECT_EQ(outcome(problem,
                    [](Builder& b) {
                      b.send_token((b.rank() + 1) % 3);
                      b.recv_token((b.rank() + 2) % 3);
                    }),
            "rank 0, at the end: may leave before rank 1 has arrived");
  EXPECT_EQ(outcome(problem,
                    [](Builder& b) {
                      for (const int step : {1, 2}) {
                        b.send_token((b.rank() + step) % 3);
                        b.recv_token((b.rank() + 3 - step) % 3);
                        b.end_round();
                      }
                    }),
            "");
}

// The builder never makes a race, so these schedules are put together by hand.
TEST(Checker, RaceBetweenUnorderedOps) {
  const ArgsOfRanks ranks(kBcast);
  std::vector<Schedule> schedules;
  schedules.emplace_back(
      std::vector<Op>{{.kind = OpKind::send, .buffer = kOutput, .peer = 1, .length = 4}},
      std::vector<std::uint32_t>{0, 0}, std::vector<OpId>{}, std::vector<Count>{});
  schedules.emplace_back(
      std::vector<Op>{
          {.kind = OpKind::recv, .buffer = kOutput, .peer = 0, .length = 4},
          {.kind = OpKind::copy, .buffer = kFirstScratch, .from_buffer = kOutput, .length = 4}},
      std::vector<std::uint32_t>{0, 0, 0}, std::vector<OpId>{}, std::vector<Count>{4});
  EXPECT_EQ(check(ranks.args(), schedules)->text(), "rank 1, op 1, output[0..3]: races with op 0");
}

TEST(Checker, TooManyMessagesOnAChannel) {
  const Problem problem{.collective = Collective::bcast, .size = 2, .count = kChannelDepth + 1};
  const ArgsOfRanks ranks(problem);
  const auto n = static_cast<std::size_t>(problem.count);
  std::vector<Schedule> schedules;
  for (const OpKind kind : {OpKind::send, OpKind::recv}) {
    std::vector<Op> ops;
    for (Count i = 0; i < problem.count; ++i)
      ops.push_back({.kind = kind,
                     .buffer = kOutput,
                     .peer = kind == OpKind::send ? 1 : 0,
                     .offset = i,
                     .length = 1,
                     .from_offset = i});
    schedules.emplace_back(ops, std::vector<std::uint32_t>(n + 1, 0), std::vector<OpId>{},
                           std::vector<Count>{});
  }
  EXPECT_EQ(check(ranks.args(), schedules)->text(),
            "rank 0, op 1024: may be under way with more than 1024 messages on its channel");
}

}  // namespace
}  // namespace unisono
