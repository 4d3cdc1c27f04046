#include "node/messenger.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>
#include <tuple>

#include "node/pool.h"
#include "node/tuning.h"
#include "tests/node/messages.h"

namespace unisono::node {
namespace {

class Messages : public testing::TestWithParam<std::tuple<WaitMode, std::size_t>> {
 protected:
  static MessageSetting setting(int size, std::size_t slot_bytes = 256) {
    return {size, slot_bytes, std::get<0>(GetParam()), std::get<1>(GetParam())};
  }
};

TEST_P(Messages, ComeInAnyOrderBetweenAll) {
  for (int size = 2; size <= 5; ++size)
    EXPECT_EQ(message_threads(setting(size),
                              [size](Messenger& messenger, int rank) {
                                std::string wrong;
                                for (std::uint64_t seed = 1; seed <= 12 && wrong.empty(); ++seed)
                                  wrong = exchange_randomly(messenger, rank, size, 20, 6000, seed);
                                return wrong;
                              }),
              "");
}

/// At the borders of what is short, of a slot, of the ring, and of what is long.
TEST_P(Messages, OfEveryLength) {
  constexpr std::size_t kSlot = 256, kRing = SharedMemory::kCells * kSlot;
  std::vector<std::size_t> lengths;
  for (const std::size_t border :
       {std::size_t{1}, kShort, kSlot, 2 * kSlot, kRing, 1000UL, 3 * kRing})
    lengths.insert(lengths.end(), {border - 1, border, border + 1});
  EXPECT_EQ(message_threads(setting(2, kSlot),
                            [&lengths](Messenger& messenger, int rank) -> std::string {
                              for (const std::size_t bytes : lengths) {
                                const int tag = static_cast<int>(bytes % 4096);
                                std::vector<std::uint32_t> done;
                                Bytes data = message(0, 1, tag, bytes);
                                if (rank == 1) data.assign(bytes + 8, kUntouched);
                                if (rank == 0)
                                  messenger.send(1, tag, data.data(), bytes, {&done, 1});
                                else
                                  messenger.recv(0, tag, data.data(), bytes, {&done, 1});
                                wait_for(messenger, done, 1);
                                Bytes expected = message(0, 1, tag, bytes);
                                if (rank == 1) expected.resize(bytes + 8, kUntouched);
                                if (data != expected) return std::to_string(bytes) + " bytes";
                              }
                              return "";
                            }),
            "");
}

/// Adds bytes up, and counts the pieces in which they came.
struct Sums {
  std::size_t pieces = 0;
  Reduction reduction{add, this, 1};
  static void add(const void* sums, const std::byte* left, const std::byte* right, std::byte* out,
                  std::size_t count) {
    ++static_cast<Sums*>(const_cast<void*>(sums))->pieces;
    for (std::size_t i = 0; i < count; ++i)
      out[i] =
          static_cast<std::byte>(std::to_integer<int>(left[i]) + std::to_integer<int>(right[i]));
  }
};

/// Where the sum is: in a place of its own, or where the message comes to.
enum class SumIn { place, room };

/// Rank 0 sends messages of these lengths, and rank 1 adds each to the same bytes. Empty, or which
/// is wrong.
template <class Memory>
std::string add_up(BasicMessenger<Memory>& messenger, int rank,
                   const std::vector<std::size_t>& lengths, SumIn where, bool aside = false) {
  std::string wrong;
  for (const std::size_t bytes : lengths) {
    const int tag = static_cast<int>(bytes % 4096);
    std::vector<std::uint32_t> done;
    const Bytes data = message(0, 1, tag, bytes);
    if (rank == 0) {
      messenger.send(1, tag, data.data(), bytes, {&done, 1});
      messenger.send(1, tag + 1, nullptr, 0, {&done, 2});
      wait_for(messenger, done, 2);
      continue;
    }
    Bytes sum = data, room(bytes);
    Sums sums;
    const auto wait_for_mark = [&] { messenger.recv(0, tag + 1, nullptr, 0, {&done, 2}); };
    if (aside) {  // until the one behind it has come
      wait_for_mark();
      wait_for(messenger, done, 1);
    }
    const bool in_room = where == SumIn::room;
    std::byte* into = in_room ? room.data() : sum.data();
    messenger.recv(0, tag, room.data(), bytes, {&done, 1}, {&sums.reduction, sum.data(), into});
    if (!aside) wait_for_mark();
    wait_for(messenger, done, 2);
    for (std::size_t i = 0; i < bytes; ++i)
      if (into[i] != data[i] << 1) wrong = std::to_string(bytes) + " bytes";
    if (bytes > 0 && sums.pieces == 0) wrong = "not added as they came";
  }
  return wrong;
}

TEST_P(Messages, AreReducedAsTheyCome) {
  constexpr std::size_t kSlot = 256;
  const std::vector<std::size_t> lengths{0,     1,         kShort, kShort + 1, kSlot - 1,
                                         kSlot, kSlot + 1, 700,    2000,       6001};
  for (const SumIn where : {SumIn::place, SumIn::room})
    for (const bool aside : {false, true})
      EXPECT_EQ(message_threads(setting(2, kSlot),
                                [&](Messenger& messenger, int rank) {
                                  return add_up(messenger, rank, lengths, where, aside);
                                }),
                "");
}

/// Direct copies fail from the fourth on.
struct FailsLater : SharedMemory {
  inline static int pulls = 0;
  static bool pull(pid_t process, std::byte* to, const std::byte* from, std::size_t bytes) {
    return ++pulls < 4 && SharedMemory::pull(process, to, from, bytes);
  }
};

// What was added before the copy failed comes again, and is not added again.
TEST(Messenger, ReducesOnceWhatComesAgain) {
  for (const SumIn where : {SumIn::place, SumIn::room}) {
    FailsLater::pulls = 0;
    EXPECT_EQ(message_threads<FailsLater>({2, 256, WaitMode::yield, 512},
                                          [where](BasicMessenger<FailsLater>& messenger, int rank) {
                                            return add_up(messenger, rank, {100'001, 3000}, where);
                                          }),
              "");
    EXPECT_EQ(FailsLater::pulls, 4);
  }
}

/// Both have sent far more than the rings hold before either receives.
TEST_P(Messages, PassFullRingsOnBothSides) {
  EXPECT_EQ(
      message_threads(
          setting(2),
          [](Messenger& messenger, int rank) -> std::string {
            constexpr int kCount = 60;
            std::vector<std::uint32_t> done;
            std::vector<Bytes> sent, received(kCount, Bytes(700));
            for (int tag = 0; tag < kCount; ++tag)
              sent.push_back(message(rank, 1 - rank, tag, 700));
            for (int tag = 0; tag < kCount; ++tag)
              messenger.send(1 - rank, tag, sent[static_cast<std::size_t>(tag)].data(), 700,
                             {&done, 0});
            for (int tag = 0; tag < kCount; ++tag)
              messenger.recv(1 - rank, tag, received[static_cast<std::size_t>(tag)].data(), 700,
                             {&done, 0});
            wait_for(messenger, done, 2 * kCount);
            for (int tag = 0; tag < kCount; ++tag)
              if (received[static_cast<std::size_t>(tag)] != message(1 - rank, rank, tag, 700))
                return "message " + std::to_string(tag);
            return "";
          }),
      "");
}

/// Rings wrap around thousands of times.
TEST_P(Messages, GoRoundAndRound) {
  constexpr int kRounds = 1000;
  EXPECT_EQ(message_threads(
                setting(3),
                [](Messenger& messenger, int rank) -> std::string {
                  std::vector<std::uint32_t> done;
                  for (int round = 0; round < kRounds; ++round) {
                    int mine = 3 * round + rank, theirs = -1;
                    done.clear();
                    messenger.recv((rank + 2) % 3, round % 7, reinterpret_cast<std::byte*>(&theirs),
                                   sizeof theirs, {&done, 0});
                    messenger.send((rank + 1) % 3, round % 7, reinterpret_cast<std::byte*>(&mine),
                                   sizeof mine, {&done, 1});
                    wait_for(messenger, done, 2);
                    if (theirs != 3 * round + (rank + 2) % 3) return "wrong value";
                  }
                  return "";
                }),
            "");
}

INSTANTIATE_TEST_SUITE_P(, Messages,
                         testing::Combine(testing::Values(WaitMode::spin, WaitMode::yield,
                                                          WaitMode::sleep),
                                          testing::Values(DirectFrom::kNever, 1, 1000)));

/// Two ranks that one thread plays.
class TwoSides : public testing::Test {
 protected:
  void SetUp() override {
    left_.allow_direct(processes_, 1000);
    right_.allow_direct(processes_, 1000);
  }
  void send(int tag, const Bytes& data, std::vector<std::uint32_t>& done) {
    left_.send(1, tag, data.data(), data.size(), {&done, static_cast<std::uint32_t>(tag)});
  }
  void recv(int tag, Bytes& into) {
    right_.recv(0, tag, into.data(), into.size(), {&received_, static_cast<std::uint32_t>(tag)});
  }
  void move() {
    while (left_.progress() || right_.progress()) {
    }
  }
  using List = std::vector<std::uint32_t>;

  TestArena<Messenger> arena_{2, 128};
  std::array<pid_t, 2> processes_{getpid(), getpid()};
  Messenger left_{arena_.memory(), 0, 2}, right_{arena_.memory(), 1, 2};
  List sent_, received_;
};

TEST_F(TwoSides, ShortMessagesWaitInTheRingUntilItIsFull) {
  const Bytes data(10);
  for (int tag = 0; tag < 10; ++tag) send(tag, data, sent_);
  move();
  EXPECT_EQ(sent_, (List{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(right_.progress(), false);  // nobody has asked for any
  Bytes into(10);
  recv(0, into);
  EXPECT_EQ(received_, List{0});  // at once
  move();
  EXPECT_EQ(sent_.size(), 9U);
}

TEST_F(TwoSides, MessagesAreSetAsideForOneBehindThem) {
  const Bytes first = message(0, 1, 1, 50), second = message(0, 1, 2, 500),
              third = message(0, 1, 3, 2000), fourth = message(0, 1, 4, 60);
  send(1, first, sent_);
  send(2, second, sent_);
  send(3, third, sent_);
  send(4, fourth, sent_);
  Bytes into[4] = {Bytes(50), Bytes(500), Bytes(2000), Bytes(60)};
  recv(4, into[3]);
  move();
  EXPECT_EQ(received_, List{4});
  EXPECT_EQ(sent_, (List{1, 2, 4, 3}));  // the long one too: it has been copied
  recv(2, into[1]);
  recv(3, into[2]);
  recv(1, into[0]);
  EXPECT_EQ(received_, (List{4, 2, 3, 1}));
  EXPECT_EQ(into[0], first);
  EXPECT_EQ(into[1], second);
  EXPECT_EQ(into[2], third);
  EXPECT_EQ(into[3], fourth);
}

/// Only the first pieces of it have come when it is asked for.
TEST_F(TwoSides, MessageIsAskedForWhileItIsSetAside) {
  const Bytes middle = message(0, 1, 1, 999), behind = message(0, 1, 2, 30);
  send(1, middle, sent_);
  send(2, behind, sent_);
  Bytes into(30), into_middle(999);
  recv(2, into);
  ASSERT_TRUE(received_.empty());
  recv(1, into_middle);
  move();
  EXPECT_EQ(received_, (List{1, 2}));
  EXPECT_EQ(into_middle, middle);
  EXPECT_EQ(into, behind);
}

TEST_F(TwoSides, LongMessageIsItsSendersUntilItHasBeenCopied) {
  const Bytes data = message(0, 1, 5, 5000);
  send(5, data, sent_);
  move();
  EXPECT_TRUE(sent_.empty());
  Bytes into(5000);
  recv(5, into);
  EXPECT_EQ(received_, List{5});
  move();
  EXPECT_EQ(sent_, List{5});
  EXPECT_EQ(into, data);
}

TEST_F(TwoSides, MessageThatIsTooLongIsCutAndReported) {
  for (const std::size_t bytes : {50U, 500U, 5000U}) {
    const Bytes data = message(0, 1, 1, bytes);
    Bytes into(bytes, kUntouched);
    send(1, data, sent_);
    right_.recv(0, 1, into.data(), bytes - 7, {&received_, 1});
    move();
    EXPECT_TRUE(right_.take_truncated());
    EXPECT_FALSE(right_.take_truncated());
    EXPECT_TRUE(std::equal(data.begin(), data.end() - 7, into.begin()));
    EXPECT_EQ(Bytes(into.end() - 7, into.end()), Bytes(7, kUntouched));
  }
  EXPECT_EQ(sent_.size() + received_.size(), 6U);
}

/// Messages of others go on behind them.
TEST_F(TwoSides, AbandonedMessagesLeaveTheChannelWhole) {
  List given_up;
  const Bytes lost = message(0, 1, 1, 999 + 1024), kept = message(0, 1, 3, 300);
  Messenger slow{arena_.memory(), 0, 2};  // in pieces: more than the ring holds
  slow.send(1, 1, lost.data(), lost.size(), {&given_up, 1});
  slow.send(1, 2, lost.data(), lost.size(), {&given_up, 2});
  slow.send(1, 3, kept.data(), kept.size(), {&sent_, 3});
  slow.abandon(&given_up);
  Bytes into(lost.size(), kUntouched), into_kept(300);
  right_.recv(0, 9, into.data(), into.size(), {&given_up, 9});
  right_.abandon(&given_up);
  recv(3, into_kept);
  for (int i = 0; i < 100; ++i) {
    slow.progress();
    right_.progress();
  }
  EXPECT_EQ(received_, List{3});
  EXPECT_EQ(sent_, List{3});
  EXPECT_TRUE(given_up.empty());
  EXPECT_EQ(into_kept, kept);
  EXPECT_EQ(into, Bytes(lost.size(), kUntouched));
}

// ---- who is woken -------------------------------------------------------------------------------

struct CountingMemory : SharedMemory {
  inline static std::atomic<int> wakes{0};
  static void wake(Word& word) {
    ++wakes;
    SharedMemory::wake(word);
  }
};

/// Rank 2's messages come to rank 1 while it sleeps until rank 0's comes.
TEST(Sleepers, AreWokenByWhatTheyWaitFor) {
  CountingMemory::wakes = 0;
  std::atomic<bool> others_are_there{false};
  const std::string wrong = message_threads<CountingMemory>(
      {3, 256, WaitMode::sleep}, [&](BasicMessenger<CountingMemory>& messenger, int rank) {
        using namespace std::chrono_literals;
        std::vector<std::uint32_t> done;
        Bytes data(50);
        if (rank == 1) {
          messenger.recv(0, 0, data.data(), data.size(), {&done, 0});
          wait_for(messenger, done, 1);
        } else {
          if (rank == 2) std::this_thread::sleep_for(20ms);
          while (rank == 0 && !others_are_there) std::this_thread::sleep_for(1ms);
          for (int tag = 0; tag < (rank == 2 ? 5 : 1); ++tag)
            messenger.send(1, tag, data.data(), data.size(), {&done, 0});
          others_are_there = true;
        }
        return std::string();
      });
  EXPECT_EQ(wrong, "");
  EXPECT_LE(CountingMemory::wakes, 1);
}

/// 64 pieces through a ring of 8: each side is woken for half a ring, not for each.
TEST(Sleepers, AreWokenForHalfARing) {
  CountingMemory::wakes = 0;
  EXPECT_EQ(message_threads<CountingMemory>(
                {2, 256, WaitMode::sleep},
                [](BasicMessenger<CountingMemory>& messenger, int rank) {
                  std::vector<std::uint32_t> done;
                  Bytes data(64 * 256);
                  if (rank == 0)
                    messenger.send(1, 0, data.data(), data.size(), {&done, 0});
                  else
                    messenger.recv(0, 0, data.data(), data.size(), {&done, 0});
                  wait_for(messenger, done, 1);
                  return std::string();
                }),
            "");
  EXPECT_LE(CountingMemory::wakes, 2 * 64 / 4);
}

// ---- how much room they take --------------------------------------------------------------------

TEST(ChannelSlots, FitIntoTheLargestArenaForUpTo41Ranks) {
  EXPECT_EQ(preferred_channel_slot(2), 16384U);
  EXPECT_EQ(preferred_channel_slot(16), 1024U);
  for (int size = 2; size <= 41; ++size)
    EXPECT_LE(Messenger::arena_bytes(size, preferred_channel_slot(size)), Pool::kLargestArena);
  EXPECT_GT(Messenger::arena_bytes(42, preferred_channel_slot(42)), Pool::kLargestArena);
}

}  // namespace
}  // namespace unisono::node
