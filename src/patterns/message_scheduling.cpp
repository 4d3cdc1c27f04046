#include "patterns/message_scheduling.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <queue>
#include <tuple>
#include <utility>

namespace unisono {

namespace {

struct Unplaced {
  int from, to;
  Count length;
};

/// Those of a matrix, the longest first; of equal ones those that go less far around, so that equal
/// lengths fall into the phases of a ring.
std::vector<Unplaced> longest_first(const CountMatrix& matrix) {
  std::vector<Unplaced> all;
  for (int from = 0; from < matrix.size(); ++from)
    for (const CountMatrix::Entry& e : matrix.row(from))
      if (e.to != from) all.push_back({from, e.to, e.count});
  const int p = matrix.size();
  std::sort(all.begin(), all.end(), [p](const Unplaced& a, const Unplaced& b) {
    return std::tuple(-a.length, (a.to - a.from + p) % p, a.from) <
           std::tuple(-b.length, (b.to - b.from + p) % p, b.from);
  });
  return all;
}

/// In which phases a port is taken.
class Taken {
 public:
  void take(int phase) {
    const auto word = static_cast<std::size_t>(phase) / 64;
    if (word >= words_.size()) words_.resize(word + 1);
    words_[word] |= std::uint64_t{1} << (phase % 64);
  }
  friend int first_free_in_both(const Taken& a, const Taken& b) {
    for (std::size_t word = 0;; ++word)
      if (const std::uint64_t taken = a.word(word) | b.word(word); ~taken != 0)
        return static_cast<int>(word * 64) + std::countr_one(taken);
  }

 private:
  std::uint64_t word(std::size_t i) const { return i < words_.size() ? words_[i] : 0; }
  std::vector<std::uint64_t> words_;
};

MessageList in_phases(int size, int phases, std::vector<MessageList::Message> messages) {
  std::stable_sort(messages.begin(), messages.end(),
                   [](const auto& a, const auto& b) { return a.phase < b.phase; });
  return {size, phases, std::move(messages)};
}

// Phase by phase over what is left, as in the paper, puts each message where first fit does.
MessageList greedy(const CountMatrix& matrix, Count threshold) {
  const auto p = static_cast<std::size_t>(matrix.size());
  std::vector<Taken> sends(p), receives(p);
  std::vector<MessageList::Message> placed;
  int phases = 0, last = 0;
  bool small = false;
  for (const Unplaced& m : longest_first(matrix)) {
    if (!small && m.length < threshold) small = true, last = phases;
    Taken &from = sends[static_cast<std::size_t>(m.from)],
          &to = receives[static_cast<std::size_t>(m.to)];
    int phase = first_free_in_both(from, to);
    if (small) phase = std::min(phase, last);
    from.take(phase);
    to.take(phase);
    placed.push_back({m.from, m.to, phase});
    phases = std::max(phases, phase + 1);
  }
  return in_phases(matrix.size(), phases, std::move(placed));
}

MessageList all_to_all_based(const CountMatrix& matrix, Count threshold) {
  const int p = matrix.size();
  std::vector<Unplaced> left = longest_first(matrix);
  std::vector<int> sends_in(static_cast<std::size_t>(p), -1), receives_in = sends_in;
  MessageList list{p, 0, {}};
  for (; !left.empty(); ++list.phases) {
    const int distance = (left[0].to - left[0].from + p) % p;
    const bool all = left[0].length < threshold;
    const auto place = [&](const Unplaced& m) {
      int &from = sends_in[static_cast<std::size_t>(m.from)],
          &to = receives_in[static_cast<std::size_t>(m.to)];
      if (!all && (from == list.phases || to == list.phases)) return false;
      from = to = list.phases;
      list.messages.push_back({m.from, m.to, list.phases});
      return true;
    };
    std::erase_if(
        left, [&](const Unplaced& m) { return (m.to - m.from + p) % p == distance && place(m); });
    std::erase_if(left, place);
  }
  return list;
}

/// Edges between senders and receivers, coloured one by one. Where the two ends of an edge have no
/// colour free in common, one is made free at the sender's end along a path of two colours, which
/// never comes back to it in a bipartite graph.
class Colouring {
 public:
  explicit Colouring(int size) : size_(size), edges_(2 * static_cast<std::size_t>(size)) {}

  void add(int from, int to, int colours) {
    int colour = 0;
    while (colour < colours && (at(from, colour) >= 0 || at(to + size_, colour) >= 0)) ++colour;
    if (colour == colours) {
      colour = free_at(from);
      exchange(to + size_, colour, free_at(to + size_));
    }
    set(from, to + size_, colour);
  }
  /// The colour of each message, by senders.
  template <class Function>
  void for_each(Function function) const {
    for (int from = 0; from < size_; ++from) {
      const auto& colours = edges_[static_cast<std::size_t>(from)];
      for (std::size_t c = 0; c < colours.size(); ++c)
        if (colours[c] >= 0) function(from, colours[c] - size_, static_cast<int>(c));
    }
  }

 private:
  /// The port at the other end of the edge of this colour; -1: there is none.
  int at(int port, int colour) const {
    const auto& colours = edges_[static_cast<std::size_t>(port)];
    const auto c = static_cast<std::size_t>(colour);
    return c < colours.size() ? colours[c] : -1;
  }
  int free_at(int port) const {
    int colour = 0;
    while (at(port, colour) >= 0) ++colour;
    return colour;
  }
  void put(int port, int colour, int other) {
    auto& colours = edges_[static_cast<std::size_t>(port)];
    if (static_cast<std::size_t>(colour) >= colours.size())
      colours.resize(static_cast<std::size_t>(colour) + 1, -1);
    colours[static_cast<std::size_t>(colour)] = other;
  }
  void set(int a, int b, int colour) {
    put(a, colour, b);
    put(b, colour, a);
  }
  /// Along the path from `port` on that begins with `one`: afterwards `one` is free there.
  void exchange(int port, int one, int other) {
    std::vector<int> path{port};
    for (int colour = one; at(path.back(), colour) >= 0; colour = one + other - colour)
      path.push_back(at(path.back(), colour));
    for (const int p : path) put(p, one, -1), put(p, other, -1);
    for (std::size_t i = 0; i + 1 < path.size(); ++i)
      set(path[i], path[i + 1], i % 2 == 0 ? other : one);
    // The last port keeps what did not lie on the path: it has neither colour beyond it.
  }

