#include "comm/network_probe.h"

#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <cstddef>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "base/statistics.h"
#include "mpi/comm.h"
#include "mpi/patience.h"

namespace unisono {

namespace {

constexpr int kTag = 0;
constexpr int kShort = 8, kRoundTrips = 6, kStream = 16;
constexpr int kFirstLong = 64 << 10, kLastLong = 1 << 20;
// Within a node. Longer ones may go by copies between processes, which can be forbidden.
constexpr int kLongestWithin = 4 << 10;
constexpr int kExchanged = 32 << 10, kRounds = 3;
constexpr int kPartners = 3;
// A message that took so long is the last one: with the next it would be three times as much.
constexpr double kLongEnough = 4e-3;
// Of twice as many bytes: a rate that is half of the real one makes every promise of an arm void.
constexpr double kHeldUp = 2.5;
constexpr double kNever = std::numeric_limits<double>::infinity();

/// Two ranks of `comm` that send to each other; all others do nothing.
class Pair {
 public:
  Pair(MPI_Comm comm, int first, int second, std::vector<std::byte>& data)
      : comm_(comm), rank_(rank_in(comm)), first_(first), second_(second), data_(data) {}

  bool is_in() const { return rank_ == first_ || rank_ == second_; }
  /// Seconds from the begin of a send of so many bytes until an empty answer is there, at the
  /// first; at the second something shorter.
  double there_and_back(int bytes, int messages = 1) {
    const double begin = PMPI_Wtime();
    for (int i = 0; i < messages; ++i) {
      if (rank_ == first_) send(second_, bytes);
      if (rank_ == second_) receive(first_, bytes);
    }
    if (rank_ == second_) send(first_, 0);
    if (rank_ == first_) receive(second_, 0);
    return PMPI_Wtime() - begin;
  }
  /// The first one's number, at both.
  double tell(double seconds) const {
    if (rank_ == first_) PMPI_Send(&seconds, 1, MPI_DOUBLE, second_, kTag, comm_);
    if (rank_ == second_)
      PMPI_Recv(&seconds, 1, MPI_DOUBLE, first_, kTag, comm_, MPI_STATUS_IGNORE);
    return seconds;
  }

 private:
  void send(int to, int bytes) { PMPI_Send(data_.data(), bytes, MPI_BYTE, to, kTag, comm_); }
  void receive(int from, int bytes) {
    PMPI_Recv(data_.data(), bytes, MPI_BYTE, from, kTag, comm_, MPI_STATUS_IGNORE);
  }

