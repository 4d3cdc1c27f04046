// What a random program is asked for on its command line.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace conformance {

/// What a drawn call is made simpler by: to find the smallest program that fails.
struct Simplified {
  bool counts = false;    ///< at most two of a kind
  bool types = false;     ///< MPI_INT; MPI_SUM
  bool in_place = false;  ///< none
  bool blocking = false;
  bool plain = false;   ///< no large-count form
  bool chosen = false;  ///< by Unisono itself, where an algorithm is forced
};

struct Options {
  long long calls = 1000;    ///< of a program
  long long programs = 1;    ///< one after the other, each with a seed and communicators of its own
  std::uint64_t seed = 1;    ///< of the first
  std::set<long long> only;  ///< no other calls, if there are any; each call draws for itself
  long long from = 0;        ///< skips the calls before, but not their communicators
  long long seconds = 0;     ///< ends early after so many; 0: never
  int patience = 120;        ///< seconds that a call may take
  std::string spec;  ///< instead of random ones; collectives that do not have it are not called
  std::string transport;     ///< of all specs that take it
  bool nonblocking = false;  ///< two calls of three, some of them persistent
  bool mixed = false;        ///< that, and all the other kinds of calls
  int threads = 1;           ///< each with communicators and calls of its own
  bool verbose = false;

  Simplified simplified(long long call) const;
  void simplify(const std::string& list);  ///< "counts,7:types"

 private:
  std::map<long long, std::set<std::string>> simplify_;  // -1: all
};

/// Ends the program where they are wrong.
Options parse_options(int argc, char** argv);

}  // namespace conformance
