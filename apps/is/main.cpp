// is: integers sorted by buckets; see ../README.md.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>

#include "apps/common/application.h"
#include "apps/common/command_line.h"
#include "apps/common/share.h"
#include "apps/is/ranking.h"

namespace {

using namespace apps::is;

struct Options {
  std::string name, form = "blocking";
  std::size_t keys = 65536;
  int bits = 11, bucket_bits = 9, iterations = kIterations;
  bool verify = false;
  std::string json;
};

const std::map<std::string, Form> kForms{{"blocking", Form::blocking},
                                         {"persistent", Form::persistent}};

/// The ranks of the keys that the benchmark tests in every iteration.
class Tests {
 public:
  explicit Tests(const Class* of) : class_(of) {}
  void look(const Ranked& found, int iteration) {
    for (std::size_t i = 0; class_ != nullptr && i < kTested; ++i) {
      const Key key = found.tested[i];
      if (!found.has(key)) continue;
      if (found.rank_of(key) == class_->tested[i].in(iteration)) ++passed_;
    }
    ++iterations_;
  }
  /// On rank 0: what is wrong, or "". Collective.
  std::string complaint(const apps::World& world) const {
    if (class_ == nullptr) return "";
    int passed = 0;
    MPI_Reduce(&passed_, &passed, 1, MPI_INT, MPI_SUM, 0, world.comm);
    const int all = kTested * iterations_;
    if (world.rank != 0 || passed == all) return "";
    return fmt::format("of {} ranks of keys that the benchmark publishes only {} are right", all,
                       passed);
  }

 private:
  const Class* class_;
  int passed_ = 0, iterations_ = 0;
};

/// The first thing that is wrong with the order of all keys, on rank 0; else "".
std::string complaint(const std::vector<Key>& drawn, const std::vector<Key>& sorted,
                      const apps::World& world) {
  const Key lowest = sorted.empty() ? 0 : sorted.front(),
            highest = sorted.empty() ? 0 : sorted.back();
  std::uint64_t own[] = {static_cast<std::uint64_t>(lowest),
                         static_cast<std::uint64_t>(highest),
                         sorted.size(),
                         std::is_sorted(sorted.begin(), sorted.end()) ? 1u : 0u,
                         fingerprint(drawn) - fingerprint(sorted),
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

bool run(Options o, const apps::World& world) {
  apps::Report report(world, o.json);
  const Class* of = o.name.empty() ? nullptr : &kClasses.at(o.name);
  if (of != nullptr) {
    o.keys = std::size_t{1} << of->key_bits;
    o.bits = of->bits;
    o.bucket_bits = of->bucket_bits;
  }
  if (o.bucket_bits > o.bits) throw apps::UsageError("--bucket-bits: no more than --bits");
  const apps::Range part = apps::share(o.keys, world.size, world.rank);
  std::vector<Key> own = draw(part.first, part.count(), o.bits);
  apps::LoopTimer timer(world.comm);
  Ranking rank(Buckets(o.bits, o.bucket_bits), of, kForms.at(o.form), world, timer);
  Ranked found;
  const auto iterate = [&](int i) {
    change(own, part.first, i, o.bits);
    found = rank(own, part.first);
  };
  if (of != nullptr) iterate(1);  // the benchmark ranks once before its time begins
  Tests tests(of);
  timer.start();
  for (int i = 1; i <= o.iterations; ++i) {
    iterate(i);
    tests.look(found, i);
    timer.lap();
  }
  std::string wrong;
  if (o.verify) {
    wrong = complaint(own, sorted(found.ranks, found.low), world);
    const std::string of_tests = tests.complaint(world);
    if (wrong.empty()) wrong = of_tests;
  }
  const std::vector<double> none;
  apps::Facts facts = {{"app", "is"}, {"form", o.form}};
  if (of != nullptr) facts.emplace_back("class", o.name);
  facts.insert(facts.end(), {{"n", o.keys},
                             {"bits", o.bits},
                             {"iterations", o.iterations},
                             {"message_bytes",
                              own.size() * sizeof(Key) / static_cast<std::size_t>(world.size)}});
  if (o.verify) facts.emplace_back("verified_by", of != nullptr ? "published" : "order");
  return report.finish(facts, timer, none, o.verify ? &none : nullptr, wrong);
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  apps::CommandLine line("is", "Integers sorted by buckets: IS of the NAS Parallel Benchmarks");
  line.number("--keys", o.keys, {1, 1 << 30}, "of all ranks");
  line.number("--bits", o.bits, {1, 27}, "of a key");
  line.number("--bucket-bits", o.bucket_bits, {0, 16}, "the leading bits that a bucket shares");
  line.number("--iterations", o.iterations, {1, 1000000});
  line.word_of("--class", o.name, apps::names(kClasses),
               "a problem of the benchmark: S, W, A, B, C");
  for (const char* other : {"--keys", "--bits", "--bucket-bits", "--iterations"})
    line.excludes("--class", other);
  line.word_of("--form", o.form, apps::names(kForms),
               "how what has constant counts is called: Allreduce and Alltoall");
  line.results(o.verify, o.json,
               "look whether the keys are sorted, and the same; with --class, whether those that "
               "the benchmark tests have their published ranks");
  return apps::with_mpi(argc, argv, line, [&](const apps::World& world) { return run(o, world); });
}
