// A random program of collectives, each made through MPI_ (Unisono) and through PMPI_ (the MPI
// library), and every byte of the results compared: of reductions with PMPI's result; of the others
// with what was sent, so that defects of the MPI library (reported, no failure) are told from ours.
//
//   mpiexec -n P random_program [--calls N] [--seed S] [--from C] [--only C]
//       [--seconds T] [--patience T] [--spec S] [--transport T] [--nonblocking] [--verbose]
//
// Runs alone as well (then both are the MPI library): it must not find anything wrong.
#include <mpi.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "case.h"
#include "comms.h"
#include "ops.h"
#include "specs.h"
#include "unisono_api.h"

namespace conformance {
namespace {

struct Options {
  long long calls = 1000;
  long long from = 0;  ///< skips the calls before, but not their communicators
  std::uint64_t seed = 1;
  long long seconds = 0;  ///< ends early after so many; 0: never
  int patience = 120;     ///< seconds that a call may take
  std::string spec;  ///< instead of random ones; collectives that do not have it are not called
  std::string transport;     ///< of all specs that take it
  bool nonblocking = false;  ///< two calls of three, some of them persistent
  bool verbose = false;
};

constexpr long long kCallsPerEpoch = 100;  // then one communicator is replaced
constexpr std::uint64_t kLateness = 10;    // names the stream of who comes late
constexpr std::uint64_t kBatches = 11;     // and of when and in which order calls are completed

/// How often something was called and how often Unisono ran it; added over the ranks.
struct Tally {
  unsigned long long calls = 0, own = 0;
};

std::string g_doing;  // for the alarm: what hangs

void on_alarm(int) {
  // Not async-signal-safe in every detail, but the process is stuck inside MPI and ends here.
  std::fprintf(stderr, "random_program: no progress in %s call: %s\n",
               latest_entry_point() == EntryPoint::native ? "the PMPI" : "Unisono's",
               g_doing.c_str());
  std::fflush(stderr);
  _exit(3);
}

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "random_program: %s: %s\n", g_doing.c_str(), what.c_str());
  std::fflush(stderr);
  PMPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--verbose") {
      o.verbose = true;
      continue;
    }
    if (name == "--nonblocking") {
      o.nonblocking = true;
      continue;
    }
    if (name == "--spec") {
      o.spec = i + 1 < argc ? argv[++i] : "";
      continue;
    }
    if (name == "--transport") {
      o.transport = i + 1 < argc ? argv[++i] : "";
      continue;
    }
    const long long value = i + 1 < argc ? std::atoll(argv[++i]) : 0;
    if (name == "--calls")
      o.calls = value;
    else if (name == "--seed")
      o.seed = static_cast<std::uint64_t>(value);
    else if (name == "--from")
      o.from = value;
    else if (name == "--only")
      o.from = value, o.calls = value + 1;
    else if (name == "--seconds")
      o.seconds = value;
    else if (name == "--patience")
      o.patience = static_cast<int>(value);
    else {
      std::fprintf(stderr, "random_program: unknown option %s\n", name.c_str());
      std::exit(2);
    }
  }
  return o;
}

class Program {
 public:
  explicit Program(const Options& options) : options_(options), comms_(options.seed) {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    rank_ = static_cast<std::uint64_t>(rank);
    // Filled alike on all ranks, so that the tallies can be added up.
    for (int c = 0; c < unisono::kCollectives; ++c) {
      const auto collective = static_cast<Collective>(c);
      if (!unisono::contains(unisono::kAmongAll, collective)) continue;
      drawn_.push_back(collective);
      tallies_[key(collective, "")];
      for (const unisono::Algorithm& row : unisono::catalogue())
        if (unisono::contains(row.collectives, collective)) tallies_[key(collective, row.name)];
    }
  }

  void run() {
    for (long long call = 0; call < options_.calls; ++call) {
      if (call > 0 && call % kCallsPerEpoch == 0) {
        finish_started();
        g_doing = "communicator creation before call " + std::to_string(call);
        alarm(static_cast<unsigned>(options_.patience));
        comms_.replace_one(static_cast<std::uint64_t>(call / kCallsPerEpoch));
      }
      if (call % 20 == 0 && options_.seconds > 0 && time_is_up()) break;
      if (call < options_.from) continue;
      run_one(static_cast<std::uint64_t>(call));
      finish_some(static_cast<std::uint64_t>(call));
      ++done_;
    }
    finish_started();
    alarm(0);
  }

