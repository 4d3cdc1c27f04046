// A collective after computations that take the ranks differently long: the programs of Faraj,
// Patarasuk, Yuan, A study of process arrival patterns for MPI collective operations (2008),
// Figure 4 (--computation 200), Figure 6 (--barrier --max-if 1,2,..) and Figure 11 (all of them).
// Uses nothing but MPI, so that the simulator can compile it; only the measured collective has its
// MPI name, so that what is placed under it chooses for that alone.
//
//   unisono-arrival --collective alltoall --bytes 65536 --barrier --max-if 1,10,50 --output FILE
//
// For every maximum K in turn, up to --patterns times (until --seconds have passed, three at
// least), every rank draws r in [0, K), and then --calls times: a barrier with --barrier,
// computation of --computation ms and r times the time of one message, the collective. One JSON
// object: for every K and pattern ("patterns"), for each call,
//   mean_elapsed_s, max_elapsed_s      in the collective; mean and largest over the ranks
//   arrival_s, exit_s, computation_s   last less first, of arrivals and exits on a common clock;
//                                      longest less shortest computation
//   by_unisono                         1: Unisono ran it itself; 0: the MPI library did
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "apps/arrival/clock.h"
#include "apps/arrival/computation.h"
#include "apps/arrival/samples.h"

// Of Unisono, where that is placed under the program (unisono/unisono.h).
extern "C" [[gnu::weak]] void unisono_counts(unsigned long long* own, unsigned long long* native);

namespace {

using namespace apps::arrival;

constexpr int kFewestPatterns = 3;
constexpr std::array<const char*, 6> kCollectives = {"alltoall",  "bcast",  "allgather",
                                                     "allreduce", "reduce", "barrier"};

struct Options {
  std::string collective = "alltoall", output;
  int bytes = 65536, calls = 100, patterns = 1;
  double computation = 0, seconds = 1e9, message = 0;  // seconds
  std::vector<int> max_if = {1};
  bool barrier = false, work = false;
};

struct World {
  int rank = 0, ranks = 1;
};

[[noreturn]] void fail(const World& world, const std::string& line) {
  if (world.rank == 0) std::fprintf(stderr, "unisono-arrival: %s\n", line.c_str());
  MPI_Finalize();
  std::exit(2);
}

Options parse(int argc, char** argv, const World& world) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--barrier" || name == "--work") {
      (name == "--work" ? o.work : o.barrier) = true;
      continue;
    }
    if (++i == argc) fail(world, std::string(name) + ": no such option, or its value is missing");
    const char* value = argv[i];
    if (name == "--collective")
      o.collective = value;
    else if (name == "--output")
      o.output = value;
    else if (name == "--bytes")
      o.bytes = std::atoi(value);
    else if (name == "--calls")
      o.calls = std::atoi(value);
    else if (name == "--patterns")
      o.patterns = std::atoi(value);
    else if (name == "--seconds")
      o.seconds = std::atof(value);
    else if (name == "--computation")
      o.computation = std::atof(value) * 1e-3;
    else if (name == "--message-us")
      o.message = std::atof(value) * 1e-6;
    else if (name == "--max-if") {
      o.max_if.clear();
      for (const char* at = value; at;
           at = std::strchr(at, ',') ? std::strchr(at, ',') + 1 : nullptr)
        o.max_if.push_back(std::atoi(at));
    } else {
      fail(world, std::string(name) + ": no such option");
    }
  }
  if (std::find(kCollectives.begin(), kCollectives.end(), o.collective) == kCollectives.end())
    fail(world, "--collective " + o.collective +
                    ": valid are alltoall, bcast, allgather, allreduce, reduce, barrier");
  if (o.bytes < 1 || o.bytes > 1 << 28 || o.calls < 1 || o.patterns < 1 ||
      *std::min_element(o.max_if.begin(), o.max_if.end()) < 1)
    fail(world, "--bytes, --calls, --patterns, --max-if: numbers from 1 on");
  return o;
}

// --- the collective -----------------------------------------------------------------------------

/// What is called, with its buffers. The message is a block of alltoall and allgather, otherwise
/// the whole vector.
class Call {
 public:
  Call(const Options& o, const World& world) : name_(o.collective), bytes_(o.bytes), world_(world) {
    const std::size_t message = static_cast<std::size_t>(bytes_),
                      ranks = static_cast<std::size_t>(world.ranks);
    sent_.resize(name_ == "alltoall" ? message * ranks : message);
    received_.resize(name_ == "alltoall" || name_ == "allgather" ? message * ranks : message);
  }

