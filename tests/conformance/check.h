// What the small conformance programs share: a check that ends the whole job, and algorithms.
// check.cpp holds what needs the catalogue, so that it is compiled once for all of them.
#pragma once
#include <mpi.h>
#include <sched.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "schedule/collective.h"
#include "unisono_api.h"

namespace conformance {

void check(bool good, const char* what, const char* file, int line);
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

/// Before MPI_Init: all ranks run on the first core that this one may use.
inline void share_one_core() {
  cpu_set_t may, one;
  sched_getaffinity(0, sizeof may, &may);
  CPU_ZERO(&one);
  int cpu = 0;
  while (!CPU_ISSET(cpu, &may)) ++cpu;
  CPU_SET(cpu, &one);
  sched_setaffinity(0, sizeof one, &one);
}

/// Of an error code, or MPI_SUCCESS.
inline int class_of(int code) {
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  return error_class;
}

/// The call through MPI_ fails like the call through PMPI_, which therefore must not wait for
/// others.
#define REFUSED(call)                                        \
  do {                                                       \
    const int native = ::conformance::class_of(PMPI_##call); \
    CHECK(native != MPI_SUCCESS);                            \
    CHECK(::conformance::class_of(MPI_##call) == native);    \
  } while (false)

/// Without Unisono the programs run all the same, on the MPI library.
void force(const char* collective, const std::string& spec);

/// The rows that can serve a collective on so many ranks.
std::vector<std::string> algorithms_of(unisono::Collective collective, int size, bool commutative);

/// Every collective to the algorithm that CONFORMANCE_ALGORITHM names, or to its first one that
/// serves any number of ranks and any operation.
void force_all();

constexpr unsigned long long kAnyNumber = ~0ULL;

/// The last line of a program that found nothing wrong. So many of rank 0's collectives must have
/// run in Unisono: a program all of whose calls fell back to the MPI library would have shown
/// nothing. With CONFORMANCE_NATIVE set it runs without Unisono, to see what the MPI library does.
void passed(const char* program, unsigned long long min_own, unsigned long long max_own);

/// The last line of a program that an older MPI library cannot run, natively either.
inline void left_out(const char* program, const char* why) {
  if (rank_in(MPI_COMM_WORLD) == 0) std::printf("%s: left out: %s\n", program, why);
}

inline bool is_library(const char* beginning) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  PMPI_Get_library_version(version, &length);
  return std::string(version).starts_with(beginning);
}
/// MPICH 4.0 has no MPIX_Async_start(), and calls that do not block have no turns there: they stay
/// in the MPI library.
inline bool is_mpich_4_0() { return is_library("MPICH Version:\t4.0."); }

}  // namespace conformance
