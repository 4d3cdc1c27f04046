// The kernels of a node with processes as ranks, variants interleaved, median times of one call:
//
//   unisono-node-benchmark RANKS KERNELS BYTES VARIANT...
//   unisono-node-benchmark 2 bcast,allreduce 8,32768,1048576 262144r 262144d
//   unisono-node-benchmark 2fresh all 65536 0a
//
// fresh: input is written and output read between the calls, as programs do and benchmarks of MPI
// do not; a message that nobody has written since lies in the reader's cache.
//
// A variant is the length of a rank's ring and a way: r, through slots; n, through slots that are
// written past the caches; d, directly at every length; a, as the model has it before anything is
// measured; p, as it has it of this machine; s, the same without direct copies; e, each rank
// reduces for itself where it would be the last to come; f, flat: in one group. With a length of 0
// the default. Ranks are pinned to cores, and sleep where there are too few.
//
// After the time in us, of one call and all ranks: processor time in us, sleeps, and how often a
// rank left its core or lost it. Unlike times, sleeps hardly depend on what else runs.
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "node/domains.h"
#include "node/kernels.h"
#include "node/probe.h"

namespace unisono::node {
namespace {

constexpr int kRounds = 9;
constexpr double kRoundMicroseconds = 4000;
constexpr std::size_t kPage = 4096;

using Kernel = void (*)(Team&, std::byte* in, std::byte* out, std::size_t bytes);

const Reduction kSum = *built_in(Op::sum, Element::float64);
std::size_t doubles(std::size_t bytes) { return bytes / sizeof(double); }

/// Blocks that are equally long, though the kernel does not know.
struct Blocks {
  Blocks(const Team& team, std::size_t block) : size(static_cast<std::size_t>(team.size())) {
    for (std::size_t rank = 0; rank < size; ++rank) {
      length[rank] = static_cast<std::int64_t>(block);
      begin[rank] = static_cast<std::int64_t>(rank * block);
    }
  }
  PerRank counts() const { return {length.data(), size}; }
  PerRank displs() const { return {begin.data(), size}; }

  std::size_t size;
  std::array<std::int64_t, 64> length, begin;
};

/// `bytes` of a block; of the whole where there are no blocks.
const std::map<std::string, Kernel> kKernels = {
    {"barrier", [](Team& t, std::byte*, std::byte*, std::size_t) { barrier(t); }},
    {"bcast", [](Team& t, std::byte*, std::byte* out, std::size_t n) { bcast(t, out, n, 0); }},
    {"gather",
     [](Team& t, std::byte* in, std::byte* out, std::size_t n) { gather(t, in, out, n, 0); }},
    {"scatter",
     [](Team& t, std::byte* in, std::byte* out, std::size_t n) { scatter(t, in, out, n, 0); }},
    {"allgather",
     [](Team& t, std::byte* in, std::byte* out, std::size_t n) { allgather(t, in, out, n); }},
    {"alltoall",
     [](Team& t, std::byte* in, std::byte* out, std::size_t n) { alltoall(t, in, out, n); }},
    {"gatherv",
     [](Team& t, std::byte* in, std::byte* out, std::size_t n) {
       const Blocks b(t, n);
       gatherv(t, in, n, out, b.counts(), b.displs(), 0);
     }},
    {"scatterv",
     [](Team& t, std::byte* in, std::byte* out, std::size_t n) {
       const Blocks b(t, n);
       scatterv(t, in, b.counts(), b.displs(), out, n, 0);
     }},
    {"allgatherv",
     [](Team& t, std::byte* in, std::byte* out, std::size_t n) {
       const Blocks b(t, n);
       allgatherv(t, in, out, b.counts(), b.displs());
     }},
    {"alltoallv",
     [](Team& t, std::byte* in, std::byte* out, std::size_t n) {
       const Blocks b(t, n);
       alltoallv(t, in, b.counts(), b.displs(), out, b.counts(), b.displs());
     }},
    {"reduce_scatter",
     [](Team& t, std::byte* in, std::byte* out, std::size_t n) {
       reduce_scatter(t, in, out, Blocks(t, doubles(n)).counts(), kSum);
     }},
    {"reduce", [](Team& t, std::byte* in, std::byte* out,
                  std::size_t n) { reduce(t, in, out, doubles(n), kSum, 0); }},
    {"allreduce", [](Team& t, std::byte* in, std::byte* out,
                     std::size_t n) { allreduce(t, in, out, doubles(n), kSum); }},
    {"reduce_scatter_block",
     [](Team& t, std::byte* in, std::byte* out, std::size_t n) {
       reduce_scatter_block(t, in, out, doubles(n), kSum);
     }},
    {"scan", [](Team& t, std::byte* in, std::byte* out,
                std::size_t n) { scan(t, in, out, doubles(n), kSum); }},
    {"exscan", [](Team& t, std::byte* in, std::byte* out,
                  std::size_t n) { exscan(t, in, out, doubles(n), kSum); }},
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text)
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

std::byte* pages(std::size_t bytes, int sharing) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | sharing, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  return static_cast<std::byte*>(memory);
}

struct Variant {
  std::string name;
  std::span<std::byte> arena;
  Groups groups;
  bool allowed = false;
  char way = 'a';
  Slots slots;
};

/// What a rank, or all of them, took of the machine.
struct Usage {
  double work = 0;  ///< us of processor time
  double sleeps = 0, switches = 0;