  void report() {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::string never;
    if (rank == 0) std::printf("%-22s %10s %12s\n", "collective", "calls", "in Unisono");
    for (const auto& [name, tally] : tallies_) {
      unsigned long long sums[2] = {tally.calls, tally.own}, all[2] = {0, 0};
      PMPI_Reduce(sums, all, 2, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
      if (name.back() == '/') {
        if (rank == 0)
          std::printf("%-22s %10llu %12llu\n", name.substr(0, name.size() - 1).c_str(), all[0],
                      all[1]);
      } else if (all[0] > 0 && all[1] == 0) {
        never += " " + name;
      }
    }
    unsigned long long native_defects = 0;
    PMPI_Reduce(&native_defects_, &native_defects, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0,
                MPI_COMM_WORLD);
    if (rank != 0) return;
    if (native_defects > 0)
      std::printf("results of the MPI library itself that are wrong: %llu\n", native_defects);
    if (!has_unisono())
      std::printf("Unisono is not there: both are the MPI library\n");
    else if (!never.empty())
      std::printf("never ran in Unisono:%s\n", never.c_str());
    std::printf("%lld calls, no differing byte\n", done_);
  }

 private:
  struct Pending {
    std::unique_ptr<Case> made;
    std::string text;
    bool is_under_way = true;
  };
  static std::string key(Collective collective, std::string_view algorithm) {
    return std::string(unisono::name(collective)) + "/" + std::string(algorithm);
  }

  bool time_is_up() const {
    int up = PMPI_Wtime() - begin_ > static_cast<double>(options_.seconds);
    PMPI_Bcast(&up, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return up != 0;
  }

  void run_one(std::uint64_t call) {
    Rng rng{options_.seed, call};
    const auto slot = static_cast<std::size_t>(rng.below(static_cast<long long>(comms_.size())));
    // MPI_COMM_SELF is soon explored.
    const Communicator& comm = comms_[slot == 1 && rng.chance(70) ? 0 : slot];
    const Collective collective = rng.pick(drawn_);
    Spec spec = random_spec(rng, collective);
    if (!options_.spec.empty()) {
      spec = spec_of(collective, options_.spec);
      const bool special = spec.text == "native" || spec.text == "default";
      if (spec.algorithm == nullptr && !special) return;
    }
    if (!options_.transport.empty()) spec = over_transport(collective, spec, options_.transport);
    if (has_unisono() && unisono_force(unisono::name(collective).data(), spec.text.c_str()) != 0)
      fail("unisono_force(" + spec.text + "): " + unisono_error());
    if (comm.handle == MPI_COMM_NULL) return;

    g_doing = "call " + std::to_string(call);
    auto made = std::make_unique<Case>(options_.seed, call, collective, comm, spec);
    Case& one = *made;
    const std::string text = "seed " + std::to_string(options_.seed) + ", call " +
                             std::to_string(call) + ", " + spec.text + ": ";
    g_doing = text + one.text();
    alarm(static_cast<unsigned>(options_.patience));
    // Somebody comes late: there are algorithms that look who is there.
    if (Rng{options_.seed, call, kLateness, rank_}.chance(4)) usleep(500);
    const unsigned long long before = own_calls();
    // Alike on all ranks. The others make private duplicates.
    const bool starts = options_.nonblocking && call % 3 != 0 && one.is_startable();
    if (starts) {
      one.start(MPI_VERSION >= 4 && rng.chance(30) ? Form::persistent : Form::nonblocking);
      g_doing = text + one.text();
      started_.push_back({std::move(made), g_doing});
    } else if (const auto wrong = one.run()) {
      fail(*wrong);
    }
    if (options_.verbose) std::fprintf(stderr, "%s\n", g_doing.c_str());
    const unsigned long long own = own_calls() - before;
    if (!starts) see_native(one);

    const std::optional<bool> expected = one.own_expected();
    if (expected && *expected != (own > 0))
      fail(own > 0 ? "ran in Unisono, which cannot be asked for" : "did not run in Unisono");
    for (const std::string_view name : {std::string_view(""), row_name(spec)}) {
      Tally& tally = tallies_[key(one.collective(), name)];
      ++tally.calls;
      tally.own += own;
      if (!spec.algorithm || one.inter()) break;
    }
  }

  /// Alike on all ranks, though not all have all of them.
  void finish_some(std::uint64_t call) {
    if (Rng{options_.seed, call, kBatches}.chance(25)) finish_started();
  }

  void watch(const Pending& one) const {
    g_doing = one.text;
    alarm(static_cast<unsigned>(options_.patience));
  }

  void finish_started() {
    complete_in_any_order(true);
    for (Pending& one : started_) one.is_under_way = one.made->start_again();
    complete_in_any_order(false);
    for (const Pending& one : started_) {
      watch(one);
      if (const auto wrong = one.made->finish()) fail(*wrong);
      see_native(*one.made);
    }
    started_.clear();
  }

  /// In an order of each rank's own.
  void complete_in_any_order(bool first) {
    std::vector<Pending*> order;
    for (Pending& one : started_)
      if (first || one.is_under_way) order.push_back(&one);
    Rng rng{options_.seed, static_cast<std::uint64_t>(done_), kBatches, rank_};
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1],
                order[static_cast<std::size_t>(rng.below(static_cast<long long>(i)))]);
    for (Pending* one : order) {
      watch(*one);
      if (const auto wrong = one->made->complete()) fail(*wrong);
    }
  }

  void see_native(const Case& one) {
    if (one.native_defect() && native_defects_++ == 0)
      std::fprintf(stderr, "random_program: %s: PMPI's result is wrong: %s\n", g_doing.c_str(),
                   one.native_defect()->c_str());
  }

  static std::string_view row_name(const Spec& spec) {
    return spec.algorithm ? spec.algorithm->name : std::string_view();
  }

  Options options_;
  std::uint64_t rank_ = 0;  // in MPI_COMM_WORLD
  Communicators comms_;
  double begin_ = PMPI_Wtime();
  long long done_ = 0;
  unsigned long long native_defects_ = 0;
  std::vector<Collective> drawn_;
  std::map<std::string, Tally> tallies_;
  std::vector<Pending> started_;  // and not finished
};

}  // namespace
}  // namespace conformance

int main(int argc, char** argv) {
  using namespace conformance;
  MPI_Init(&argc, &argv);
  const Options options = parse(argc, argv);
  std::signal(SIGALRM, on_alarm);
  create_operations();
  {
    Program program(options);
    program.run();
    program.report();
  }
  free_operations();
  MPI_Finalize();
  return 0;
}
