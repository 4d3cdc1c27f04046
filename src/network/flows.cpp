#include "network/flows.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <string>
#include <tuple>
#include <unordered_map>

#include "network/sharing.h"

namespace unisono {

namespace {

using Time = std::int64_t;  // picoseconds
constexpr double kPerSecond = 1e12;
// Bytes a second, between the ranks of a host: that of the simulated platforms.
constexpr double kLoopback = 1e12;
constexpr double kRounding = 1e-9;
constexpr std::uint32_t kNoStep = ~std::uint32_t{0};

Time rounded(double seconds) { return static_cast<Time>(std::llround(seconds * kPerSecond)); }

struct Event {
  enum Kind : std::uint8_t { flows, arrives, is_free };
  Time time = 0;
  std::uint64_t order = 0;    // in which events became known
  std::uint32_t id = 0;       // of a flow, or a rank
  std::uint32_t version = 0;  // of the flow's rate that says so
  Kind kind = flows;

  bool operator>(const Event& other) const {
    return std::tie(time, order) > std::tie(other.time, other.order);
  }
};

/// A message whose one side has been posted. Messages are known by receiver, sender and position.
struct Channel {
  std::int32_t from, to;
  std::uint32_t position;
  bool operator==(const Channel&) const = default;
};
struct HashOfChannel {
  std::size_t operator()(const Channel& c) const {
    std::uint64_t mixed = (std::uint64_t{static_cast<std::uint32_t>(c.from)} << 32 |
                           static_cast<std::uint32_t>(c.to)) *
                          0x9e3779b97f4a7c15U;
    mixed = (mixed ^ mixed >> 29 ^ c.position) * 0xbf58476d1ce4e5b9U;
    return mixed ^ mixed >> 32;
  }
};
/// One side of a message: a step of a rank, posted when so many had been posted before.
struct Posted {
  std::uint32_t step = kNoStep;
  std::uint32_t order = 0;
};
struct Half {
  Posted side;      // of whoever posted
  FlowId flow = 0;  // of an eager message
  bool is_eager = false;
  bool has_arrived = false;
};

struct Message {
  Channel channel{};
  Posted send, receive;
  double left = 0;  // bytes, at `since`
  Time since = 0;
  double rate = 0;  // from then on
  double best = 0;  // of its narrowest link
  std::uint32_t version = 0;
  bool was_slowed = false;
  std::vector<int> route;  // empty: to another rank of the host
};

struct Rank {
  std::vector<std::uint32_t> ready;  // to be begun, from `next` on
  std::size_t next = 0;
  std::vector<Posted> arrived;  // complete, but the rank has not looked
  std::uint32_t posts = 1;
  bool is_awake = false;  // it will run at this moment
  std::uint32_t reducing = kNoStep;
  std::size_t left = 0;
  Time end = 0;
};

class Simulation {
 public:
  Simulation(std::vector<Program> programs, const Network& network,
             std::span<const int> host_of_rank, const FlowOptions& options);
  Result<FlowTimes> go();