  static Usage now() {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    const auto us = [](const timeval& time) {
      return 1e6 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec);
    };
    const auto sleeps = static_cast<double>(usage.ru_nvcsw);
    return {us(usage.ru_utime) + us(usage.ru_stime), sleeps,
            sleeps + static_cast<double>(usage.ru_nivcsw)};
  }
  /// this += times * other
  void add(const Usage& other, double times) {
    work += times * other.work;
    sleeps += times * other.sleeps;
    switches += times * other.switches;
  }
};

struct Job {
  int size;
  bool fresh;
  WaitMode mode;
  std::vector<std::string> kernels;
  std::vector<std::size_t> lengths;
  std::vector<Variant> variants;
  pid_t* processes;  // shared
  Usage* usage;      // shared, of each rank
};

Variant variant_of(const std::string& name, int size) {
  const char way = name.back();
  const bool may_copy = way != 'r' && way != 'n' && way != 's';
  Variant variant{name, {}, way == 'f' ? Groups(size) : suitable_groups(size), may_copy, way, {}};
  if (way == 'n') variant.slots.store = Store::nontemporal;
  std::size_t ring = std::strtoull(name.c_str(), nullptr, 10);
  if (ring == 0) ring = preferred_ring(variant.groups, private_cache_bytes(affinity()));
  const std::size_t bytes = Team::arena_bytes(variant.groups, ring);
  variant.arena = {pages(bytes, MAP_SHARED), bytes};
  Team::prepare(variant.arena.data(), variant.groups);
  return variant;
}

