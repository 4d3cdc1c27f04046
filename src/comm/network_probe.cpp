#include "comm/network_probe.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <cstddef>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/statistics.h"
#include "comm/tcp_connections.h"
#include "model/stream_rate.h"
#include "mpi/comm.h"
#include "mpi/patience.h"
#include "mpi/simulated.h"

namespace unisono {

namespace {

constexpr int kTag = 0, kToAnswer = 1, kEnd = 2;
constexpr int kShort = 8, kStream = 16;
// Within a node. Longer ones may go by copies between processes, which can be forbidden.
constexpr int kLongestWithin = 4 << 10;
constexpr int kRounds = 3, kMostRounds = 30;
constexpr int kPartners = 3;
constexpr double kRoundsSeconds = 2e-3;
// A stream of messages that no MPI library announces first, in rounds of about a millisecond. Two
// rounds are under way, so that the network never waits for an answer.
constexpr int kPiece = 8 << 10, kMostPieces = 128, kRoundsAhead = 2, kStreams = 2;
constexpr double kRoundSeconds = 1e-3, kStreamSeconds = 20e-3, kLookSeconds = 0.25e-3;
// What neighbours exchange: as much as takes so long.
constexpr double kExchangeSeconds = 2.5e-3;
constexpr int kLeastExchanged = 1 << 10, kMostExchanged = 32 << 10;
constexpr double kNever = std::numeric_limits<double>::infinity();

/// Waits with its core, which it lends to others from time to time: what is timed must not wait for
/// the end of a nap, nor after each look for the end of another process's turn.
template <class Look>
void wait_awake(MPI_Request& request, MPI_Status* status, const Look& look) {
  if (kSimulated) {
    PMPI_Wait(&request, status);
    return;
  }
  constexpr int kLooksInTurn = 64;
  for (int looks = 1, done = 0;; ++looks) {
    PMPI_Test(&request, &done, status);
    look();
    if (done != 0) return;
    if (looks % kLooksInTurn == 0) ::sched_yield();
  }
}

/// What has come of a stream: as Linux counts it where it goes over TCP, since a rank that gets its
/// core late sees at once all that has come; else as MPI hands it over.
class Arrivals {
 public:
  void look() {
    const double now = PMPI_Wtime();
    if (now - last_ < kLookSeconds) return;
    last_ = now;
    in_kernel_.push_back({now, connections_.received()});
  }
  void take(int bytes) {
    bytes_ += bytes;
    in_mpi_.push_back({PMPI_Wtime(), bytes_});
  }
  std::optional<double> seconds_per_byte() const {
    const bool counted =
        !in_kernel_.empty() && in_kernel_.back().bytes - in_kernel_.front().bytes > bytes_ / 2;
    return unisono::seconds_per_byte(counted ? in_kernel_ : in_mpi_);
  }

 private:
  TcpConnections connections_;
  std::vector<Arrived> in_kernel_, in_mpi_;
  double last_ = 0, bytes_ = 0;
};

/// Two ranks of `comm`. The first measures, and knows what comes of it; the second takes what is
/// sent to it, and answers the last message of a round.
class Pair {
 public:
  Pair(MPI_Comm comm, int first, int second, std::vector<std::byte>& data)
      : comm_(comm), rank_(rank_in(comm)), first_(first), second_(second), data_(data) {}

