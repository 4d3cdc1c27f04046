// is: integers sorted by buckets; see ../README.md.
#include <fmt/format.h>

#include <numeric>

#include "apps/common/application.h"
#include "apps/common/command_line.h"
#include "apps/common/share.h"
#include "apps/is/keys.h"

namespace {

using apps::is::Buckets;
using apps::is::Key;

struct Options {
  std::size_t keys = 65536;
  int bits = 11, bucket_bits = 9, iterations = 10;
  bool verify = false;
  std::string json;
};

struct Sorted {
  std::vector<Key> keys;  // this rank's: all below those of the next rank
  std::size_t sent = 0;   // bytes, to all ranks
};

int as_int(std::size_t value) { return static_cast<int>(value); }

/// The three collectives of the benchmark, and the sorting of what came.
Sorted sort(const std::vector<Key>& own, const Options& o, const apps::World& world,
            apps::LoopTimer& timer) {
  const Buckets buckets(o.bits, o.bucket_bits);
  const auto ranks = static_cast<std::size_t>(world.size);
  const std::vector<int> sizes = buckets.sizes(own);
  const std::vector<Key> ordered = buckets.ordered(own, sizes);
  std::vector<int> of_all(sizes.size());
  timer.collective([&] {
    MPI_Allreduce(sizes.data(), of_all.data(), as_int(sizes.size()), MPI_INT, MPI_SUM, world.comm);
  });
  const std::vector<std::size_t> first = apps::is::shared_out(of_all, ranks);

  std::vector<int> to(ranks), from(ranks), to_at(ranks), from_at(ranks);
  for (std::size_t r = 0; r < ranks; ++r)
    to[r] =
        std::accumulate(sizes.begin() + as_int(first[r]), sizes.begin() + as_int(first[r + 1]), 0);
  timer.collective(
      [&] { MPI_Alltoall(to.data(), 1, MPI_INT, from.data(), 1, MPI_INT, world.comm); });
  std::exclusive_scan(to.begin(), to.end(), to_at.begin(), 0);
  std::exclusive_scan(from.begin(), from.end(), from_at.begin(), 0);
  Sorted result;
  result.sent = own.size() * sizeof(Key);
  result.keys.resize(static_cast<std::size_t>(from_at.back() + from.back()));
  timer.collective([&] {
    MPI_Alltoallv(ordered.data(), to.data(), to_at.data(), MPI_INT32_T, result.keys.data(),
                  from.data(), from_at.data(), MPI_INT32_T, world.comm);
  });
  const auto rank = static_cast<std::size_t>(world.rank);
  const int width = o.bits - o.bucket_bits;
  apps::is::sort(result.keys, static_cast<Key>(first[rank] << width),
                 static_cast<Key>(first[rank + 1] << width));
  return result;
}

/// The first thing that is wrong with the order of all keys, on rank 0; else "".
std::string complaint(const std::vector<Key>& drawn, const std::vector<Key>& sorted,
                      const apps::World& world) {
  const Key lowest = sorted.empty() ? 0 : sorted.front(),
            highest = sorted.empty() ? 0 : sorted.back();
  std::uint64_t own[] = {static_cast<std::uint64_t>(lowest),
                         static_cast<std::uint64_t>(highest),
                         sorted.size(),
                         std::is_sorted(sorted.begin(), sorted.end()) ? 1u : 0u,
                         apps::is::fingerprint(drawn) - apps::is::fingerprint(sorted),
                         drawn.size()};
  constexpr int kFacts = 6;
  std::vector<std::uint64_t> all(static_cast<std::size_t>(kFacts * world.size));
  MPI_Gather(own, kFacts, MPI_UINT64_T, all.data(), kFacts, MPI_UINT64_T, 0, world.comm);
  if (world.rank != 0) return "";
  std::uint64_t highest_before = 0, lost = 0, changed = 0;
  for (int r = 0; r < world.size; ++r) {
    const std::uint64_t* facts = &all[static_cast<std::size_t>(kFacts * r)];
    lost += facts[5] - facts[2];
    changed += facts[4];
    if (facts[3] == 0) return fmt::format("rank {}: the keys are not sorted", r);
    if (facts[2] == 0) continue;
    if (facts[0] < highest_before)
      return fmt::format("rank {}: key {} after key {} of a rank before", r, facts[0],
                         highest_before);
    highest_before = facts[1];
  }
  if (lost != 0) return "there are not as many keys as were drawn";
  return changed != 0 ? "the keys are not those that were drawn" : "";
}

bool run(const Options& o, const apps::World& world) {
  apps::Report report(world, o.json);
  if (o.bucket_bits > o.bits) throw apps::UsageError("--bucket-bits: no more than --bits");
  const apps::Range part = apps::share(o.keys, world.size, world.rank);
  const std::vector<Key> own = apps::is::draw(part.first, part.count(), o.bits);
  apps::LoopTimer timer(world.comm);
  Sorted sorted;
  timer.start();
  for (int i = 0; i < o.iterations; ++i) {
    sorted = sort(own, o, world, timer);
    timer.lap();
  }
  const std::string wrong = o.verify ? complaint(own, sorted.keys, world) : "";
  const std::vector<double> none;
  return report.finish({{"app", "is"},
                        {"form", "buckets"},
                        {"n", o.keys},
                        {"bits", o.bits},
                        {"iterations", o.iterations},
                        {"message_bytes", sorted.sent / static_cast<std::size_t>(world.size)}},
                       timer, none, o.verify ? &none : nullptr, wrong);
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  apps::CommandLine line("is", "Integers sorted by buckets: IS of the NAS Parallel Benchmarks");
  line.number("--keys", o.keys, {1, 1 << 30}, "of all ranks");
  line.number("--bits", o.bits, {1, 27}, "of a key");
  line.number("--bucket-bits", o.bucket_bits, {0, 16}, "the leading bits that a bucket shares");
  line.number("--iterations", o.iterations, {1, 1000000});
  line.results(o.verify, o.json, "look whether the keys are sorted, and the same");
  return apps::with_mpi(argc, argv, line, [&](const apps::World& world) { return run(o, world); });
}
