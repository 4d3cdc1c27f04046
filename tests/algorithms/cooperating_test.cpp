// Every member gets what its own group has, through ranks that are in other groups or in none:
// all ranks' schedules are run symbolically, steps in any order that their dependencies allow, and
// no message is buffered.
#include "algorithms/cooperating.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <random>
#include <tuple>

namespace unisono {
namespace {

using Value = std::uint64_t;  // of a unit: a sum of what ranks had

/// What rank r has of unit i: sums of different ones differ.
Value had(int rank, Count i) {
  std::mt19937_64 mixed(static_cast<Value>(rank) * 1'000'003 + static_cast<Value>(i));
  mixed.discard(1);
  return mixed();
}

class Ranks {
 public:
  Ranks(std::vector<Schedule> schedules, Count count, unsigned seed)
      : schedules_(std::move(schedules)), random_(seed) {
    for (std::size_t r = 0; r < schedules_.size(); ++r) {
      auto& own = buffers_.emplace_back();
      own.resize(kFirstScratch);
      for (Count i = 0; i < count; ++i) {
        own[kInput].push_back(had(static_cast<int>(r), i));
        own[kOutput].push_back(0);
      }
      for (const Count length : schedules_[r].scratch())
        own.emplace_back(static_cast<std::size_t>(length));
      waits_.emplace_back();
      for (OpId id = 0; id < schedules_[r].ops().size(); ++id) {
        waits_[r].push_back(schedules_[r].dependencies(id).size());
        left_ += 1;
        if (waits_[r][id] == 0) ready_.emplace_back(r, id);
      }
      auto& followers = followers_.emplace_back(schedules_[r].ops().size());
      for (OpId id = 0; id < schedules_[r].ops().size(); ++id)
        for (const OpId on : schedules_[r].dependencies(id)) followers[on].push_back(id);
    }
  }

  std::vector<Value>& buffer(int rank, BufferId id) {
    return buffers_[static_cast<std::size_t>(rank)][id];
  }

  /// How many steps have never begun.
  std::size_t run() {
    while (!ready_.empty()) {
      std::swap(ready_[random_() % ready_.size()], ready_.back());
      const auto [rank, id] = ready_.back();
      ready_.pop_back();
      begin(rank, id);
    }
    return left_;
  }

 private:
  using Step = std::pair<std::size_t, OpId>;

  Value* at(std::size_t rank, Slice slice) {
    return buffers_[rank][slice.buffer].data() + slice.offset;
  }
  void begin(std::size_t rank, OpId id) {
    const Op& op = schedules_[rank].ops()[id];
    if (op.is_message()) {
      const auto peer = static_cast<std::size_t>(op.peer);
      const bool sends = op.kind == OpKind::send;
      const auto key =
          sends ? std::tuple(rank, peer, op.position()) : std::tuple(peer, rank, op.position());
      const auto [other, is_first] = posted_.try_emplace(key, rank, id);
      if (is_first) return;
      const Step peers = other->second;
      const Op& theirs = schedules_[peers.first].ops()[peers.second];
      ASSERT_NE(op.kind, theirs.kind);
      ASSERT_EQ(op.length, theirs.length);
      const Value* from = sends ? at(rank, op.slice()) : at(peers.first, theirs.slice());
      std::copy_n(from, op.length, sends ? at(peers.first, theirs.slice()) : at(rank, op.slice()));
      complete(peers.first, peers.second);
    } else if (op.kind == OpKind::copy) {
      std::copy_n(at(rank, op.from()), op.length, at(rank, op.slice()));
    } else if (op.kind == OpKind::reduce) {
      for (Count i = 0; i < op.length; ++i) at(rank, op.slice())[i] += at(rank, op.from())[i];
    }
    complete(rank, id);
  }
  void complete(std::size_t rank, OpId id) {
    --left_;
    for (const OpId next : followers_[rank][id])
      if (--waits_[rank][next] == 0) ready_.emplace_back(rank, next);
  }