  void operator()() {
    const MPI_Comm comm = MPI_COMM_WORLD;
    unsigned char *in = sent_.data(), *out = received_.data();
    if (name_ == "alltoall")
      MPI_Alltoall(in, bytes_, MPI_BYTE, out, bytes_, MPI_BYTE, comm);
    else if (name_ == "bcast")
      MPI_Bcast(in, bytes_, MPI_BYTE, 0, comm);
    else if (name_ == "allgather")
      MPI_Allgather(in, bytes_, MPI_BYTE, out, bytes_, MPI_BYTE, comm);
    else if (name_ == "allreduce")
      MPI_Allreduce(in, out, bytes_, MPI_BYTE, MPI_BXOR, comm);
    else if (name_ == "reduce")
      MPI_Reduce(in, out, bytes_, MPI_BYTE, MPI_BXOR, 0, comm);
    else
      MPI_Barrier(comm);
  }

  /// Runs it once; whether the first byte of every block is right.
  bool right() {
    const std::size_t message = static_cast<std::size_t>(bytes_);
    for (std::size_t i = 0; i < sent_.size(); i += message) {
      const int to = name_ == "alltoall" ? static_cast<int>(i / message) : 0;
      std::fill_n(&sent_[i], message, byte(world_.rank, to));
    }
    (*this)();
    unsigned char all = 0;
    for (int r = 0; r < world_.ranks; ++r) all ^= byte(r, 0);
    if (name_ == "bcast") return sent_[0] == byte(0, 0);
    if (name_ == "allreduce" || (name_ == "reduce" && world_.rank == 0)) return received_[0] == all;
    if (name_ == "alltoall" || name_ == "allgather")
      for (int r = 0; r < world_.ranks; ++r)
        if (received_[static_cast<std::size_t>(r) * message] !=
            byte(r, name_ == "alltoall" ? world_.rank : 0))
          return false;
    return true;
  }

 private:
  static unsigned char byte(int from, int to) {
    return static_cast<unsigned char>(37 * from + 11 * to + 5);
  }

  std::string name_;
  int bytes_;
  World world_;
  std::vector<unsigned char> sent_, received_;
};