 private:
  Program& program(std::int32_t rank) { return programs_[static_cast<std::size_t>(rank)]; }
  Rank& rank(std::int32_t rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  int host(std::int32_t rank) const { return host_of_rank_[static_cast<std::size_t>(rank)]; }

  /// Does what the rank can do now.
  void run(std::int32_t rank);
  void begin(std::int32_t rank, std::uint32_t step);
  void complete(std::int32_t rank, std::uint32_t step);
  /// A message of the rank is complete: it notices when it is not busy.
  void notify(std::int32_t rank, Posted side);
  /// It is to run when all that happens at this moment has happened.
  void wake(std::int32_t rank);
  void run_awake();
  void reduce(std::int32_t rank, std::uint32_t step);

  void post(std::int32_t rank, std::uint32_t step);
  void post_eager(Posted send, const Channel& channel);
  FlowId start(const Channel& channel, Posted send, Posted receive = {});
  void arrive(FlowId flow);
  void handle(const Event& event);
  /// Shares the links anew after all that has happened at this moment.
  void settle();
  void push(Time time, Event::Kind kind, std::uint32_t id, std::uint32_t version = 0) {
    events_.push({time, order_++, id, version, kind});
  }
  FlowTimes result();

  std::vector<Program> programs_;
  const Network& network_;
  std::span<const int> host_of_rank_;
  FlowOptions options_;
  Sharing sharing_;
  std::vector<Rank> ranks_;
  std::vector<std::int32_t> awake_;
  std::vector<Time> core_free_;  // of each host
  std::vector<Message> messages_;
  std::vector<FlowId> free_;
  std::unordered_map<Channel, Half, HashOfChannel> halves_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t order_ = 0;
  Time now_ = 0;
  FlowTimes times_;
};

Simulation::Simulation(std::vector<Program> programs, const Network& network,
                       std::span<const int> host_of_rank, const FlowOptions& options)
    : programs_(std::move(programs)),
      network_(network),
      host_of_rank_(host_of_rank),
      options_(options),
      sharing_(network.links()),
      ranks_(programs_.size()),
      core_free_(static_cast<std::size_t>(network.hosts())) {
  times_.bytes_over.resize(network.links().size());
  times_.messages_over.resize(network.links().size());
}

// As an execution over MPI_Waitany: of several complete messages the one posted first comes first.
void Simulation::run(std::int32_t r) {
  Rank& own = rank(r);
  while (own.reducing == kNoStep) {
    if (own.next < own.ready.size()) {
      begin(r, own.ready[own.next++]);
      continue;
    }
    own.ready.clear();
    own.next = 0;
    if (own.arrived.empty()) return;
    const auto first =
        std::min_element(own.arrived.begin(), own.arrived.end(),
                         [](const Posted& a, const Posted& b) { return a.order < b.order; });
    const std::uint32_t step = first->step;
    own.arrived.erase(first);
    complete(r, step);
  }
}

void Simulation::begin(std::int32_t r, std::uint32_t step) {
  const Step& what = program(r).steps[step];
  if (what.kind == OpKind::reduce) return reduce(r, step);
  const bool is_message = what.kind == OpKind::send || what.kind == OpKind::recv;
  if (is_message && what.peer != kNobody) return post(r, step);
  complete(r, step);
}

void Simulation::complete(std::int32_t r, std::uint32_t step) {
  Rank& own = rank(r);
  --own.left;
  own.end = now_;
  for (const std::uint32_t next : program(r).followers_of(step))
    if (--program(r).steps[next].waits_for == 0) own.ready.push_back(next);
}

void Simulation::notify(std::int32_t r, Posted side) {
  Rank& own = rank(r);
  // What wakes a waiting rank is what MPI_Waitany returns.
  const bool wakes = own.reducing == kNoStep && own.arrived.empty() && !own.is_awake;
  own.arrived.push_back({side.step, wakes ? 0 : side.order});
  wake(r);
}

void Simulation::wake(std::int32_t r) {
  if (!std::exchange(rank(r).is_awake, true)) awake_.push_back(r);
}

// The ranks of a host take its core one after the other.
void Simulation::reduce(std::int32_t r, std::uint32_t step) {
  const auto elements = static_cast<double>(program(r).steps[step].bytes) /
                        static_cast<double>(options_.element_bytes);
  Time& free = core_free_[static_cast<std::size_t>(host(r))];
  free = std::max(free, now_) + rounded(elements / network_.flops());
  rank(r).reducing = step;
  push(free, Event::is_free, static_cast<std::uint32_t>(r));
}

void Simulation::post(std::int32_t r, std::uint32_t step) {
  const Step& what = program(r).steps[step];
  const bool sends = what.kind == OpKind::send;
  const Channel channel =
      sends ? Channel{r, what.peer, what.position} : Channel{what.peer, r, what.position};
  const Posted side{step, rank(r).posts++};
  if (sends && what.bytes <= options_.eager) return post_eager(side, channel);
  const auto other = halves_.find(channel);
  if (other == halves_.end()) {
    halves_.emplace(channel, Half{.side = side});
    return;
  }
  const Half half = other->second;
  halves_.erase(other);
  if (half.has_arrived)
    notify(r, side);
  else if (half.is_eager)
    messages_[half.flow].receive = side;
  else
    start(channel, sends ? side : half.side, sends ? half.side : side);
}

// Its sender is done with it at once.
void Simulation::post_eager(Posted send, const Channel& channel) {
  const FlowId flow = start(channel, send);
  messages_[flow].send = {};
  const auto other = halves_.find(channel);
  if (other == halves_.end()) {
    halves_.emplace(channel, Half{.flow = flow, .is_eager = true});
  } else {
    messages_[flow].receive = other->second.side;
    halves_.erase(other);
  }
  complete(channel.from, send.step);
}

FlowId Simulation::start(const Channel& channel, Posted send, Posted receive) {
  if (free_.empty()) {
    free_.push_back(static_cast<FlowId>(messages_.size()));
    messages_.emplace_back();
  }
  const FlowId id = free_.back();
  free_.pop_back();
  Message& message = messages_[id];
  const Step& what = program(channel.from).steps[send.step];
  message.channel = channel;
  message.send = send;
  message.receive = receive;
  message.left = static_cast<double>(what.bytes + options_.envelope);
  message.rate = 0;
  message.was_slowed = false;
  message.route.clear();
  ++times_.messages;
  times_.bytes += what.bytes;
  const int from = host(channel.from), to = host(channel.to);
  if (from == to) {
    push(now_ + rounded(message.left / kLoopback), Event::arrives, id, ++message.version);
    return id;
  }
  network_.route(from, to, what.way, message.route);
  double latency = 0;
  message.best = kLoopback;
  for (const int l : message.route) {
    const NetworkLink& link = network_.links()[static_cast<std::size_t>(l)];
    latency += link.latency;
    message.best = std::min(message.best, link.bandwidth);
    times_.bytes_over[static_cast<std::size_t>(l)] += what.bytes;
    ++times_.messages_over[static_cast<std::size_t>(l)];
  }
  push(now_ + rounded(latency), Event::flows, id, ++message.version);
  return id;
}

void Simulation::arrive(FlowId id) {
  if (!messages_[id].route.empty()) sharing_.end(id);
  const Message& message = messages_[id];
  const auto [channel, send, receive] = std::tuple(message.channel, message.send, message.receive);
  times_.slowed += message.was_slowed ? 1 : 0;
  free_.push_back(id);
  if (receive.step == kNoStep)
    halves_.at(channel).has_arrived = true;
  else
    notify(channel.to, receive);
  if (send.step != kNoStep) notify(channel.from, send);
}

void Simulation::settle() {
  const auto changed = sharing_.settle();
  for (auto each = changed.rbegin(); each != changed.rend(); ++each) {
    const FlowId id = *each;
    Message& message = messages_[id];
    const double rate = sharing_.rate(id);
    if (rate == message.rate) continue;
    message.left -= message.rate * static_cast<double>(now_ - message.since) / kPerSecond;
    message.since = now_;
    message.rate = rate;
    message.was_slowed = message.was_slowed || rate < message.best * (1 - kRounding);
    const Time rest = std::max<Time>(1, rounded(message.left / rate));
    push(now_ + rest, Event::arrives, id, ++message.version);
  }
}

void Simulation::handle(const Event& event) {
  if (event.kind == Event::is_free) {
    const auto r = static_cast<std::int32_t>(event.id);
    complete(r, std::exchange(rank(r).reducing, kNoStep));
    return wake(r);
  }
  Message& message = messages_[event.id];
  if (message.version != event.version) return;
  if (event.kind == Event::arrives) return arrive(event.id);
  message.since = now_;
  sharing_.begin(event.id, message.route);
}

// Another rank's post may find a message that has arrived: then that rank is awake again.
void Simulation::run_awake() {
  for (std::size_t i = 0; i < awake_.size(); ++i) {
    rank(awake_[i]).is_awake = false;
    run(awake_[i]);
  }
  awake_.clear();
}

FlowTimes Simulation::result() {
  Time end = 0;
  for (const Rank& rank : ranks_) {
    end = std::max(end, rank.end);
    times_.seconds_of_rank.push_back(static_cast<double>(rank.end) / kPerSecond);
  }
  times_.seconds = static_cast<double>(end) / kPerSecond;
  return std::move(times_);
}

Result<FlowTimes> Simulation::go() {
  const auto ranks = static_cast<std::int32_t>(ranks_.size());
  for (std::int32_t r = 0; r < ranks; ++r) {
    rank(r).left = program(r).steps.size();
    for (std::uint32_t step = 0; step < program(r).steps.size(); ++step)
      if (program(r).steps[step].waits_for == 0) rank(r).ready.push_back(step);
  }
  for (std::int32_t r = 0; r < ranks; ++r) wake(r);
  run_awake();
  while (!events_.empty()) {
    now_ = events_.top().time;
    while (!events_.empty() && events_.top().time == now_) {
      const Event event = events_.top();
      events_.pop();
      handle(event);
    }
    run_awake();
    settle();
  }
  std::size_t unfinished = 0;
  for (const Rank& rank : ranks_) unfinished += rank.left;
  if (unfinished > 0)
    return Error{std::to_string(unfinished) + " ops never start: the schedules do not match"};
  return result();
}

}  // namespace

Result<FlowTimes> simulate_flows(std::vector<Program> programs, const Network& network,
                                 std::span<const int> host_of_rank, const FlowOptions& options) {
  return Simulation(std::move(programs), network, host_of_rank, options).go();
}

}  // namespace unisono