  std::vector<Schedule> schedules_;
  std::mt19937 random_;
  std::vector<std::vector<std::vector<Value>>> buffers_;
  std::vector<std::vector<std::size_t>> waits_;
  std::vector<std::vector<std::vector<OpId>>> followers_;
  std::vector<Step> ready_;
  std::map<std::tuple<std::size_t, std::size_t, Count>, Step> posted_;
  std::size_t left_ = 0;
};

std::vector<TorusGroup> dealt(int hosts, int groups, int used, std::mt19937& random) {
  std::vector<int> order(static_cast<std::size_t>(hosts));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  std::vector<TorusGroup> found(static_cast<std::size_t>(groups));
  for (int i = 0; i < used; ++i)
    found[static_cast<std::size_t>(i % groups)].hosts.push_back(order[static_cast<std::size_t>(i)]);
  for (TorusGroup& group : found) group.root = group.hosts[group.hosts.size() / 2];
  return found;
}

std::vector<Schedule> cooperating_schedules(Collective collective, const Torus& torus, Count count,
                                            Count segment, const Cooperation& cooperation,
                                            std::span<const TorusGroup> groups) {
  std::vector<Schedule> all;
  for (int rank = 0; rank < torus.hosts(); ++rank) {
    Args args{.collective = collective, .rank = rank, .size = torus.hosts(), .count = count};
    args.params.segment = segment;
    Builder b(args);
    cooperate(b, cooperation, groups);
    all.push_back(std::move(b).finish());
  }
  return all;
}

/// "": every member has what it should.
std::string flaw_in(Ranks& ranks, Collective collective, Count count,
                    std::span<const TorusGroup> groups) {
  for (const TorusGroup& group : groups)
    for (const int host : group.hosts) {
      if (collective == Collective::reduce && host != group.root) continue;
      for (Count i = 0; i < count; ++i) {
        Value wanted = 0;
        for (const int other : group.hosts)
          if (collective != Collective::bcast || other == group.root) wanted += had(other, i);
        if (ranks.buffer(host, kOutput)[static_cast<std::size_t>(i)] != wanted)
          return "host " + std::to_string(host) + ", unit " + std::to_string(i);
      }
    }
  return "";
}

Ranks run_of(std::vector<Schedule> schedules, Collective collective, Count count,
             std::span<const TorusGroup> groups, unsigned seed) {
  Ranks ranks(std::move(schedules), count, seed);
  if (collective == Collective::bcast)
    for (const TorusGroup& group : groups)
      ranks.buffer(group.root, kOutput) = ranks.buffer(group.root, kInput);
  return ranks;
}

TEST(Cooperating, EveryMemberGetsWhatItsGroupHas) {
  std::mt19937 random(1);
  const std::vector<std::vector<int>> shapes = {{2}, {5}, {4, 4}, {3, 5}, {2, 3, 4}, {4, 4, 4}};
  for (const auto& shape : shapes)
    for (const Collective collective :
         {Collective::bcast, Collective::reduce, Collective::allreduce})
      for (int run = 0; run < 12; ++run) {
        const auto torus = std::make_shared<const Torus>(shape);
        const int hosts = torus->hosts();
        const int count =
            1 + static_cast<int>(random() % static_cast<unsigned>(std::min(hosts, 14)));
        const int used =
            run % 3 == 0
                ? hosts
                : count + static_cast<int>(random() % static_cast<unsigned>(hosts - count + 1));
        const auto groups = dealt(hosts, count, used, random);
        const auto use = collective == Collective::allreduce ? TreesFor::both : TreesFor::broadcast;
        const auto cooperation = cooperating_trees(torus, groups, use);
        ASSERT_TRUE(cooperation);
        ASSERT_EQ(unmet_cooperation(*cooperation), nullptr);
        const Count units = static_cast<Count>(random() % 90),
                    segment = 1 + static_cast<Count>(random() % 5);
        Ranks ranks =
            run_of(cooperating_schedules(collective, *torus, units, segment, *cooperation, groups),
                   collective, units, groups, random());
        ASSERT_EQ(ranks.run(), 0u) << "steps never begin, " << count << " groups";
        ASSERT_EQ(flaw_in(ranks, collective, units, groups), "") << count << " groups";
      }
}

TEST(Cooperating, AsManyGroupsAsThereIsScratchFor) {
  const auto torus = std::make_shared<const Torus>(std::vector{4, 4, 5});
  std::mt19937 random(4);
  const auto many = dealt(80, 63, 80, random);
  const auto cooperation = cooperating_trees(torus, many, TreesFor::both);
  ASSERT_EQ(unmet_cooperation(*cooperation), nullptr);
  Ranks ranks =
      run_of(cooperating_schedules(Collective::allreduce, *torus, 60, 3, *cooperation, many),
             Collective::allreduce, 60, many, 1);
  ASSERT_EQ(ranks.run(), 0u);
  ASSERT_EQ(flaw_in(ranks, Collective::allreduce, 60, many), "");
  const auto too_many = dealt(80, 64, 80, random);
  EXPECT_STREQ(unmet_cooperation(*cooperating_trees(torus, too_many, TreesFor::both)),
               "there are too many groups for one schedule");
}

TEST(Cooperating, TheTestFindsDataOfAnotherGroup) {
  const auto torus = std::make_shared<const Torus>(std::vector{4, 4});
  std::mt19937 random(2);
  auto groups = dealt(16, 2, 16, random);
  const auto cooperation = cooperating_trees(torus, groups, TreesFor::broadcast);
  Ranks ranks =
      run_of(cooperating_schedules(Collective::bcast, *torus, 40, 4, *cooperation, groups),
             Collective::bcast, 40, groups, 1);
  ASSERT_EQ(ranks.run(), 0u);
  ASSERT_EQ(flaw_in(ranks, Collective::bcast, 40, groups), "");
  // A host that says it is in the other group has not got that one's data.
  groups[1].hosts.push_back(groups[0].hosts[0]);
  EXPECT_NE(flaw_in(ranks, Collective::bcast, 40, groups), "");
}

TEST(Cooperating, ARankThatDoesNotHandOnIsMissed) {
  const auto torus = std::make_shared<const Torus>(std::vector{4, 4});
  std::mt19937 random(3);
  const auto groups = dealt(16, 4, 8, random);
  const auto cooperation = cooperating_trees(torus, groups, TreesFor::broadcast);
  auto schedules = cooperating_schedules(Collective::bcast, *torus, 40, 4, *cooperation, groups);
  std::vector<bool> is_member(16);
  for (const TorusGroup& group : groups)
    for (const int host : group.hosts) is_member[static_cast<std::size_t>(host)] = true;
  std::size_t hands_on = 0;
  while (is_member[hands_on] || schedules[hands_on].ops().empty()) ++hands_on;
  ASSERT_LT(hands_on, 16u) << "who is in no group hands on";
  schedules[hands_on] = Schedule();
  Ranks ranks = run_of(std::move(schedules), Collective::bcast, 40, groups, 1);
  EXPECT_GT(ranks.run(), 0u);
}

TEST(Cooperating, SmallCaseMessageByMessage) {
  // A ring of 4 has two trees: group {0, 1} gets the one upwards, {2, 3} the one downwards.
  const auto torus = std::make_shared<const Torus>(std::vector{4});
  const std::vector<TorusGroup> groups{{{0, 1}, 0}, {{2, 3}, 2}};
  const auto cooperation = cooperating_trees(torus, groups, TreesFor::broadcast);
  ASSERT_EQ(cooperation->trees.size(), 2u);
  EXPECT_EQ(cooperation->trees[0].parent, (std::vector{-1, 0, -1, -1}));
  EXPECT_EQ(cooperation->trees[1].parent, (std::vector{1, 2, -1, 0}));
  const auto schedules =
      cooperating_schedules(Collective::bcast, *torus, 8, 4, *cooperation, groups);
  // Host 1 receives its own two segments, and receives and hands on two of the others'.
  EXPECT_EQ(schedules[1].ops().size(), 6u);
  EXPECT_EQ(schedules[2].ops().size(), 2u);
  EXPECT_EQ(schedules[3].ops().size(), 2u);
}

}  // namespace
}  // namespace unisono