  bool is_in() const { return leads() || rank_ == second_; }
  /// Makes the connection. The second, whose turn may come late, naps until then.
  void meet() {
    if (leads()) send(kShort, kTag);
    MPI_Request request = MPI_REQUEST_NULL;
    PMPI_Irecv(data_.data(), kShort, MPI_BYTE, other(), kTag, comm_, &request);
    wait_patiently(request, comm_);
    if (!leads()) send(kShort, kTag);
  }
  /// Seconds of the fastest round of so many messages, and its answer.
  double fastest(int bytes, int messages = 1) {
    if (!leads()) {
      serve([] {}, [](int) {});
      return 0;
    }
    const double begin = PMPI_Wtime();
    double seconds = kNever, now = begin;
    for (int i = 0; i < kRounds || (i < kMostRounds && now - begin < kRoundsSeconds); ++i) {
      const double before = now;
      send_round(bytes, messages);
      receive();
      now = PMPI_Wtime();
      seconds = std::min(seconds, now - before);
    }
    send(0, kEnd);
    return seconds;
  }
  /// What a byte of a stream costs; 0 where that could not be measured.
  double stream() {
    double seconds = 0;
    for (int i = 0; i < kStreams && seconds == 0; ++i) {
      MPI_Request request = MPI_REQUEST_NULL;
      if (leads()) {
        send_stream();
        PMPI_Irecv(&seconds, 1, MPI_DOUBLE, second_, kTag, comm_, &request);
      } else {
        Arrivals arrivals;
        serve([&] { arrivals.look(); }, [&](int bytes) { arrivals.take(bytes); });
        seconds = arrivals.seconds_per_byte().value_or(0);
        PMPI_Isend(&seconds, 1, MPI_DOUBLE, first_, kTag, comm_, &request);
      }
      wait_awake(request, MPI_STATUS_IGNORE, [] {});
    }
    return seconds;
  }

 private:
  bool leads() const { return rank_ == first_; }
  int other() const { return leads() ? second_ : first_; }
  // So short that no library waits for the receiver.
  void send(int bytes, int tag) { PMPI_Send(data_.data(), bytes, MPI_BYTE, other(), tag, comm_); }
  void send_round(int bytes, int messages) {
    for (int i = 1; i <= messages; ++i) send(bytes, i < messages ? kTag : kToAnswer);
  }
  template <class Look>
  MPI_Status receive(const Look& look) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    PMPI_Irecv(data_.data(), static_cast<int>(data_.size()), MPI_BYTE, other(), MPI_ANY_TAG, comm_,
               &request);
    wait_awake(request, &status, look);
    return status;
  }
  void receive() {
    receive([] {});
  }
  /// Rounds become longer until they take kRoundSeconds.
  void send_stream() {
    const double begin = PMPI_Wtime();
    double last = begin;
    for (int round = 1, pieces = 1; last - begin < kStreamSeconds; ++round) {
      send_round(kPiece, pieces);
      if (round < kRoundsAhead) continue;
      receive();
      const double took = PMPI_Wtime() - last;
      last += took;
      if (took < kRoundSeconds / 2) pieces = std::min(2 * pieces, kMostPieces);
      if (took > kRoundSeconds * 2) pieces = std::max(pieces / 2, 1);
    }
    for (int round = 1; round < kRoundsAhead; ++round) receive();
    send(0, kEnd);
  }
  template <class Look, class Take>
  void serve(const Look& look, const Take& take) {
    for (;;) {
      const MPI_Status status = receive(look);
      if (status.MPI_TAG == kEnd) return;
      int bytes = 0;
      PMPI_Get_count(&status, MPI_BYTE, &bytes);
      take(bytes);
      if (status.MPI_TAG == kToAnswer) send(0, kTag);
    }
  }

  MPI_Comm comm_;
  int rank_, first_, second_;
  std::vector<std::byte>& data_;
};

/// Of one pair; the first of its two ranks has them.
struct PairTimes {
  double one_way = 0;   // of a short message
  double gap = 0;       // one more of them in a stream
  double per_byte = 0;  // of long ones; 0: not measured
};

PairTimes times_of_short(Pair& pair) {
  pair.meet();
  const double one = pair.fastest(kShort), many = pair.fastest(kShort, kStream);
  return {one / 2, std::clamp((many - one) / (kStream - 1), 0.0, one / 2), 0};
}

PairTimes times_within(Pair pair) {
  if (!pair.is_in()) return {};
  PairTimes times = times_of_short(pair);
  const double seconds = pair.fastest(kLongestWithin, kStream) / kStream - times.gap;
  times.per_byte = std::max(seconds, 0.0) / kLongestWithin;
  return times;
}

/// Rounds in which every node's first rank exchanges messages with its neighbour's, of even and odd
/// number: MPI has connected these already, in reductions along a tree.
class Exchanges {
 public:
  Exchanges(MPI_Comm leaders, std::vector<std::byte>& data)
      : leaders_(leaders), data_(data), into_(data.size()), other_(rank_in(leaders) ^ 1) {}

