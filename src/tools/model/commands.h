// The commands of unisono-model: text in, text out. What a user can get wrong is thrown as one line
// (CLI::ValidationError).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "model/machine.h"

namespace unisono {

/// The machine file made from the samples that unisono-calibrate printed.
std::string fit_samples(std::string_view samples);

/// A rank cannot arrive at a call sooner than so many seconds after another has left the one
/// before: something that both did between them, another collective say, made it wait.
struct Wait {
  int rank = 0, other = 0;
  double seconds = 0;
};

/// What else a rank's node has sent and received between two calls: bytes, and how many seconds
/// before the rank arrives at the second it began.
struct Meanwhile {
  int rank = 0;
  Count out = 0, in = 0;
  double ago = 0;
};

/// One call and the algorithms to be priced for it.
struct Job {
  std::string collective;
  int ranks = 16;
  int nodes = 0;    ///< 0: as many as ranks
  Count bytes = 0;  ///< as in Facts: the vector, a block, or (reduce_scatter) all blocks
  int root = 0;
  std::vector<std::string> specs;
  /// Calls one after the other: for how many seconds each rank is away between them, before the
  /// first since time 0. Empty: one call, at which all arrive at once.
  std::vector<std::vector<double>> delays;
  /// By call, where ranks wait for others meanwhile; empty: they never do.
  std::vector<std::vector<Wait>> waits;
  /// By call: for how many seconds each rank computes when it has left it, where ranks share cores;
  /// empty: not at all.
  std::vector<std::vector<double>> computing;
  std::vector<std::vector<Meanwhile>> traffic;  ///< by call; empty: none
  std::vector<int> node_of_rank;                ///< empty: in blocks
};

/// [{"collective": "bcast", "ranks": 16, "nodes": 16, "bytes": 65536, "specs": ["ring", ...]}, ...]
std::vector<Job> read_jobs(std::string_view text);

/// [{"spec": ..., "seconds": ... or null, "unmet": "what it lacks", "chosen": "chain:segment=8K"},
/// ...], the fastest first; "chosen" in place of segment=auto. With delays "seconds" is when the
/// last rank is done with the last call, and "arrivals_s" and "exits_s" hold for each call when
/// each rank is there, and when it is done.
std::string predict_job(const Job& job, const Machine& machine);

/// What online selection would try: {"offers": [{"spec": ..., "seconds": ..., "risk": ...}, ...],
/// the most promising first, "proposals": of how many, "took": seconds}. `seconds`: that pricing
/// may take. Without `specs`; one rank on each node.
std::string offers(const Job& job, const Machine& machine, double seconds);

/// [[4, 4], [2, 8], ...]
std::string shapes(int ranks, int dimensions);

}  // namespace unisono