  int size_;
  std::vector<std::vector<int>> edges_;  // of senders, then receivers, by colours
};

MessageList edge_colouring(const CountMatrix& matrix) {
  const std::vector<Unplaced> all = longest_first(matrix);
  const int p = matrix.size();
  std::vector<int> degree(2 * static_cast<std::size_t>(p));
  for (const Unplaced& m : all)
    ++degree[static_cast<std::size_t>(m.from)], ++degree[static_cast<std::size_t>(m.to + p)];
  const int colours = degree.empty() ? 0 : *std::max_element(degree.begin(), degree.end());
  Colouring colouring(p);
  for (const Unplaced& m : all) colouring.add(m.from, m.to, colours);
  std::vector<MessageList::Message> placed;
  colouring.for_each([&](int from, int to, int colour) { placed.push_back({from, to, colour}); });
  return in_phases(p, colours, std::move(placed));
}

/// A simulation of ports that are busy as long as a message has units.
class OpenShop {
 public:
  explicit OpenShop(const CountMatrix& matrix)
      : matrix_(matrix), ports_(2 * static_cast<std::size_t>(matrix.size())) {
    messages_ = longest_first(matrix);
    started_.resize(messages_.size());
    for (std::size_t i = 0; i < messages_.size(); ++i)
      for (const int port : ends(messages_[i])) {
        of(port).messages.push_back(i);
        of(port).left += messages_[i].length;
      }
  }

  MessageList run() {
    std::vector<int> freed(ports_.size());
    for (std::size_t i = 0; i < freed.size(); ++i) freed[i] = static_cast<int>(i);
    MessageList list{matrix_.size(), 0, {}};
    while (true) {
      for (const std::size_t i : candidates(freed)) start(i, list);
      if (ends_.empty()) return list;
      freed.clear();
      now_ = ends_.top().first;
      for (; !ends_.empty() && ends_.top().first == now_; ends_.pop())
        for (const int port : ends(messages_[ends_.top().second])) freed.push_back(port);
    }
  }

 private:
  struct Port {
    std::vector<std::size_t> messages;  // not started, and some that are
    Count left = 0;                     // units of those not started
    Count busy_until = 0;
  };
  std::array<int, 2> ends(const Unplaced& m) const { return {m.from, m.to + matrix_.size()}; }
  Port& of(int port) { return ports_[static_cast<std::size_t>(port)]; }
  bool can_start(const Unplaced& m) {
    const auto [from, to] = ends(m);
    return of(from).busy_until <= now_ && of(to).busy_until <= now_;
  }
  Count load(const Unplaced& m) {
    const auto [from, to] = ends(m);
    return of(from).left + of(to).left;
  }

  /// What could start at once at ports that have been freed, by what they have left. That of a port
  /// changes only when it becomes busy: so the order holds until all of them have been tried. What
  /// lies between two ports that were free before has been started before.
  std::vector<std::size_t> candidates(const std::vector<int>& freed) {
    std::vector<std::size_t> found;
    for (const int port : freed) {
      auto& messages = of(port).messages;
      std::erase_if(messages, [this](std::size_t i) { return started_[i]; });
      for (const std::size_t i : messages)
        if (can_start(messages_[i])) found.push_back(i);
    }
    std::sort(found.begin(), found.end(), [this](std::size_t a, std::size_t b) {
      const Unplaced &x = messages_[a], &y = messages_[b];
      return std::tuple(-load(x), -x.length, x.from, x.to) <
             std::tuple(-load(y), -y.length, y.from, y.to);
    });
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }
  void start(std::size_t i, MessageList& list) {
    const Unplaced& m = messages_[i];
    if (!can_start(m)) return;
    started_[i] = true;
    for (const int port : ends(m)) {
      of(port).busy_until = now_ + m.length;
      of(port).left -= m.length;
    }
    ends_.emplace(now_ + m.length, i);
    list.messages.push_back({m.from, m.to, 0});
  }

  using End = std::pair<Count, std::size_t>;
  const CountMatrix& matrix_;
  std::vector<Port> ports_;  // of senders, then receivers
  std::vector<Unplaced> messages_;
  std::vector<bool> started_;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  Count now_ = 0;
};

constexpr std::array<std::string_view, 4> kNames = {"greedy", "all_to_all_based", "edge_colouring",
                                                    "token_list"};

}  // namespace

std::string_view name(MessageRule rule) { return kNames[static_cast<std::size_t>(rule)]; }

std::optional<MessageRule> message_rule_named(std::string_view wanted) {
  const auto* found = std::find(kNames.begin(), kNames.end(), wanted);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<MessageRule>(found - kNames.begin());
}

MessageList schedule_messages(MessageRule rule, const CountMatrix& matrix, Count threshold) {
  switch (rule) {
    case MessageRule::greedy: return greedy(matrix, threshold);
    case MessageRule::all_to_all_based: return all_to_all_based(matrix, threshold);
    case MessageRule::edge_colouring: return edge_colouring(matrix);
    case MessageRule::token_list: return OpenShop(matrix).run();
  }
  return {};
}

}  // namespace unisono
