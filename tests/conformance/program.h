// A random program: its calls, in the order of their numbers, each drawn from (seed, number) alone.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "case.h"
#include "comms.h"
#include "messages.h"
#include "options.h"
#include "specs.h"

namespace conformance {

/// How often something was called and how often Unisono ran it.
struct Tally {
  unsigned long long calls = 0, own = 0;
};

/// Of one rank; kept from program to program.
struct Tallies {
  Tallies();
  void add(const Tallies& other);
  static std::string key(Collective collective, std::string_view algorithm) {
    return std::string(unisono::name(collective)) + "/" + std::string(algorithm);
  }

  std::map<std::string, Tally> of;  ///< filled alike on all ranks, so that they can be added up
  unsigned long long native_defects = 0, messages = 0, wrong = 0, refused = 0, calls = 0;
};

/// An algorithm for each collective, forced while no call is under way: with several threads nobody
/// can force one for a call.
struct Forced {
  std::map<Collective, Spec> specs;
};
Forced force_for(const Options& options, std::uint64_t seed);

class Program {
 public:
  /// `forced`: of several threads.
  Program(const Options& options, std::uint64_t seed, int thread, MPI_Comm base,
          const Forced* forced);
  void run();
  const Tallies& tallies() const { return tallies_; }

 private:
  struct Pending;

  bool time_is_up() const;
  void run_one(std::uint64_t call);
  void run_collective(std::uint64_t call, Collective collective, const Communicator& comm,
                      const Spec& spec);
  void run_messages(std::uint64_t call, std::size_t slot);
  void run_wrong(std::uint64_t call, const Communicator& comm);
  bool force(Collective collective, Spec& spec) const;
  void start(Pending& one, std::uint64_t call);
  void finish_started(std::uint64_t call);
  void complete_in_any_order(std::uint64_t call, bool first);
  bool complete_together(const std::vector<Pending*>& order, long long way);
  void test_some(std::uint64_t call);
  void see(const Case& one);
  bool is_spoilt(long long call) const;

  const Options& options_;
  std::uint64_t seed_;
  int thread_;
  std::uint64_t rank_ = 0;  // in MPI_COMM_WORLD
  const Forced* forced_;
  Communicators comms_;
  double begin_;
  std::vector<Collective> drawn_;
  Tallies tallies_;
  std::vector<std::unique_ptr<Pending>> started_;  // and not finished
  std::vector<bool> has_messages_, has_wild_;      // on each communicator, under way
  std::vector<long long> done_;
  std::string prefix_;
};

}  // namespace conformance
