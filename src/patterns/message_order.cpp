#include "patterns/message_order.h"

#include <algorithm>
#include <tuple>

#include "patterns/rotation.h"

namespace unisono {

namespace {

int hops(int from, int to, int size) { return (to - from + size) % size; }

struct Sized {
  int from, to, phase;
  Count length;
};

/// The messages that there are, in the order that they are sent in: those of the list, then others.
std::vector<Sized> sized(const MessageList& list, const CountMatrix& matrix) {
  std::vector<Sized> all;
  std::vector<bool> is_listed(matrix.entries());
  for (const MessageList::Message& m : list.messages) {
    const std::size_t entry = matrix.position(m.from, m.to);
    if (entry == matrix.entries()) continue;
    is_listed[entry] = true;
    all.push_back({m.from, m.to, m.phase, matrix.at(m.from, m.to)});
  }
  const auto listed = static_cast<std::ptrdiff_t>(all.size());
  std::size_t entry = 0;
  for (int from = 0; from < matrix.size(); ++from)
    for (const CountMatrix::Entry& e : matrix.row(from))
      if (!is_listed[entry++] && e.to != from) all.push_back({from, e.to, list.phases, e.count});
  const int p = matrix.size();
  std::sort(all.begin() + listed, all.end(), [p](const Sized& a, const Sized& b) {
    return std::tuple(hops(a.from, a.to, p), a.from) < std::tuple(hops(b.from, b.to, p), b.from);
  });
  return all;
}

/// What ports have sent and received so far.
struct Ports {
  explicit Ports(int size)
      : sent(static_cast<std::size_t>(size)), received(static_cast<std::size_t>(size)) {}
  Count& from(const Sized& m) { return sent[static_cast<std::size_t>(m.from)]; }
  Count& to(const Sized& m) { return received[static_cast<std::size_t>(m.to)]; }

  std::vector<Count> sent, received;
};

}  // namespace

MessageOrder order_of(const MessageList& list, int rank) {
  MessageOrder order{list.phases, {}};
  for (const MessageList::Message& m : list.messages)
    if (m.from == rank || m.to == rank)
      order.steps.push_back({m.from == rank ? m.to : m.from, m.phase, m.from == rank});
  return order;
}

std::vector<MessageOrder> orders_of(const MessageList& list) {
  std::vector<MessageOrder> orders(static_cast<std::size_t>(list.size), {list.phases, {}});
  for (const MessageList::Message& m : list.messages) {
    orders[static_cast<std::size_t>(m.from)].steps.push_back({m.to, m.phase, true});
    orders[static_cast<std::size_t>(m.to)].steps.push_back({m.from, m.phase, false});
  }
  return orders;
}

MessageOrder ring_order(int rank, int size) {
  MessageOrder order{size - 1, {}};
  const Rotation from_here{size, rank};
  for (int i = 1; i < size; ++i) {
    // By senders within a phase, as everywhere: it counts where both peers are the same rank.
    const int to = from_here.rank(i), from = from_here.rank(-i);
    const bool sends_first = rank < from;
    if (sends_first) order.steps.push_back({to, i - 1, true});
    order.steps.push_back({from, i - 1, false});
    if (!sends_first) order.steps.push_back({to, i - 1, true});
  }
  return order;
}

Count busiest_port(const CountMatrix& matrix) {
  Ports ports(matrix.size());
  Count most = 0;
  for (const Sized& m : sized({matrix.size(), 0, {}}, matrix))
    most = std::max({most, ports.from(m) += m.length, ports.to(m) += m.length});
  return most;
}

std::vector<TimedMessage> timeline(const MessageList& list, const CountMatrix& matrix) {
  Ports ports(matrix.size());
  Count begin = 0, end = 0;  // of the phase
  int phase = 0;
  std::vector<TimedMessage> all;
  for (const Sized& m : sized(list, matrix)) {
    if (list.phases > 0 && m.phase != phase) begin = end;
    phase = m.phase;
    const Count start = std::max({ports.from(m), ports.to(m), begin});
    ports.from(m) = ports.to(m) = start + m.length;
    end = std::max(end, start + m.length);
    all.push_back({m.from, m.to, m.phase, start, start + m.length});
  }
  return all;
}

Count makespan(const MessageList& list, const CountMatrix& matrix) {
  Count end = 0;
  for (const TimedMessage& m : timeline(list, matrix)) end = std::max(end, m.end);
  return end;
}

}  // namespace unisono
