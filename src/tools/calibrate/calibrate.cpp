// What messages, reductions and copies cost here, as JSON: the samples that `unisono-model fit`
// makes a machine file of, and the experiments' ping-pong.
//
//   unisono-calibrate [--seconds S] [--one-way] [--output FILE] [BYTES...]
//
// For every size S seconds and at least 5 samples of each quantity, at each level (0: two ranks on
// a node, 1: on two nodes) that the placement of the ranks has:
//   one_way    half of a round trip, from blocks long enough that reading the clock costs nothing
//   gap        seconds a message adds to a stream of messages from one rank to another, by the
//              difference to a single one, which holds the latency and the acknowledgement
//   exchange   a round in which every rank sends to a neighbour and receives from another
// and, by all ranks at once, MPI_Reduce_local of MPI_FLOAT and memcpy. This file uses nothing but
// MPI, so that it runs in the simulator too. Elsewhere two ranks of a node measure its memory, for
// half of the time (node_memory.h).
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#ifdef UNISONO_NODE_MEMORY
#include <thread>

#include "base/version.h"
#include "tools/calibrate/node_memory.h"
#endif

#ifndef UNISONO_FLAVOUR
#define UNISONO_FLAVOUR "other"
#define UNISONO_VERSION "(compiled alone)"
#endif

namespace {

constexpr double kBlockSeconds = 200e-6;
constexpr std::size_t kFewestSamples = 5, kMostSamples = 2000;
constexpr std::size_t kFewestOfSmall = 20, kSmallBytes = 4096;  // they cost little and err more
constexpr int kMostTrips = 1000;
constexpr std::size_t kMostStandard = 1 << 20, kMostBytes = 1 << 30;
constexpr int kStop = 0;
enum Tag : int { kControl, kData, kAnswer, kResult };

using Message = std::vector<unsigned char>;
using Samples = std::vector<double>;
using Requests = std::vector<MPI_Request>;

int size_of(const Message& message) { return static_cast<int>(message.size()); }

/// The ranks, and where they are.
struct World {
  int rank = 0, ranks = 1;
  std::vector<int> node;   // of each rank, numbered from 0
  std::vector<int> local;  // of each rank: its position on its node
};

World discover() {
  World world;
  MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world.ranks);
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &own);
  int leader = 0;
  MPI_Allreduce(&world.rank, &leader, 1, MPI_INT, MPI_MIN, own);
  MPI_Comm_free(&own);
  std::vector<int> leaders(static_cast<std::size_t>(world.ranks));
  MPI_Allgather(&leader, 1, MPI_INT, leaders.data(), 1, MPI_INT, MPI_COMM_WORLD);
  std::vector<int> nodes(leaders);
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  for (auto it = leaders.begin(); it != leaders.end(); ++it) {
    world.node.push_back(
        static_cast<int>(std::lower_bound(nodes.begin(), nodes.end(), *it) - nodes.begin()));
    world.local.push_back(static_cast<int>(std::count(leaders.begin(), it, *it)));
  }
  return world;
}

/// Who measures one-way times and gaps, and with whom; no pair: the level does not exist here.
struct Pair {
  int first = -1, second = -1;
};

Pair pair_at(const World& world, int level) {
  for (int a = 0; a < world.ranks; ++a)
    for (int b = a + 1; b < world.ranks; ++b)
      if ((world.node[a] != world.node[b]) == (level == 1)) return {a, b};
  return {};
}

/// The ring a rank takes part in: all ranks of its node, or those at its position on every node.
struct Ring {
  std::vector<int> members;
  int next = -1, previous = -1;
  bool active() const { return members.size() > 1; }
};

Ring ring_at(const World& world, int level) {
  Ring ring;
  const std::vector<int>& common = level == 0 ? world.node : world.local;
  for (int r = 0; r < world.ranks; ++r)
    if (common[r] == common[world.rank]) ring.members.push_back(r);
  const auto size = ring.members.size();
  const auto own = static_cast<std::size_t>(
      std::find(ring.members.begin(), ring.members.end(), world.rank) - ring.members.begin());
  ring.next = ring.members[(own + 1) % size];
  ring.previous = ring.members[(own + size - 1) % size];
  return ring;
}

/// Whether to go on measuring messages of so many bytes. Those of small ones may take ten times as
/// long as they should, where the machine is busy.
bool wanted(const Samples& samples, double begin, double seconds, std::size_t bytes) {
  if (samples.size() < kFewestSamples) return true;
  const bool few = bytes <= kSmallBytes && samples.size() < kFewestOfSmall;
  return samples.size() < kMostSamples && MPI_Wtime() - begin < (few ? 10 : 1) * seconds;
}

// --- one-way times: the first rank of the pair measures, the second does as it is told
// ------------