  // Nobody waits for all between rounds. Who came late is late in the first one, which does not
  // count.
  void time_rounds(int bytes, std::span<double> seconds) {
    if (other_ >= size_of(leaders_)) return;
    round(bytes);
    for (double& one : seconds) one = round(bytes);
  }

 private:
  double round(int bytes) {
    const double begin = PMPI_Wtime();
    std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    PMPI_Irecv(into_.data(), bytes, MPI_BYTE, other_, kTag, leaders_, requests.data());
    PMPI_Isend(data_.data(), bytes, MPI_BYTE, other_, kTag, leaders_, &requests[1]);
    for (MPI_Request& request : requests) wait_awake(request, MPI_STATUS_IGNORE, [] {});
    return PMPI_Wtime() - begin;
  }

  MPI_Comm leaders_;
  std::vector<std::byte>& data_;
  std::vector<std::byte> into_;
  int other_;
};

/// A round at once of all nodes: the median of each rank's rounds, and of all ranks the mean. Not
/// the slowest rank: of 13 on two cores one waits for a processor in almost every round, and 4.7 ms
/// for each message made all pipelines look hopeless.
Cost exchange_cost(MPI_Comm leaders, std::vector<std::byte>& data, int bytes) {
  std::vector<double> none(kRounds), some(kRounds);
  Exchanges exchanges(leaders, data);
  exchanges.time_rounds(kShort, none);
  exchanges.time_rounds(bytes, some);
  // Of an odd number the last rank has nobody to exchange with.
  std::array<double, 2> sums{median(none), median(some)};
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Iallreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM,
                  leaders, &request);
  wait_patiently(request, leaders);
  const double empty = sums[0] / (size_of(leaders) & ~1), full = sums[1] / (size_of(leaders) & ~1);
  return {{{0, empty, std::max(0.0, (full - empty) / bytes)}}};
}

/// Rank 0's partners: the next one, and such as MPI libraries' trees have connected it to.
std::vector<int> partners(int size) {
  std::vector<int> all{1};
  for (int far = static_cast<int>(std::bit_floor(static_cast<unsigned>(size - 1)));
       far > 1 && static_cast<int>(all.size()) < kPartners; far /= 2)
    all.push_back(far);
  return all;
}

LevelCosts level_from(const PairTimes& times) {
  LevelCosts level;
  level.one_way = {{{0, times.one_way, times.per_byte}}};
  level.gap = {{{0, times.gap, times.per_byte}}};
  return level;
}

/// Between nodes, on all ranks of `leaders`; more than one. Nothing: it could not be measured.
std::optional<LevelCosts> between_nodes(MPI_Comm leaders, std::vector<std::byte>& data) {
  std::vector<double> latencies;
  PairTimes times;
  for (const int partner : partners(size_of(leaders))) {
    Pair pair(leaders, 0, partner, data);
    if (!pair.is_in()) continue;
    const PairTimes found = times_of_short(pair);
    latencies.push_back(found.one_way);
    if (partner == 1) times = {0, found.gap, pair.stream()};
  }
  // Nobody computes while rank 0 and its partners measure. Not a barrier, whose messages may take
  // other ways than those that are connected.
  int exchanged = 0;
  if (rank_in(leaders) == 0) {
    times.one_way = median(latencies);
    if (times.per_byte > 0)
      exchanged = static_cast<int>(
          std::clamp<double>(kExchangeSeconds / times.per_byte, kLeastExchanged, kMostExchanged));
  }
  tell_patiently(&exchanged, sizeof exchanged, leaders);
  if (exchanged == 0) return std::nullopt;
  LevelCosts level = level_from(times);
  level.exchange = exchange_cost(leaders, data, exchanged);
  level.active = size_of(leaders);
  return level;
}

