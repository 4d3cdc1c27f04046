// Messages in every interleaving of two or three ranks: of the cells, of `taken`, and of who rings
// whom.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "node/messenger.h"
#include "tests/node/explored_team.h"

namespace unisono::node {
namespace {

constexpr std::size_t kLong = 2000, kTwoPieces = 2 * kLinePair, kLittle = 8;

/// What several ranks may read and write: the arena, and where each has its messages.
struct Shared {
  struct alignas(kLinePair) Unit {
    std::array<std::byte, kLinePair> bytes{};
  };
  static constexpr std::size_t kPlace = 2048, kPlaces = 6;

  Shared(std::size_t arena_bytes, int ranks)
      : arena_units_(arena_bytes / kLinePair),
        units_(arena_units_ + static_cast<std::size_t>(ranks) * kPlaces * kPlace / kLinePair) {
    current = this;
  }
  void clear() { std::fill(units_.begin(), units_.end(), Unit{}); }
  std::span<std::byte> arena() { return all().first(arena_units_ * kLinePair); }
  std::byte* place(int rank, std::size_t i) {
    return all().data() + arena_units_ * kLinePair +
           (static_cast<std::size_t>(rank) * kPlaces + i) * kPlace;
  }
  bool holds(const std::byte* address) {
    return address >= all().data() && address < all().data() + all().size();
  }

  inline static Shared* current = nullptr;

 private:
  std::span<std::byte> all() {
    return {reinterpret_cast<std::byte*>(units_.data()), units_.size() * kLinePair};
  }
  std::size_t arena_units_;
  std::vector<Unit> units_;
};

/// Two cells to a ring. Of what is copied one word stands for all. `kRefuses`: no direct copy
/// works.
template <Flaw kFlaw, bool kRefuses = false>
struct MessageMemory : Explored<kFlaw, Rings{2, 2}> {
  static void copy(std::byte* to, const std::byte* from, std::size_t bytes) {
    if (bytes == 0) return;
    std::uint64_t value = 0;
    if (Shared::current->holds(from))
      value = get<MessageMemory>(from);
    else
      std::memcpy(&value, from, sizeof value);
    if (Shared::current->holds(to))
      put<MessageMemory>(to, value);
    else
      std::memcpy(to, &value, sizeof value);
  }
  static bool pull(pid_t, std::byte* to, const std::byte* from, std::size_t bytes) {
    if (!kRefuses) copy(to, from, bytes);
    return !kRefuses;
  }
};

/// A rank's messenger and the memory of its messages.
template <Flaw kFlaw, bool kRefuses = false>
class Player {
 public:
  using Memory = MessageMemory<kFlaw, kRefuses>;
  Player(int rank, int size, const WaitPolicy& policy)
      : rank_(rank), mode_(policy.mode), messenger_(Shared::current->arena(), rank, size, policy) {
    messenger_.allow_direct(kProcesses, kRefuses ? kTwoPieces : kLong);
  }

  void send(int to, int tag, std::size_t bytes) {
    std::byte* data = place();
    for (std::size_t at = 0; at < bytes; at += kLinePair) put<Memory>(data + at, value_of(tag, at));
    messenger_.send(to, tag, data, bytes, {&done_, 0});
    ++posted_;
  }
  void recv(int from, int tag, std::size_t bytes) {
    std::byte* into = place();
    messenger_.recv(from, tag, into, bytes, {&done_, 0});
    expected_.push_back({into, tag, bytes});
    ++posted_;
  }
  /// All that was posted is complete, and right; what was sent is written over.
  void finish() {
    while (done_.size() < posted_) {
      if (mode_ == WaitMode::sleep)
        messenger_.wait();
      else
        look();
    }
    for (const Expected& one : expected_)
      for (std::size_t at = 0; at < (one.bytes < kLong ? one.bytes : 1); at += kLinePair)
        check<Memory>(one.into + at, value_of(one.tag, at));
    expected_.clear();
    while (used_ > 0) put<Memory>(Shared::current->place(rank_, --used_), 0);
    std::uint64_t hash = ++finished_;
    for (const Step step : messenger_.state()) hash = mixed(hash, step);
    Explorer::current->forget(hash);
  }

 private:
  struct Expected {
    std::byte* into;
    int tag;
    std::size_t bytes;
  };
  inline static const std::array<pid_t, 3> kProcesses{};

  // A fruitless look leaves no trace: else there would be no end of different states.
  void look() {
    const auto before = Explorer::current->history();
    if (!messenger_.progress()) Explorer::current->forget(before);
  }
  std::byte* place() { return Shared::current->place(rank_, used_++); }
  static std::uint64_t value_of(int tag, std::size_t at) {
    return 1000 * static_cast<std::uint64_t>(tag + 1) + (at > 0 ? 1 : 0);
  }

