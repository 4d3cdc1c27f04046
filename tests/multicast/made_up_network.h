// A network of members without sockets and without time: it loses, delays, doubles, reorders and
// cuts packets as a seeded generator says, and the clock goes on to whatever comes next.
#pragma once
#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "multicast/group.h"
#include "multicast/packet.h"

namespace unisono::multicast {

struct Weather {
  double loss = 0, doubled = 0, cut = 0;
  Time latency = 100 * kMicrosecond;
  Time jitter = 0;               ///< up to so much is added: packets overtake each other
  std::size_t buffer = 1 << 20;  ///< packets that wait for a member; what comes then is lost
};

class MadeUpNetwork {
 public:
  using Packet = std::vector<std::byte>;

  MadeUpNetwork(int members, const Weather& weather, unsigned seed)
      : weather(weather), random_(seed), waiting_(static_cast<std::size_t>(members)) {
    for (int member = 0; member < members; ++member)
      sockets_.push_back(std::make_unique<MadeUpSocket>(*this, member));
  }

  Socket& socket(int member) { return *sockets_[static_cast<std::size_t>(member)]; }
  /// When something comes to the member next.
  Time next_arrival(int member) const {
    const auto& waiting = waiting_[static_cast<std::size_t>(member)];
    return waiting.empty() ? kNever : waiting.begin()->first;
  }
  /// As if somebody had sent it; to all, or one.
  void put(int to, const Packet& packet) {
    for (std::size_t member = 0; member < waiting_.size(); ++member)
      if (to == kEverybody || to == static_cast<int>(member))
        waiting_[member].emplace(now, Waiting{packet, to == kEverybody});
  }

  Weather weather;
  Time now = kSecond;
  std::size_t sent = 0, lost = 0, overruns = 0;
  /// Sees every packet; false: it is lost.
  std::function<bool(int from, int to, std::span<const std::byte>)> watch;
  /// Sees each packet once, with whom it goes to: a member or kEverybody.
  std::function<void(int from, int to, std::span<const std::byte>)> overhear;
  /// Whether the network believes that the member is in the group.
  std::function<bool(int)> to_all_reaches;
  std::function<void(int)> joins_again;

 private:
  class MadeUpSocket : public Socket {
   public:
    MadeUpSocket(MadeUpNetwork& network, int me) : network_(network), me_(me) {}
    std::size_t send(int to, std::span<const Outgoing> packets) override {
      for (const Outgoing& packet : packets) network_.send(me_, to, packet);
      return packets.size();
    }
    std::size_t receive(std::span<Incoming> rooms) override {
      auto& waiting = network_.waiting_[static_cast<std::size_t>(me_)];
      std::size_t came = 0;
      for (; came < rooms.size() && network_.next_arrival(me_) <= network_.now; ++came) {
        const Waiting packet = std::move(waiting.begin()->second);
        waiting.erase(waiting.begin());
        std::copy_n(packet.bytes.begin(), std::min(packet.bytes.size(), rooms[came].room_bytes),
                    rooms[came].room);
        rooms[came].bytes = packet.bytes.size();
        rooms[came].to_all = packet.to_all;
      }
      return came;
    }

    void join_again() override {
      if (network_.joins_again) network_.joins_again(me_);
    }

   private:
    MadeUpNetwork& network_;
    int me_;
  };

  bool happens(double share) {
    return share > 0 && std::uniform_real_distribution<>(0, 1)(random_) < share;
  }
  void send(int from, int to, const Outgoing& outgoing) {
    Packet packet(outgoing.header, outgoing.header + outgoing.header_bytes);
    if (outgoing.payload_bytes > 0)
      packet.insert(packet.end(), outgoing.payload, outgoing.payload + outgoing.payload_bytes);
    ++sent;
    if (overhear) overhear(from, to, packet);
    for (int member = 0; member < static_cast<int>(waiting_.size()); ++member) {
      if (member == from || (to != kEverybody && to != member)) continue;
      if (to == kEverybody && to_all_reaches && !to_all_reaches(member)) continue;
      if (watch && !watch(from, member, packet)) continue;
      deliver(member, packet, to == kEverybody);
      if (happens(weather.doubled)) deliver(member, packet, to == kEverybody);
    }
  }
  void deliver(int member, Packet packet, bool to_all) {
    if (happens(weather.loss)) return void(++lost);
    if (happens(weather.cut)) packet.resize(random_() % packet.size());
    auto& waiting = waiting_[static_cast<std::size_t>(member)];
    if (waiting.size() >= weather.buffer) {
      ++overruns;
      return;
    }
    const Time extra =
        weather.jitter == 0
            ? 0
            : static_cast<Time>(random_() % static_cast<std::uint64_t>(weather.jitter));
    waiting.emplace(now + weather.latency + extra, Waiting{std::move(packet), to_all});
  }

