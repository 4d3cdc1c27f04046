#include "runtime/clocks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <thread>

#include "mpi/comm.h"
#include "mpi/simulated.h"

namespace unisono {

namespace {

using trace::ClockOffset;

constexpr int kTag = 0;
constexpr std::size_t kTrips = 30;
constexpr std::int64_t kEnoughNs = 50'000'000;  // of one edge's exchanges
constexpr std::chrono::microseconds kNap{100};

using Numbers = std::array<long long, 3>;

std::int64_t now_ns() { return kSimulated ? simulated_ns() : trace::now_ns(); }

void send(const Numbers& numbers, int to, MPI_Comm comm) {
  PMPI_Send(numbers.data(), 3, MPI_LONG_LONG, to, kTag, comm);
}

Numbers receive(int from, MPI_Comm comm) {
  Numbers numbers{};
  PMPI_Recv(numbers.data(), 3, MPI_LONG_LONG, from, kTag, comm, MPI_STATUS_IGNORE);
  return numbers;
}

/// For what may take long: an MPI library that spins would take the cores from those who measure.
/// In the simulator nobody spins, and who polls keeps time from passing.
Numbers receive_quietly(int from, MPI_Comm comm) {
  if (kSimulated) return receive(from, comm);
  for (int there = 0; there == 0;) {
    PMPI_Iprobe(from, kTag, comm, &there, MPI_STATUS_IGNORE);
    if (there == 0) std::this_thread::sleep_for(kNap);
  }
  return receive(from, comm);
}

Numbers numbers_of(const ClockOffset& offset) {
  return {offset.at_ns, offset.offset_ns, offset.error_ns};
}

ClockOffset offset_of(const Numbers& numbers) { return {numbers[0], numbers[1], numbers[2]}; }

/// The side that gets to know: it measures until it has enough.
ClockOffset ask(int parent, MPI_Comm comm) {
  receive_quietly(parent, comm);  // it is our turn
  std::vector<trace::RoundTrip> trips;
  const std::int64_t begin = now_ns();
  for (bool last = false; !last;) {
    trace::RoundTrip trip;
    trip.sent_ns = now_ns();
    last = trips.size() + 1 >= kTrips || trip.sent_ns - begin > kEnoughNs;
    send({last ? 1 : 0, 0, 0}, parent, comm);
    trip.answered_ns = receive(parent, comm)[0];
    trip.received_ns = now_ns();
    trips.push_back(trip);
  }
  return compose(offset_by(trips), offset_of(receive(parent, comm)));
}

void answer(int child, const ClockOffset& own, MPI_Comm comm) {
  send({}, child, comm);
  for (bool last = false; !last;) {
    last = receive(child, comm)[0] != 0;
    send({now_ns(), 0, 0}, child, comm);
  }
  send(numbers_of(own), child, comm);
}

std::vector<int> leaders_of(const std::vector<int>& nodes) {
  std::vector<int> leaders;
  for (int rank = 0; rank < static_cast<int>(nodes.size()); ++rank)
    if (nodes[static_cast<std::size_t>(rank)] == rank) leaders.push_back(rank);
  return leaders;
}

ClockOffset offset_of_leader(int rank, const std::vector<int>& leaders, MPI_Comm comm) {
  const auto place = static_cast<std::size_t>(
      std::lower_bound(leaders.begin(), leaders.end(), rank) - leaders.begin());
  const std::size_t above = std::bit_floor(place);
  const ClockOffset own =
      place == 0 ? ClockOffset{now_ns(), 0, 0} : ask(leaders[place - above], comm);
  for (std::size_t step = std::max<std::size_t>(1, 2 * above); place + step < leaders.size();
       step *= 2)
    answer(leaders[place + step], own, comm);
  return own;
}

/// A port that a token bucket shapes, as in the lab and in clouds, lets a burst through at once
/// after a pause. So much in both directions before a message is timed empties it (ADR 14), and a
/// byte there and back says that all of it has arrived, or the message would wait behind it.
class Drain {
 public:
  /// Between ranks of a node there is no port.
  explicit Drain(bool between_nodes) : out_(between_nodes ? kBurst : 0), in_(out_.size()) {}

  void operator()(int partner, MPI_Comm comm) {
    if (out_.empty()) return;
    PMPI_Sendrecv(out_.data(), kBurst, MPI_BYTE, partner, kTag, in_.data(), kBurst, MPI_BYTE,
                  partner, kTag, comm, MPI_STATUS_IGNORE);
    PMPI_Sendrecv(out_.data(), 1, MPI_BYTE, partner, kTag, in_.data(), 1, MPI_BYTE, partner, kTag,
                  comm, MPI_STATUS_IGNORE);
  }