  MPI_Comm comm_;
  int rank_, first_, second_;
  std::vector<std::byte>& data_;
};

/// Of one pair; the first of its two ranks has them.
struct PairTimes {
  double one_way = 0;   // of a short message
  double gap = 0;       // one more of them in a stream
  double per_byte = 0;  // of long ones
};

double latency_of(Pair& pair) {
  pair.there_and_back(kShort);  // makes the connection
  double fastest = kNever;
  for (int i = 0; i < kRoundTrips; ++i) fastest = std::min(fastest, pair.there_and_back(kShort));
  return fastest / 2;
}

/// Twice as long every time; the slope between the last two. What shapers let through at once after
/// a pause has gone before.
double seconds_per_byte(Pair& pair) {
  pair.there_and_back(kFirstLong);
  double shorter = 0, last = 0;
  int bytes = kFirstLong;
  for (;; bytes *= 2) {
    shorter = last;
    const auto once = [&] { return pair.tell(pair.there_and_back(bytes)); };
    last = once();
    const bool held_up = shorter > 0 && last > kHeldUp * shorter;
    if (last < kLongEnough / 2 || held_up) last = std::min(last, once());
    if (last > 3 * kLongEnough) return last / bytes;  // so slow that it was long enough
    if (bytes == kLastLong || (bytes > kFirstLong && last > kLongEnough)) break;
  }
  return std::max(last - shorter, last / 4) / (bytes / 2.0);
}

PairTimes times_of_short(Pair& pair) {
  PairTimes times;
  times.one_way = latency_of(pair);
  const double one = pair.there_and_back(kShort), many = pair.there_and_back(kShort, kStream);
  times.gap = std::clamp((many - one) / (kStream - 1), 0.0, times.one_way);
  return times;
}

PairTimes times_between(Pair pair) {
  if (!pair.is_in()) return {};
  PairTimes times = times_of_short(pair);
  times.per_byte = seconds_per_byte(pair);
  return times;
}

PairTimes times_within(Pair pair) {
  if (!pair.is_in()) return {};
  PairTimes times = times_of_short(pair);
  double fastest = kNever;
  for (int i = 0; i < kRounds; ++i)
    fastest = std::min(fastest, pair.there_and_back(kLongestWithin, kStream));
  times.per_byte = std::max(fastest / kStream - times.gap, 0.0) / kLongestWithin;
  return times;
}

/// Rounds in which every node's first rank exchanges messages with its neighbour's, of even and odd
/// number: MPI has connected these already, in reductions along a tree.
class Exchanges {
 public:
  Exchanges(MPI_Comm leaders, std::vector<std::byte>& data)
      : leaders_(leaders), data_(data), into_(kExchanged), other_(rank_in(leaders) ^ 1) {}

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
    PMPI_Sendrecv(data_.data(), bytes, MPI_BYTE, other_, kTag, into_.data(), bytes, MPI_BYTE,
                  other_, kTag, leaders_, MPI_STATUS_IGNORE);
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
Cost exchange_cost(MPI_Comm leaders, std::vector<std::byte>& data) {
  std::vector<double> none(kRounds), some(kRounds);
  Exchanges exchanges(leaders, data);
  exchanges.time_rounds(kShort, none);
  exchanges.time_rounds(kExchanged, some);
  // Of an odd number the last rank has nobody to exchange with.
  std::array<double, 2> sums{median(none), median(some)};
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Iallreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM,
                  leaders, &request);
  wait_patiently(request, leaders);
  const double empty = sums[0] / (size_of(leaders) & ~1), full = sums[1] / (size_of(leaders) & ~1);
  return {{{0, empty, std::max(0.0, (full - empty) / kExchanged)}}};
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

/// Between nodes, on all ranks of `leaders`; more than one.
LevelCosts between_nodes(MPI_Comm leaders, std::vector<std::byte>& data) {
  const int size = size_of(leaders), rank = rank_in(leaders);
  std::vector<double> latencies;
  PairTimes times;
  for (const int partner : partners(size)) {
    Pair pair(leaders, 0, partner, data);
    if (!pair.is_in()) continue;
    if (partner == 1) times = times_between(pair);
    latencies.push_back(partner == 1 ? times.one_way : latency_of(pair));
  }
  if (rank == 0) {
    std::sort(latencies.begin(), latencies.end());
    times.one_way = latencies[latencies.size() / 2];
  }
  // Nobody computes while rank 0 and its partners measure. Not a barrier, whose messages may take
  // other ways than those that are connected.
  int all_there = 0;
  tell_patiently(&all_there, sizeof all_there, leaders);
  LevelCosts level = level_from(times);
  level.exchange = exchange_cost(leaders, data);
  level.active = size;
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

void measure_work(Machine& machine, std::vector<std::byte>& data) {
  constexpr std::size_t kBytes = 64 << 10;
  std::vector<float> numbers(kBytes / sizeof(float), 1), sums(numbers);
  machine.gamma = rate_of(
      [&] {
        PMPI_Reduce_local(numbers.data(), sums.data(), static_cast<int>(sums.size()), MPI_FLOAT,
                          MPI_SUM);
      },
      kBytes);
  machine.copy = rate_of([&] { std::memcpy(data.data(), numbers.data(), kBytes); }, kBytes);
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

// Shapers let some through at once, such as 64 KiB; what counts comes after that.
constexpr int kPiece = 16 << 10, kAtOnce = 4, kPieces = 7;
constexpr double kGreetingEnds = 4e-3;

/// The median of those that count, or the last one where the stream ends before.
double stream_piece(MPI_Comm world, int other) {
  const int rank = rank_in(world);
  std::vector<std::byte> data(kPiece);
  std::vector<double> seconds;
  const double begin = PMPI_Wtime();
  for (int piece = 0; piece <= kPieces; ++piece) {
    if (rank == 0) {
      const double before = PMPI_Wtime();
      const bool ends = piece == kPieces || before - begin > kGreetingEnds;
      PMPI_Send(data.data(), ends ? 0 : kPiece, MPI_BYTE, other, kTag, world);
      if (ends) break;
      PMPI_Recv(nullptr, 0, MPI_BYTE, other, kTag, world, MPI_STATUS_IGNORE);
      if (piece <= kAtOnce) seconds.clear();
      seconds.push_back(PMPI_Wtime() - before);
    } else {
      MPI_Status status;
      int bytes = 0;
      PMPI_Recv(data.data(), kPiece, MPI_BYTE, 0, kTag, world, &status);
      PMPI_Get_count(&status, MPI_BYTE, &bytes);
      if (bytes == 0) break;
      PMPI_Send(nullptr, 0, MPI_BYTE, 0, kTag, world);
    }
  }
  return seconds.empty() ? 0 : median(seconds);
}

}  // namespace

Greeting greet(MPI_Comm world, int other) {
  std::vector<std::byte> data(kShort);
  Pair pair(world, 0, other, data);
  if (!pair.is_in()) return {};
  const double round_trip = 2 * latency_of(pair);
  return {round_trip, stream_piece(world, other)};
}

Machine probe_network(MPI_Comm world, MPI_Comm node, bool all_alone) {
  const int rank = rank_in(world), in_node = rank_in(node);
  MPI_Comm leaders = world;
  if (!all_alone) PMPI_Comm_split(world, in_node == 0 ? 0 : MPI_UNDEFINED, rank, &leaders);
  std::vector<std::byte> data(kLastLong);
  Machine machine;
  if (leaders != MPI_COMM_NULL && size_of(leaders) > 1)
    machine.levels[kBetweenNodes] = between_nodes(leaders, data);
  if (!all_alone && leaders != MPI_COMM_NULL) PMPI_Comm_free(&leaders);
  if (rank == 0) measure_work(machine, data);
  Numbers numbers = pack(machine);

  // One node with two ranks speaks for all.
  int measuring = in_node == 0 && size_of(node) > 1 ? rank : INT_MAX;
  if (!all_alone) PMPI_Allreduce(MPI_IN_PLACE, &measuring, 1, MPI_INT, MPI_MIN, world);
  std::array<double, 3> within{};
  if (measuring != INT_MAX) {
    int leader = rank;
    PMPI_Bcast(&leader, 1, MPI_INT, 0, node);
    if (leader == measuring) {
      const PairTimes times = times_within(Pair(node, 0, 1, data));
      within = {times.one_way, times.per_byte, times.gap};
    }
    PMPI_Bcast(within.data(), static_cast<int>(within.size()), MPI_DOUBLE, measuring, world);
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
