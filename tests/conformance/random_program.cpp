// Random programs of collectives, each made through MPI_ (Unisono) and through PMPI_ (the MPI
// library), and every byte of the results compared: of reductions with PMPI's result; of the others
// with what was sent, so that defects of the MPI library (reported, no failure) are told from ours.
//
//   mpiexec -n P random_program [--programs N] [--calls N] [--seed S] [--nonblocking | --mixed]
//       [--threads T] [--seconds T] [--patience T] [--spec S] [--transport T] [--verbose]
//       [--from C] [--only C,C] [--simplify WHAT,C:WHAT]
//
// --mixed: nonblocking and persistent calls, among neighbours as well, messages between them, wrong
// arguments, and either of MPI's two forms on each rank. --threads: each with calls and
// communicators of its own; calls are started by one thread and completed by another, too. A call
// draws from its number alone: scripts/random_programs.py --minimise leaves out and simplifies.
//
// Runs alone as well (then both are the MPI library): it must not find anything wrong.
#include <mpi.h>

#include <cstdio>
#include <deque>
#include <thread>

#include "program.h"
#include "unisono_api.h"
#include "watch.h"

namespace conformance {
namespace {

/// The programs of one job.
class Job {
 public:
  explicit Job(const Options& options) : options_(options) {}

  void run() {
    for (long long i = 0; i < options_.programs; ++i) {
      if (options_.programs > 1 && options_.seconds > 0 && time_is_up()) break;
      const std::uint64_t seed = options_.seed + static_cast<std::uint64_t>(i);
      if (options_.threads > 1) {
        run_threads(seed);
      } else {
        Program program(options_, seed, 0, MPI_COMM_WORLD, nullptr);
        program.run();
        tallies_.add(program.tallies());
      }
      ++programs_;
    }
    end_watching();
  }

  void report() {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const auto total = [](unsigned long long mine) {
      unsigned long long all = 0;
      PMPI_Reduce(&mine, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
      return all;
    };
    std::string never;
    if (rank == 0) std::printf("%-22s %10s %12s\n", "collective", "calls", "in Unisono");
    for (const auto& [name, tally] : tallies_.of) {
      const unsigned long long calls = total(tally.calls), own = total(tally.own);
      if (name.back() == '/') {
        if (rank == 0)
          std::printf("%-22s %10llu %12llu\n", name.substr(0, name.size() - 1).c_str(), calls, own);
      } else if (calls > 0 && own == 0) {
        never += " " + name;
      }
    }
    const unsigned long long messages = total(tallies_.messages), wrong = total(tallies_.wrong);
    const unsigned long long refused = total(tallies_.refused);
    const unsigned long long native_defects = total(tallies_.native_defects);
    const unsigned long long own = total(own_calls());
    if (rank != 0) return;
    // Kernels and what goes by the memory of the node may be left out one by one, but not all.
    if (is_long() && own == 0) fail("nothing ran in Unisono");
    if (messages + wrong > 0)
      std::printf("messages: %llu; calls with wrong arguments: %llu, natively errors: %llu\n",
                  messages, wrong, refused);
    if (options_.threads > 1) std::printf("in Unisono, of all threads: %llu\n", own);
    if (native_defects > 0)
      std::printf("results of the MPI library itself that are wrong: %llu\n", native_defects);
    if (!has_unisono())
      std::printf("Unisono is not there: both are the MPI library\n");
    else if (!never.empty() && options_.threads == 1)
      std::printf("never ran in Unisono:%s\n", never.c_str());
    std::printf("%lld programs, %llu calls, no differing byte\n", programs_, tallies_.calls);
  }

 private:
  /// So long that some calls can run in Unisono; a part of a program may have none of these.
  bool is_long() const {
    const bool ours = options_.spec != "native" && options_.spec != "default";
    return has_unisono() && ours && options_.from == 0 && options_.only.empty() &&
           !options_.simplified(-1).chosen && tallies_.calls >= 500;
  }

  bool time_is_up() const {
    int up = PMPI_Wtime() - begin_ > static_cast<double>(options_.seconds);
    PMPI_Bcast(&up, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return up != 0;
  }

  void run_threads(std::uint64_t seed) {
    const Forced forced = force_for(options_, seed);
    std::deque<Program> programs;
    std::vector<MPI_Comm> bases;
    for (int thread = 0; thread < options_.threads; ++thread) {
      bases.push_back(MPI_COMM_NULL);
      MPI_Comm_dup(MPI_COMM_WORLD, &bases.back());
      programs.emplace_back(options_, seed, thread, bases.back(), &forced);
    }
    std::vector<std::thread> others;
    for (std::size_t i = 1; i < programs.size(); ++i)
      others.emplace_back([&one = programs[i]] { one.run(); });
    programs.front().run();
    for (std::thread& other : others) other.join();
    for (const Program& one : programs) tallies_.add(one.tallies());
    programs.clear();
    for (MPI_Comm& base : bases) MPI_Comm_free(&base);
  }

  Options options_;
  double begin_ = PMPI_Wtime();
  long long programs_ = 0;
  Tallies tallies_;
};

}  // namespace
}  // namespace conformance

int main(int argc, char** argv) {
  using namespace conformance;
  const Options options = parse_options(argc, argv);
  const int wanted = options.threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, wanted, &provided);
  if (provided < wanted) {
    std::fprintf(stderr, "random_program: the MPI library has no MPI_THREAD_MULTIPLE\n");
    PMPI_Abort(MPI_COMM_WORLD, 2);
  }
  begin_watching(options.patience);
  create_operations();
  {
    Job job(options);
    job.run();
    job.report();
  }
  free_operations();
  MPI_Finalize();
  return 0;
}