 private:
  static constexpr int kBurst = 1 << 16;
  std::vector<std::byte> out_, in_;
};

/// Of so many messages, each answered by one of a byte: seconds until the answer, and of
/// everything.
struct Trips {
  std::vector<double> seconds;
  double total = 0;
};

/// The other side is echo().
Trips trips_of(std::vector<std::byte>& data, int count, int partner, Drain& drain, MPI_Comm comm) {
  const int bytes = static_cast<int>(data.size());
  Trips trips;
  send({bytes, count, 0}, partner, comm);
  const std::int64_t start = now_ns();
  for (int i = 0; i < count; ++i) {
    drain(partner, comm);
    const std::int64_t begin = now_ns();
    PMPI_Send(data.data(), bytes, MPI_BYTE, partner, kTag, comm);
    PMPI_Recv(data.data(), 1, MPI_BYTE, partner, kTag, comm, MPI_STATUS_IGNORE);
    trips.seconds.push_back(static_cast<double>(now_ns() - begin) * 1e-9);
  }
  trips.total = static_cast<double>(now_ns() - start) * 1e-9;
  return trips;
}

void echo(Drain& drain, MPI_Comm comm) {
  std::vector<std::byte> data;
  for (Numbers wanted = receive_quietly(0, comm); wanted[1] > 0; wanted = receive(0, comm)) {
    const int bytes = static_cast<int>(wanted[0]);
    data.resize(static_cast<std::size_t>(bytes));
    for (int i = 0; i < wanted[1]; ++i) {
      drain(0, comm);
      PMPI_Recv(data.data(), bytes, MPI_BYTE, 0, kTag, comm, MPI_STATUS_IGNORE);
      PMPI_Send(data.data(), 1, MPI_BYTE, 0, kTag, comm);
    }
  }
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Powers of 4 up to the first that is not below `most`; of more than `number`, evenly as many,
/// because a long message and a short one say more than many short ones. 1 is always in it.
std::vector<std::uint64_t> powers_of_4(std::uint64_t most, int number) {
  int last = 0;
  while ((std::uint64_t{1} << 2 * last) < most) ++last;
  const int others = std::max(1, number - 1);
  const int step = std::max(1, (last + others - 1) / others);
  std::vector<std::uint64_t> sizes;
  for (int power = last; power > 0; power -= step) sizes.push_back(std::uint64_t{1} << 2 * power);
  sizes.push_back(1);
  std::reverse(sizes.begin(), sizes.end());
  return sizes;
}

std::vector<OneWay> measure_one_way(std::uint64_t most_bytes, int partner, Drain& drain,
                                    MPI_Comm comm) {
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 24;  // beyond, the rate is known
  constexpr double kEnough = 0.5;
  constexpr int kMost = 21, kLeast = 3;
  std::vector<std::byte> data(1);
  trips_of(data, 1, partner, drain, comm);  // connects
  const double shortest = std::max(1e-6, trips_of(data, 1, partner, drain, comm).total);
  const auto sizes = powers_of_4(std::min(most_bytes, kLargest),
                                 static_cast<int>(kEnough / ((kLeast + 1) * shortest)));
  std::vector<OneWay> times;
  double left = kEnough, answer = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    data.resize(sizes[i]);
    Trips trips = trips_of(data, 1, partner, drain, comm);  // maps memory
    const double first = trips.total;
    left -= first;
    const bool is_enough = left >= kLeast * first;
    if (is_enough) {
      const double share = left / static_cast<double>(sizes.size() - i);
      const int count = std::clamp(static_cast<int>(share / first), kLeast, kMost);
      trips = trips_of(data, count, partner, drain, comm);
      left -= trips.total;
    }
    const double trip = median(trips.seconds);
    if (times.empty()) answer = trip / 2;
    times.push_back({sizes[i], std::max(answer, trip - answer)});
    if (!is_enough) break;  // one that took so long tells enough by itself
  }
  send({}, partner, comm);
  return times;
}

}  // namespace

ClockOffset clock_offset(MPI_Comm comm, const std::vector<int>& nodes) {
  const int rank = rank_in(comm);
  const int leader = nodes[static_cast<std::size_t>(rank)];
  if (leader != rank) return offset_of(receive_quietly(leader, comm));
  const ClockOffset own = offset_of_leader(rank, leaders_of(nodes), comm);
  for (int mate = rank + 1; mate < static_cast<int>(nodes.size()); ++mate)
    if (nodes[static_cast<std::size_t>(mate)] == rank) send(numbers_of(own), mate, comm);
  return own;
}

std::vector<OneWay> one_way_times(MPI_Comm comm, const std::vector<int>& nodes,
                                  std::uint64_t most_bytes) {
  const int rank = rank_in(comm);
  const int last = static_cast<int>(nodes.size()) - 1;
  if (last == 0) return {};
  const auto other = std::find_if(nodes.begin(), nodes.end(), [](int node) { return node != 0; });
  const int partner = other != nodes.end() ? static_cast<int>(other - nodes.begin()) : last;
  Drain drain(other != nodes.end());
  if (rank == partner) echo(drain, comm);
  return rank == 0 ? measure_one_way(most_bytes, partner, drain, comm) : std::vector<OneWay>();
}

void wait_quietly_for_all(MPI_Comm comm) {
  MPI_Request all = MPI_REQUEST_NULL;
  PMPI_Ibarrier(comm, &all);
  if (kSimulated) {
    PMPI_Wait(&all, MPI_STATUS_IGNORE);
    return;
  }
  for (int done = 0; done == 0;) {
    PMPI_Test(&all, &done, MPI_STATUS_IGNORE);
    if (done == 0) std::this_thread::sleep_for(kNap);
  }
}

}  // namespace unisono