  std::mt19937 random_;
  struct Waiting {
    Packet bytes;
    bool to_all = false;
  };
  std::vector<std::multimap<Time, Waiting>> waiting_;
  std::vector<std::unique_ptr<MadeUpSocket>> sockets_;
};

/// Members of a group, and what became of their messages.
class Party {
 public:
  static constexpr std::size_t kPayload = 256;

  Party(int members, const Weather& weather, unsigned seed,
        const std::function<void(Options&)>& change = {})
      : network(members, weather, seed) {
    Options options;
    options.members.assign(static_cast<std::size_t>(members), {0, 0, kPayload, 64});
    options.secret.assign(16, std::byte{7});
    options.seed = seed;
    if (change) change(options);
    for (options.me = 0; options.me < members; ++options.me) {
      auto group = Group::open(options, network.socket(options.me));
      if (!group) throw std::runtime_error(group.error());
      groups.push_back(std::move(*group));
    }
    outcomes.resize(groups.size());
    asleep_until.assign(groups.size(), 0);
    deadlines_.assign(groups.size(), 0);
  }

  int size() const { return static_cast<int>(groups.size()); }
  Group& group(int member) { return *groups[static_cast<std::size_t>(member)]; }

  /// Until the condition holds, or so much time has gone by. Whether it held.
  bool run(const std::function<bool()>& done, Time patience = 60 * kSecond) {
    const Time end = network.now + patience;
    for (;;) {
      for (std::size_t i = 0; i < groups.size(); ++i) visit(i);
      if (done()) return true;
      Time next = kNever;
      for (std::size_t i = 0; i < groups.size(); ++i)
        next = std::min(
            next, std::max(asleep_until[i],
                           std::min(deadlines_[i], network.next_arrival(static_cast<int>(i)))));
      if (next > end) return false;
      network.now = std::max(network.now, next);
    }
  }

  /// Everybody knows what became of so many messages, and nobody needs anything more.
  bool run_until_all(std::size_t messages, Time patience = 60 * kSecond) {
    return run(
        [&] {
          return std::all_of(outcomes.begin(), outcomes.end(),
                             [&](const auto& one) { return one.size() >= messages; }) &&
                 std::all_of(groups.begin(), groups.end(),
                             [](const auto& group) { return group->is_quiet(); });
        },
        patience);
  }

  Counters total() const {
    Counters sum;
    for (const auto& group : groups) {
      const Counters& one = group->counters();
      sum.received += one.received;
      sum.data_sent += one.data_sent;
      sum.repairs_to_all += one.repairs_to_all;
      sum.repairs_to_one += one.repairs_to_one;
      sum.acks_sent += one.acks_sent;
      sum.nacks_sent += one.nacks_sent;
      sum.polls_sent += one.polls_sent;
      sum.duplicates += one.duplicates;
      sum.malformed += one.malformed;
      sum.foreign += one.foreign;
      sum.forged += one.forged;
      sum.replayed += one.replayed;
      sum.senseless += one.senseless;
    }
    return sum;
  }

  MadeUpNetwork network;
  std::vector<std::unique_ptr<Group>> groups;
  std::vector<std::map<std::uint64_t, Completion>> outcomes;
  /// kNever: dead.
  std::vector<Time> asleep_until;
  std::size_t visits = 0;

 private:
  void visit(std::size_t i) {
    const int member = static_cast<int>(i);
    if (network.now < asleep_until[i]) return;
    ++visits;
    const Progress progress = groups[i]->progress(network.now);
    deadlines_[i] = progress.deadline;
    for (const Completion& completion : progress.completed)
      outcomes[i][completion.message] = completion;
    if (network.next_arrival(member) <= network.now) deadlines_[i] = network.now;
  }

  std::vector<Time> deadlines_;
};

/// A message of random bytes, and what each member has of it.
struct Told {
  Told(Party& party, std::uint64_t number, int root, std::size_t bytes)
      : number(number), root(root), text(bytes) {
    std::mt19937 random(static_cast<unsigned>(number));
    for (std::byte& byte : text) byte = static_cast<std::byte>(random());
    copies.assign(party.groups.size(), std::vector<std::byte>(bytes));
  }
  void start(Party& party, int member) {
    auto& copy = copies[static_cast<std::size_t>(member)];
    const char* wrong =
        member == root ? party.group(member).start_send(number, text.data(), text.size())
                       : party.group(member).start_receive(number, root, copy.data(), copy.size());
    if (wrong != nullptr) throw std::runtime_error(wrong);
  }
  void start(Party& party) {
    for (int member = 0; member < party.size(); ++member) start(party, member);
  }
  bool is_everywhere() const {
    for (std::size_t i = 0; i < copies.size(); ++i)
      if (static_cast<int>(i) != root && copies[i] != text) return false;
    return true;
  }

  std::uint64_t number;
  int root;
  std::vector<std::byte> text;
  std::vector<std::vector<std::byte>> copies;
};

}  // namespace unisono::multicast