double one_way_block(int other, int trips, const Message& sent, Message& received) {
  MPI_Send(&trips, 1, MPI_INT, other, kControl, MPI_COMM_WORLD);
  std::fill(received.begin(), received.end(), 0);
  const double begin = MPI_Wtime();
  for (int i = 0; i < trips; ++i) {
    MPI_Send(sent.data(), size_of(sent), MPI_BYTE, other, kData, MPI_COMM_WORLD);
    MPI_Recv(received.data(), size_of(sent), MPI_BYTE, other, kAnswer, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
  }
  const double seconds = (MPI_Wtime() - begin) / (2.0 * trips);
  if (received != sent) {
    std::fprintf(stderr, "unisono-calibrate: WRONG: %d bytes did not come back as they were sent\n",
                 size_of(sent));
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return seconds;
}

Samples one_way(int other, double seconds, Message& sent) {
  Message received(sent.size());
  std::iota(sent.begin(), sent.end(), static_cast<unsigned char>(1));
  one_way_block(other, 1, sent, received);  // connects
  const double first = std::max(one_way_block(other, 2, sent, received), 1e-9);
  const int trips = std::clamp(static_cast<int>(kBlockSeconds / (2 * first)), 1, kMostTrips);
  Samples samples;
  for (const double begin = MPI_Wtime(); wanted(samples, begin, seconds, sent.size());)
    samples.push_back(one_way_block(other, trips, sent, received));
  MPI_Send(&kStop, 1, MPI_INT, other, kControl, MPI_COMM_WORLD);
  return samples;
}

void send_back(int other, Message& message) {
  for (int trips = 1; trips != kStop;) {
    MPI_Recv(&trips, 1, MPI_INT, other, kControl, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < trips; ++i) {
      MPI_Recv(message.data(), size_of(message), MPI_BYTE, other, kData, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
      MPI_Send(message.data(), size_of(message), MPI_BYTE, other, kAnswer, MPI_COMM_WORLD);
    }
  }
}

// --- streams
// --------------------------------------------------------------------------------------

/// So many messages that a single one, or the ranks' skew, hardly counts.
int stream_length(std::size_t bytes, std::size_t least, std::size_t most) {
  constexpr std::size_t kStreamBytes = 1 << 19;
  const std::size_t fitting = kStreamBytes / std::max<std::size_t>(1, bytes);
  return static_cast<int>(std::clamp(fitting, least, most));
}
int gap_messages(std::size_t bytes) { return stream_length(bytes, 4, 64); }

double stream_block(int other, int messages, const Message& sent) {
  MPI_Send(&messages, 1, MPI_INT, other, kControl, MPI_COMM_WORLD);
  // It has posted its receives.
  MPI_Recv(nullptr, 0, MPI_BYTE, other, kAnswer, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  Requests requests(static_cast<std::size_t>(messages));
  const double begin = MPI_Wtime();
  for (MPI_Request& request : requests)
    MPI_Isend(sent.data(), size_of(sent), MPI_BYTE, other, kData, MPI_COMM_WORLD, &request);
  MPI_Waitall(messages, requests.data(), MPI_STATUSES_IGNORE);
  MPI_Recv(nullptr, 0, MPI_BYTE, other, kAnswer, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return MPI_Wtime() - begin;
}

Samples gap(int other, double seconds, const Message& sent) {
  const int messages = gap_messages(sent.size());
  Samples samples;
  for (const double begin = MPI_Wtime(); wanted(samples, begin, seconds, sent.size());) {
    const double one = stream_block(other, 1, sent);
    samples.push_back((stream_block(other, messages, sent) - one) / (messages - 1));
  }
  MPI_Send(&kStop, 1, MPI_INT, other, kControl, MPI_COMM_WORLD);
  return samples;
}

void take_streams(int other, const Message& like) {
  const auto most = static_cast<std::size_t>(gap_messages(like.size()));
  std::vector<Message> received(most, like);
  Requests requests(most);
  for (int messages = 1;;) {
    MPI_Recv(&messages, 1, MPI_INT, other, kControl, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (messages == kStop) return;
    for (int i = 0; i < messages; ++i)
      MPI_Irecv(received[i].data(), size_of(like), MPI_BYTE, other, kData, MPI_COMM_WORLD,
                &requests[i]);
    MPI_Send(nullptr, 0, MPI_BYTE, other, kAnswer, MPI_COMM_WORLD);
    MPI_Waitall(messages, requests.data(), MPI_STATUSES_IGNORE);
    MPI_Send(nullptr, 0, MPI_BYTE, other, kAnswer, MPI_COMM_WORLD);
  }
}

/// Of the slowest rank. On all ranks; the samples are rank 0's.
Samples exchange(const World& world, const Ring& ring, double seconds, const Message& sent) {
  const int rounds = stream_length(sent.size(), 2, 16);
  Message received(sent.size());
  const auto round = [&] {
    MPI_Sendrecv(sent.data(), size_of(sent), MPI_BYTE, ring.next, kData, received.data(),
                 size_of(sent), MPI_BYTE, ring.previous, kData, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  };
  Samples samples;
  const double start = MPI_Wtime();
  for (int more = 1; more != 0;) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < rounds && ring.active(); ++i) round();
    const double own = (MPI_Wtime() - begin) / rounds;
    double slowest = 0;
    MPI_Reduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    samples.push_back(slowest);
    more = world.rank == 0 && wanted(samples, start, seconds, sent.size()) ? 1 : 0;
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  return samples;
}

// --- reductions and copies: on all ranks, whose cores may be shared
// -------------------------------

template <class Work>
Samples repeat(double seconds, std::size_t bytes, Work work) {
  MPI_Barrier(MPI_COMM_WORLD);
  work();
  Samples samples;
  for (const double begin = MPI_Wtime(); wanted(samples, begin, seconds, bytes);) {
    const double start = MPI_Wtime();
    for (int i = 0; i < 8; ++i) work();
    samples.push_back((MPI_Wtime() - start) / 8);
  }
  return samples;
}

// --- the output ---------------------------------------------------------------------------------

/// Rank 0 prints what rank `who` has measured.
void print(const World& world, int who, const std::string& label, Samples samples) {
  static bool is_first = true;
  int count = static_cast<int>(samples.size());
  if (who != 0 && world.rank == who) {
    MPI_Send(&count, 1, MPI_INT, 0, kResult, MPI_COMM_WORLD);
    MPI_Send(samples.data(), count, MPI_DOUBLE, 0, kResult, MPI_COMM_WORLD);
  }
  if (world.rank != 0) return;
  if (who != 0) {
    MPI_Recv(&count, 1, MPI_INT, who, kResult, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    samples.resize(static_cast<std::size_t>(count));
    MPI_Recv(samples.data(), count, MPI_DOUBLE, who, kResult, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  std::printf("%s\n  {%s, \"seconds\": [", is_first ? "" : ",", label.c_str());
  is_first = false;
  for (std::size_t i = 0; i < samples.size(); ++i)
    std::printf("%s%.9g", i == 0 ? "" : ", ", samples[i]);
  std::printf("]}");
}

std::string label(const char* quantity, int level, std::size_t bytes) {
  return R"("quantity": ")" + std::string(quantity) + R"(", "level": )" + std::to_string(level) +
         R"(, "bytes": )" + std::to_string(bytes);
}

struct Options {
  double seconds = 0.1;
  bool only_one_way = false;
  const char* output = nullptr;  // standard output
  std::vector<std::size_t> sizes;
};

void measure_level(const World& world, int level, const Options& options) {
  const Pair pair = pair_at(world, level);
  if (pair.first < 0) return;
  const Ring ring = ring_at(world, level);
  // Who share something: the ranks of a node, or all.
  int active = !ring.active() ? 0 : level == 0 ? static_cast<int>(ring.members.size()) : 1;
  MPI_Allreduce(MPI_IN_PLACE, &active, 1, MPI_INT, level == 0 ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD);
  const double seconds = options.seconds;
  for (const std::size_t bytes : options.sizes) {
    Message message(bytes);
    Samples samples;
    if (world.rank == pair.first) samples = one_way(pair.second, seconds, message);
    if (world.rank == pair.second) send_back(pair.first, message);
    print(world, pair.first, label("one_way", level, bytes), samples);
    if (options.only_one_way) continue;
    if (world.rank == pair.first) samples = gap(pair.second, seconds, message);
    if (world.rank == pair.second) take_streams(pair.first, message);
    print(world, pair.first, label("gap", level, bytes), samples);
    samples = exchange(world, ring, seconds, message);
    print(world, 0, label("exchange", level, bytes) + ", \"active\": " + std::to_string(active),
          samples);
  }
}

void measure_local(const World& world, const Options& options) {
  for (const std::size_t bytes : {4096U, 65536U, 1048576U}) {
    // Half a page apart by their places in pages: some processors copy by bytes where these are
    // alike.
    const std::size_t apart = (bytes + 2048) / sizeof(float);
    std::vector<float> all(2 * apart, 1.0F);
    float* into = all.data();
    float* from = all.data() + apart;
    const int count = static_cast<int>(bytes / sizeof(float));
    const auto reduce = [&] { MPI_Reduce_local(from, into, count, MPI_FLOAT, MPI_SUM); };
    print(world, 0, label("reduce", 0, bytes), repeat(options.seconds / 4, bytes, reduce));
    const auto copy = [&] {
      from[0] += 1;  // so that no copy can be left out
      std::memcpy(into, from, bytes);
    };
    print(world, 0, label("copy", 0, bytes), repeat(options.seconds / 4, bytes, copy));
  }
}

#ifdef UNISONO_NODE_MEMORY
void measure_memory(const World& world, const Options& options) {
  using unisono::Quantity, unisono::NodeMemoryProbe, unisono::kQuantities;
  const Pair pair = pair_at(world, 0);
  if (pair.first < 0) return;
  const bool takes_part = world.rank == pair.first || world.rank == pair.second;
  MPI_Comm both = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, takes_part ? 0 : MPI_UNDEFINED, 0, &both);
  std::unique_ptr<NodeMemoryProbe> probe;
  const auto here = std::count(world.node.begin(), world.node.end(), world.node[world.rank]);
  if (takes_part)
    probe = std::make_unique<NodeMemoryProbe>(both, here > std::thread::hardware_concurrency());
  for (auto q = static_cast<std::size_t>(Quantity::stores_one_way); q < kQuantities.size(); ++q) {
    const auto quantity = static_cast<Quantity>(q);
    int has = probe != nullptr && probe->has(quantity) ? 1 : 0;
    MPI_Bcast(&has, 1, MPI_INT, pair.first, MPI_COMM_WORLD);
    if (has == 0) continue;
    const bool is_fence = quantity == Quantity::fence;
    for (const std::size_t bytes : is_fence ? std::vector<std::size_t>{0} : options.sizes) {
      if (!NodeMemoryProbe::has(quantity, bytes)) continue;
      const auto go_on = [&](const Samples& samples, double begin) {
        return wanted(samples, begin, options.seconds / 2, bytes);
      };
      const Samples samples = probe ? probe->measure(quantity, bytes, go_on) : Samples();
      print(world, pair.first, label(kQuantities[q], 0, bytes), samples);
    }
  }
  probe.reset();
  if (both != MPI_COMM_NULL) MPI_Comm_free(&both);
}
#else
void measure_memory(const World&, const Options&) {}
#endif

Options read(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word(argv[i]);
    char* end = argv[i];
    if (word == "--one-way") {
      options.only_one_way = true;
    } else if (word == "--output" && i + 1 < argc) {
      options.output = argv[++i];
    } else if (word == "--seconds" && i + 1 < argc) {
      options.seconds = std::strtod(argv[++i], &end);
      if (end == argv[i] || *end != '\0') options.seconds = -1;
    } else {
      options.sizes.push_back(std::strtoull(argv[i], &end, 10));
      if (end == argv[i] || *end != '\0' || options.sizes.back() > kMostBytes) options.seconds = -1;
    }
  }
  if (options.sizes.empty())
    for (std::size_t bytes = 1; bytes <= kMostStandard; bytes *= 4) options.sizes.push_back(bytes);
  return options;
}

void print_head(const World& world) {
  // Zeroed: Open MPI does not end its text.
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING + 1> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  std::string library(text.data());
  library.resize(std::min(library.find('\n'), library.size()));
  for (char& c : library)
    if (c == '"' || c == '\\' || c == '\t') c = ' ';
  std::printf(
      "{\"format\": \"unisono-samples\", \"version\": 1,\n \"mpi\": {\"flavour\": \"%s\", "
      "\"library\": \"%s\"},\n \"node_of_rank\": [",
      UNISONO_FLAVOUR, library.c_str());
  for (int r = 0; r < world.ranks; ++r) std::printf("%s%d", r == 0 ? "" : ", ", world.node[r]);
  std::printf("],\n \"samples\": [");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--version")
    return std::puts("unisono-calibrate " UNISONO_VERSION), 0;
  MPI_Init(&argc, &argv);
  const World world = discover();
  const Options options = read(argc, argv);
  if (world.ranks < 2 || options.seconds < 0) {
    if (world.rank == 0)
      std::fprintf(
          stderr,
          "unisono-calibrate: usage, on two ranks or more: unisono-calibrate [--seconds S] "
          "[--one-way] [--output FILE] [BYTES...]\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  if (world.rank == 0 && options.output != nullptr &&
      std::freopen(options.output, "w", stdout) == nullptr) {
    std::fprintf(stderr, "unisono-calibrate: %s cannot be written\n", options.output);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  if (world.rank == 0) print_head(world);
  measure_level(world, 0, options);
  measure_level(world, 1, options);
  if (!options.only_one_way) measure_local(world, options);
  if (!options.only_one_way) measure_memory(world, options);
  if (world.rank == 0) std::printf("\n]}\n");
  MPI_Finalize();
  return 0;
}