/// A message and its answer of a byte, between the first rank and the last: seconds, the median.
/// Before each of them as much as a port's token bucket holds goes both ways: after a pause a
/// shaped port lets that through at once, and a message would take less time than its bytes need. A
/// byte both ways says that it has arrived.
double answered_seconds(int bytes, const World& world) {
  constexpr int kTrips = 21, kTag = 8, kBurst = 65536;
  const int last = world.ranks - 1;
  if (last == 0 || (world.rank != 0 && world.rank != last)) return 0;
  const int other = last - world.rank;
  std::vector<char> message(static_cast<std::size_t>(std::max(bytes, kBurst))), burst(kBurst);
  std::vector<double> seconds;
  for (int i = 0; i < kTrips; ++i) {
    PMPI_Sendrecv(message.data(), kBurst, MPI_BYTE, other, kTag, burst.data(), kBurst, MPI_BYTE,
                  other, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    PMPI_Sendrecv(message.data(), 1, MPI_BYTE, other, kTag, burst.data(), 1, MPI_BYTE, other, kTag,
                  MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const double begin = MPI_Wtime();
    if (world.rank == 0)
      PMPI_Send(message.data(), bytes, MPI_BYTE, last, kTag, MPI_COMM_WORLD);
    else
      PMPI_Recv(message.data(), bytes, MPI_BYTE, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (world.rank == 0)
      PMPI_Recv(burst.data(), 1, MPI_BYTE, last, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
      PMPI_Send(burst.data(), 1, MPI_BYTE, 0, kTag, MPI_COMM_WORLD);
    seconds.push_back(MPI_Wtime() - begin);
  }
  std::nth_element(seconds.begin(), seconds.begin() + kTrips / 2, seconds.end());
  return seconds[kTrips / 2];
}

/// T of the paper: the time of a message one way. The others sleep meanwhile: more ranks than cores
/// would disturb those that measure.
double message_seconds(int bytes, const World& world) {
  const double answer = answered_seconds(1, world) / 2;
  double message = std::max(answer, answered_seconds(bytes, world) - answer);
  MPI_Request known = MPI_REQUEST_NULL;
  PMPI_Ibcast(&message, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD, &known);
  for (int done = 0; done == 0;) {
    PMPI_Test(&known, &done, MPI_STATUS_IGNORE);
    if (done == 0) pause_for(1e-3);
  }
  return message;
}

// --- measuring ----------------------------------------------------------------------------------

unsigned long long calls_by_unisono() {
  unsigned long long own = 0, native = 0;
  if (unisono_counts != nullptr) unisono_counts(&own, &native);
  return own;
}

Sample measure_one(const Options& o, double seconds, double rate, Call& call) {
  if (o.barrier) PMPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  if (o.work)
    compute(static_cast<long>(seconds * rate));
  else
    pause_for(seconds);
  const auto before = calls_by_unisono();
  const double arrive = MPI_Wtime();
  call();
  const double leave = MPI_Wtime();
  return {arrive, leave, arrive - begin, calls_by_unisono() != before ? 1.0 : 0.0};
}

std::vector<Sample> measure(const Options& o, double seconds, double rate, Call& call) {
  std::vector<Sample> samples;
  for (int i = 0; i < o.calls; ++i) samples.push_back(measure_one(o, seconds, rate, call));
  return samples;
}

/// Those of all ranks, on the common clock, on rank 0. Collective.
std::vector<Sample> gathered(std::vector<Sample> own, const Offset& first, const Offset& last,
                             const World& world) {
  for (Sample& sample : own) {
    sample.arrive = common_time(sample.arrive, first, last);
    sample.leave = common_time(sample.leave, first, last);
  }
  std::vector<Sample> all(world.rank == 0 ? own.size() * static_cast<std::size_t>(world.ranks) : 0);
  const int count = static_cast<int>(own.size()) * kNumbers;
  PMPI_Gather(own.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return all;
}

/// One maximum: all its patterns. Returns the largest error of a clock.
double run_maximum(std::FILE* out, const Options& o, int max_if, double rate, Call& call,
                   const World& world) {
  const double begin = MPI_Wtime();
  double error = 0;
  Offset first = measure_offset(MPI_COMM_WORLD);
  if (out != nullptr) std::fprintf(out, "{\"max_if\":%d,\"patterns\":[", max_if);
  for (int pattern = 0; pattern < o.patterns; ++pattern) {
    int enough = pattern >= kFewestPatterns && MPI_Wtime() - begin > o.seconds ? 1 : 0;
    PMPI_Bcast(&enough, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (enough != 0) break;
    const double delay = o.computation + drawn(max_if, pattern, world.rank) * o.message;
    const std::vector<Sample> samples = measure(o, delay, rate, call);
    const Offset last = measure_offset(MPI_COMM_WORLD);
    const auto measured = gathered(samples, first, last, world);
    if (out != nullptr && pattern > 0) std::fputs(",", out);
    if (out != nullptr) print_pattern(out, measured, samples.size());
    error = std::max({error, first.error, last.error});
    first = last;
  }
  if (out != nullptr) std::fputs("]}", out);
  double largest = 0;
  PMPI_Reduce(&error, &largest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return largest;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  World world;
  MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world.ranks);
  Options o = parse(argc, argv, world);
  std::FILE* out = nullptr;
  if (world.rank == 0) out = o.output.empty() ? stdout : std::fopen(o.output.c_str(), "w");
  int good = world.rank != 0 || out != nullptr ? 1 : 0;
  PMPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (good == 0) fail(world, "--output: cannot write " + o.output);

  if (o.message == 0) o.message = message_seconds(o.bytes, world);
  const double rate = o.work ? calibrated() : 0;
  Call call(o, world);
  int right = call.right() ? 1 : 0;
  PMPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (right == 0) fail(world, "WRONG RESULT of " + o.collective);
  if (out != nullptr)
    std::fprintf(out,
                 "{\"collective\":\"%s\",\"bytes\":%d,\"ranks\":%d,\"message_s\":%.9g,"
                 "\"maxima\":[",
                 o.collective.c_str(), o.bytes, world.ranks, o.message);
  double error = 0;
  for (std::size_t i = 0; i < o.max_if.size(); ++i) {
    if (out != nullptr && i > 0) std::fputs(",\n", out);
    error = std::max(error, run_maximum(out, o, o.max_if[i], rate, call, world));
  }
  if (out != nullptr) {
    std::fprintf(out, "],\"clock_error_s\":%.9g}\n", error);
    std::fflush(out);
    good = std::ferror(out) == 0 && (out == stdout || std::fclose(out) == 0) ? 1 : 0;
  }
  PMPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (good == 0) fail(world, "--output: cannot write " + o.output);
  MPI_Finalize();
  return 0;
}