/// Between two barriers.
template <class Do>
double microseconds_of(Team& team, Do work) {
  using Clock = std::chrono::steady_clock;
  barrier(team);
  const auto begin = Clock::now();
  work();
  barrier(team);
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

/// Of one call.
struct Measured {
  double time = 0;  ///< us
  Usage usage;      ///< of all ranks
};

class Rank {
 public:
  Rank(const Job& job, int rank) : job_(job), rank_(rank) {
    const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    cpu_set_t core;
    CPU_ZERO(&core);
    CPU_SET(static_cast<unsigned>(rank % cores), &core);
    sched_setaffinity(0, sizeof core, &core);
    job.processes[rank] = getpid();
    const auto size = static_cast<std::size_t>(job.size);
    const std::size_t most = *std::max_element(job.lengths.begin(), job.lengths.end()) * size;
    in_ = pages(most + kPage, MAP_PRIVATE);
    out_ = pages(most + kPage, MAP_PRIVATE);
    for (std::size_t at = 0; at < most + kPage; at += kPage / 2) in_[at] = out_[at] = std::byte{1};
    for (const Variant& variant : job.variants) {
      teams_.emplace_back(variant.arena, rank, variant.groups, WaitPolicy{job.mode}, variant.slots);
    }
    barrier(teams_[0]);
    for (std::size_t i = 0; i < teams_.size(); ++i) prepare(teams_[i], job.variants[i], cores);
  }

  void run() {
    for (const std::string& name : job_.kernels)
      for (const std::size_t bytes : job_.lengths) measure(name, bytes);
  }

 private:
  void prepare(Team& team, const Variant& variant, int cores) {
    if (variant.allowed)
      team.allow_direct({job_.processes, static_cast<std::size_t>(job_.size)}, {});
    const char way = variant.way;
    begin(team, {cores, way == 'p' || way == 's'});
    if (way == 'd') team.set_direct_from({1, 1, 1, 1, 1, 1, 1, 1, 1});
    if (way == 'e') team.set_read_all({0, 0, 0, 0});
    if (way == 'p' || way == 's') report(team, variant);
  }
  void report(Team& team, const Variant& variant) const {
    const double time = microseconds_of(team, [&] { measure_all(team); });
    const DirectFrom& from = team.direct_from();
    if (const auto& costs = team.measured(); rank_ == 0 && costs)
      std::printf(
          "ns: step %.0f, direct copy %.0f; a byte: written %.3f, fetched %.3f, combined %.3f, "
          "pulled %.3f\n",
          costs->step, costs->call, costs->write, costs->fetch, costs->combine, costs->pull);
    if (rank_ == 0)
      std::printf(
          "%s: probed in %.0f us, %s stores; directly from: bcast %zu, gather %zu, allgather %zu, "
          "alltoall %zu, reduce %zu, allreduce %zu; allreduce reads all up to %zu\n",
          variant.name.c_str(), time, team.store() == Store::plain ? "plain" : "nontemporal",
          from.bcast, from.gather, from.allgather, from.alltoall, from.reduce, from.allreduce,
          team.read_all_up_to().everybody);
  }
  Measured measure_once(Team& team, Kernel kernel, std::size_t bytes, std::uint64_t calls) {
    barrier(team);
    const Usage before = Usage::now();
    double time = 0;
    if (job_.fresh) {
      const std::size_t used = bytes * static_cast<std::size_t>(job_.size);
      for (std::uint64_t i = 0; i < calls; ++i) {
        for (std::size_t at = 0; at < used; at += kLinePair / 2) {
          in_[at] ^= std::byte{1};
          in_[used] ^= out_[at];
        }
        time += microseconds_of(team, [&] { kernel(team, in_, out_, bytes); });
      }
    } else {
      time = microseconds_of(team, [&] {
        for (std::uint64_t i = 0; i < calls; ++i) kernel(team, in_, out_, bytes);
      });
    }
    job_.usage[rank_] = Usage::now();
    job_.usage[rank_].add(before, -1);
    barrier(team);
    Measured measured{time / static_cast<double>(calls), {}};
    for (int rank = 0; rank < job_.size; ++rank)
      measured.usage.add(job_.usage[rank], 1 / static_cast<double>(calls));
    return measured;
  }

  void measure(const std::string& name, std::size_t bytes) {
    const Kernel kernel = kKernels.at(name);
    std::vector<std::vector<Measured>> all(teams_.size());
    double guess = measure_once(teams_[0], kernel, bytes, 20).time;
    std::uint64_t calls = static_cast<std::uint64_t>(kRoundMicroseconds / guess) + 1;
    bcast(teams_[0], reinterpret_cast<std::byte*>(&calls), sizeof calls, 0);
    for (int round = 0; round < kRounds; ++round)
      for (std::size_t v = 0; v < teams_.size(); ++v)
        all[v].push_back(measure_once(teams_[v], kernel, bytes, calls));
    if (rank_ != 0) return;
    std::printf("%-20s %8zu %2d", name.c_str(), bytes, job_.size);
    for (std::size_t v = 0; v < teams_.size(); ++v) {
      const auto median = [&](auto what) {
        std::vector<double> values;
        for (const Measured& measured : all[v]) values.push_back(what(measured));
        std::sort(values.begin(), values.end());
        return values[values.size() / 2];
      };
      std::printf("  %s %.3f (%.2f, %.2f, %.2f)", job_.variants[v].name.c_str(),
                  median([](const Measured& m) { return m.time; }),
                  median([](const Measured& m) { return m.usage.work; }),
                  median([](const Measured& m) { return m.usage.sleeps; }),
                  median([](const Measured& m) { return m.usage.switches; }));
    }
    std::printf("\n");
    std::fflush(stdout);
  }

  const Job& job_;
  int rank_;
  std::byte *in_, *out_;
  std::vector<Team> teams_;
};

int run(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: %s RANKS KERNELS BYTES VARIANT...\n", argv[0]);
    return 2;
  }
  Job job;
  job.size = std::atoi(argv[1]);
  job.fresh = std::string(argv[1]).ends_with("fresh");
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  job.mode = job.size <= cores ? WaitMode::spin : WaitMode::sleep;
  job.kernels = split(argv[2]);
  if (job.kernels == std::vector<std::string>{"all"}) {
    job.kernels.clear();
    for (const auto& [name, kernel] : kKernels) job.kernels.push_back(name);
  }
  for (const std::string& length : split(argv[3])) job.lengths.push_back(std::stoull(length));
  for (int i = 4; i < argc; ++i) job.variants.push_back(variant_of(argv[i], job.size));
  std::byte* shared = pages(kPage, MAP_SHARED);
  job.processes = reinterpret_cast<pid_t*>(shared);
  job.usage = reinterpret_cast<Usage*>(shared + kPage / 2);
  for (int rank = 0; rank < job.size; ++rank)
    if (fork() == 0) {
      Rank(job, rank).run();
      _exit(0);
    }
  int worst = 0, status = 0;
  while (::wait(&status) > 0) worst = std::max(worst, status);
  return worst == 0 ? 0 : 1;
}

}  // namespace
}  // namespace unisono::node

int main(int argc, char** argv) { return unisono::node::run(argc, argv); }