/// Seconds per byte of the faster of two.
template <class Work>
double rate_of(const Work& work, std::size_t bytes) {
  double fastest = kNever;
  for (int i = 0; i < 2; ++i) {
    const double begin = PMPI_Wtime();
    work();
    fastest = std::min(fastest, PMPI_Wtime() - begin);
  }
  return fastest / static_cast<double>(bytes);
}

void measure_work(Machine& machine) {
  constexpr std::size_t kBytes = 64 << 10;
  std::vector<float> numbers(kBytes / sizeof(float), 1), sums(numbers);
  machine.gamma = rate_of(
      [&] {
        PMPI_Reduce_local(numbers.data(), sums.data(), static_cast<int>(sums.size()), MPI_FLOAT,
                          MPI_SUM);
      },
      kBytes);
  machine.copy = rate_of([&] { std::memcpy(sums.data(), numbers.data(), kBytes); }, kBytes);
}

/// Numbers of a machine on their way to the other ranks.
using Numbers = std::array<double, 8>;

Numbers pack(const Machine& machine) {
  Numbers numbers{};
  const auto put = [&](std::size_t at, const Cost& cost) {
    if (cost.pieces.empty()) return;
    numbers[at] = cost.pieces[0].alpha;
    numbers[at + 1] = cost.pieces[0].beta;
  };
  if (const auto& between = machine.levels[kBetweenNodes]) {
    put(0, between->one_way);
    numbers[2] = between->gap.pieces[0].alpha;
    put(3, between->exchange);
    numbers[5] = between->active;
  }
  numbers[6] = machine.gamma;
  numbers[7] = machine.copy;
  return numbers;
}

LevelCosts unpack_between(const Numbers& n) {
  LevelCosts level = level_from({n[0], n[2], n[1]});
  level.exchange = {{{0, n[3], n[4]}}};
  level.active = static_cast<int>(n[5]);
  return level;
}

}  // namespace

Machine probe_network(MPI_Comm world, MPI_Comm node, bool all_alone) {
  const int rank = rank_in(world), in_node = rank_in(node);
  MPI_Comm leaders = world;
  if (!all_alone) PMPI_Comm_split(world, in_node == 0 ? 0 : MPI_UNDEFINED, rank, &leaders);
  std::vector<std::byte> data(kMostExchanged);
  Machine machine;
  if (leaders != MPI_COMM_NULL && size_of(leaders) > 1)
    machine.levels[kBetweenNodes] = between_nodes(leaders, data);
  if (!all_alone && leaders != MPI_COMM_NULL) PMPI_Comm_free(&leaders);
  if (rank == 0) measure_work(machine);
  Numbers numbers = pack(machine);

  // One node with two ranks speaks for all.
  int measuring = in_node == 0 && size_of(node) > 1 ? rank : INT_MAX;
  if (!all_alone) reduce_patiently(std::span(&measuring, 1), MPI_MIN, world);
  std::array<double, 3> within{};
  if (measuring != INT_MAX) {
    int leader = rank;
    tell_patiently(&leader, sizeof leader, node);
    if (leader == measuring) {
      const PairTimes times = times_within(Pair(node, 0, 1, data));
      within = {times.one_way, times.per_byte, times.gap};
    }
    MPI_Request request = MPI_REQUEST_NULL;
    PMPI_Ibcast(within.data(), static_cast<int>(within.size()), MPI_DOUBLE, measuring, world,
                &request);
    wait_patiently(request, world);
  }
  tell_patiently(numbers.data(), sizeof numbers, world);
  Machine same;
  if (numbers[5] > 1) same.levels[kBetweenNodes] = unpack_between(numbers);
  if (measuring != INT_MAX)
    same.levels[kWithinNode] = level_from({within[0], within[2], within[1]});
  same.gamma = numbers[6];
  same.copy = numbers[7];
  same.incast = kCheapSwitch;
  return same;
}

}  // namespace unisono