  int rank_;
  WaitMode mode_;
  BasicMessenger<Memory> messenger_;
  std::vector<std::uint32_t> done_;
  std::size_t posted_ = 0, used_ = 0, finished_ = 0;
  std::vector<Expected> expected_;
};

template <Flaw kFlaw, bool kRefuses = false, class Body>
Explorer::Outcome explore_messages(int ranks, WaitMode mode, bool store_buffers, Body body) {
  using Memory = MessageMemory<kFlaw, kRefuses>;
  using APlayer = Player<kFlaw, kRefuses>;
  Shared shared(BasicMessenger<Memory>::arena_bytes(ranks, kLinePair), ranks);
  Explorer explorer(store_buffers);
  // Not on the stacks of the ranks, which nobody destroys.
  std::vector<std::unique_ptr<APlayer>> players(static_cast<std::size_t>(ranks));
  return explorer.explore(
      ranks,
      [&] {
        shared.clear();
        BasicMessenger<Memory>::prepare(shared.arena().data(), ranks);
      },
      [&](int rank) {
        auto& player = players[static_cast<std::size_t>(rank)];
        player = std::make_unique<APlayer>(rank, ranks, WaitPolicy{mode});
        body(*player, rank);
      });
}

/// A message from rank 0 to rank 1.
template <class AnyPlayer>
void one_way(AnyPlayer& player, int rank, int tag, std::size_t bytes) {
  if (rank == 0)
    player.send(1, tag, bytes);
  else
    player.recv(0, tag, bytes);
}

class MessageProtocol : public CellProtocol {
 protected:
  template <class Body>
  void expect_right_messages(int ranks, Body body) {
    const WaitMode mode = std::get<0>(GetParam());
    const bool store_buffers = std::get<1>(GetParam());
    expect_right(explore_messages<Flaw::none>(ranks, mode, store_buffers, body));
  }
};

TEST_P(MessageProtocol, ShortOnesOneWay) {
  expect_right_messages(2, [](auto& player, int rank) {
    for (int tag = 0; tag < 3; ++tag) {
      one_way(player, rank, tag, kLittle);
      player.finish();
    }
  });
}

TEST_P(MessageProtocol, ThereAndBack) {
  expect_right_messages(2, [](auto& player, int rank) {
    for (int tag = 0; tag < 3; ++tag) {
      if ((rank + tag) % 2 == 0)
        player.send(1 - rank, tag, kLittle);
      else
        player.recv(1 - rank, tag, kLittle);
      player.finish();
    }
  });
}

TEST_P(MessageProtocol, BothWaysAtOnce) {
  expect_right_messages(2, [](auto& player, int rank) {
    player.send(1 - rank, 0, kLittle);
    player.recv(1 - rank, 0, kLittle);
    player.finish();
  });
}

TEST_P(MessageProtocol, FullRing) {
  // Ten seconds, and ShortOnesOneWay does as well.
  if (stores_are_late() && std::get<0>(GetParam()) == WaitMode::sleep) return;
  expect_right_messages(2, [](auto& player, int rank) {
    for (int tag = 0; tag < 3; ++tag) one_way(player, rank, tag, kLittle);
    player.finish();
  });
}

TEST_P(MessageProtocol, InPieces) {
  expect_right_messages(2, [](auto& player, int rank) {
    one_way(player, rank, 0, 3 * kLinePair);  // more than the ring has
    player.finish();
  });
}

TEST_P(MessageProtocol, ByAddress) {
  expect_right_messages(2, [](auto& player, int rank) {
    for (int tag = 0; tag < 2; ++tag) {
      one_way(player, rank, tag, kLong);
      player.finish();
    }
  });
}

/// While nobody sleeps, which would take minutes: FailingCopies does that at random.
class SpinningMessageProtocol : public MessageProtocol {};

/// The address leads nowhere: the message comes again in pieces, and so does the next.
TEST_P(SpinningMessageProtocol, ByAddressInVain) {
  const WaitMode mode = std::get<0>(GetParam());
  const bool store_buffers = std::get<1>(GetParam());
  const auto body = [](auto& player, int rank) {
    for (int tag = 0; tag < 2; ++tag) {
      one_way(player, rank, tag, kTwoPieces);
      player.finish();
    }
  };
  expect_right(explore_messages<Flaw::none, true>(2, mode, store_buffers, body));
}

TEST_P(MessageProtocol, AskedForInAnotherOrder) {
  expect_right_messages(2, [](auto& player, int rank) {
    if (rank == 0) {
      player.send(1, 0, kLittle);
      player.send(1, 1, kLittle);
      player.finish();
    } else {
      player.recv(0, 1, kLittle);
      player.finish();
      player.recv(0, 0, kLittle);
      player.finish();
    }
  });
}

TEST_P(MessageProtocol, FromTwoToOne) {
  expect_right_messages(3, [](auto& player, int rank) {
    if (rank == 2) {
      player.recv(0, 0, kLittle);
      player.recv(1, 1, kLittle);
    } else {
      player.send(2, rank, kLittle);
    }
    player.finish();
  });
}

INSTANTIATE_TEST_SUITE_P(, SpinningMessageProtocol,
                         testing::Combine(testing::Values(WaitMode::spin), testing::Bool(),
                                          testing::Values(Store::plain)));
INSTANTIATE_TEST_SUITE_P(, MessageProtocol, with_plain_stores());

template <Flaw kFlaw>
std::string problem_with(bool store_buffers) {
  return explore_messages<kFlaw>(2, WaitMode::sleep, store_buffers,
                                 [](auto& player, int rank) {
                                   for (int tag = 0; tag < 2; ++tag) {
                                     one_way(player, rank, tag, kLong);
                                     player.finish();
                                   }
                                 })
      .problem.substr(0, 8);
}

TEST(BrokenMessageProtocol, LosesAWakeUp) {
  if (!kRuns) GTEST_SKIP() << "not with this sanitizer";
  EXPECT_EQ(problem_with<Flaw::none>(true), "");
  EXPECT_EQ(problem_with<Flaw::plain_store>(true), "deadlock");
  EXPECT_EQ(problem_with<Flaw::no_registration>(false), "deadlock");
  EXPECT_EQ(problem_with<Flaw::blind_sleep>(false), "deadlock");
}

}  // namespace
}  // namespace unisono::node
