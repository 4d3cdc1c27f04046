// What the small conformance programs share: a check that ends the whole job, and algorithms.
#pragma once
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "algorithms/catalogue.h"
#include "unisono_api.h"

namespace conformance {

inline void check(bool good, const char* what, const char* file, int line) {
  if (good) return;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr, "%s:%d: rank %d: %s\n", file, line, rank, what);
  std::fflush(stderr);
  PMPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}
#define CHECK(condition) ::conformance::check((condition), #condition, __FILE__, __LINE__)

inline int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

inline int size_of(MPI_Comm comm) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  return size;
}

/// With transport=CONFORMANCE_TRANSPORT, if that is set and messages are sent.
inline std::string over_what_is_wanted(const std::string& spec) {
  const char* transport = std::getenv("CONFORMANCE_TRANSPORT");
  if (transport == nullptr || spec == "shm" || spec == "native" || spec == "default") return spec;
  return spec + (spec.find(':') == std::string::npos ? ":" : ",") + "transport=" + transport;
}

/// Without Unisono the programs run all the same, on the MPI library.
inline void force(const char* collective, const std::string& spec) {
  if (has_unisono()) CHECK(unisono_force(collective, over_what_is_wanted(spec).c_str()) == 0);
}

/// The rows that can serve a collective on so many ranks.
inline std::vector<std::string> algorithms_of(unisono::Collective collective, int size,
                                              bool commutative) {
  std::vector<std::string> names;
  for (const unisono::Algorithm& row : unisono::catalogue())
    if (unisono::contains(row.collectives, collective) &&
        !unisono::unmet_restriction(row, {size, commutative}))
      names.emplace_back(row.name);
  return names;
}

/// Every collective to the algorithm that CONFORMANCE_ALGORITHM names, or to its first one that
/// serves any number of ranks and any operation.
inline void force_all() {
  const char* wanted = std::getenv("CONFORMANCE_ALGORITHM");
  for (int c = 0; c < unisono::kCollectives; ++c) {
    const auto collective = static_cast<unisono::Collective>(c);
    if (!unisono::contains(unisono::kAmongAll, collective)) continue;
    const std::vector<std::string> names = algorithms_of(collective, 3, false);
    CHECK(!names.empty());
    force(unisono::name(collective).data(), wanted != nullptr ? wanted : names.front());
  }
}

constexpr unsigned long long kAnyNumber = ~0ULL;

/// The last line of a program that found nothing wrong. So many of rank 0's collectives must have
/// run in Unisono: a program all of whose calls fell back to the MPI library would have shown
/// nothing. With CONFORMANCE_NATIVE set it runs without Unisono, to see what the MPI library does.
inline void passed(const char* program, unsigned long long min_own, unsigned long long max_own) {
  if (rank_in(MPI_COMM_WORLD) != 0) return;
  const unsigned long long own = own_calls();
  std::printf("%s: %llu collectives of rank 0 in Unisono\n", program, own);
  std::fflush(stdout);
  if (std::getenv("CONFORMANCE_NATIVE") != nullptr) {
    CHECK(!has_unisono());
  } else {
    CHECK(own >= min_own);
    CHECK(own <= max_own);
  }
  std::printf("%s: passed\n", program);
}

}  // namespace conformance
