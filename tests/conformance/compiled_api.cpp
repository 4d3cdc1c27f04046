// The functions of compiled communication: counts and orders that the program gives need no
// exchange; what is wrong is said on all ranks alike, and changes nothing.
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "check.h"

extern "C" {
__attribute__((weak)) int unisono_know_counts(MPI_Comm comm, const char* collective,
                                              const long long counts[]);
__attribute__((weak)) int unisono_load_schedule(MPI_Comm comm, const char* collective,
                                                const char* path);
__attribute__((weak)) int unisono_save_schedule(MPI_Comm comm, const char* collective,
                                                const char* path);
__attribute__((weak)) int unisono_forget_schedule(MPI_Comm comm, const char* collective);
__attribute__((weak)) int unisono_open_group(MPI_Comm comm, int members, const int ranks[]);
__attribute__((weak)) int unisono_close_group(MPI_Comm comm, int members, const int ranks[]);
}

namespace {

std::atomic<int> g_sent{0};

}  // namespace

// Unisono's messages come by here; the MPI library's own do not.
extern "C" [[gnu::visibility("default")]] int PMPI_Isend(const void* buffer, int count,
                                                         MPI_Datatype type, int to, int tag,
                                                         MPI_Comm comm, MPI_Request* request) {
  static const auto next = reinterpret_cast<decltype(&PMPI_Isend)>(dlsym(RTLD_NEXT, "PMPI_Isend"));
  ++g_sent;
  return next(buffer, count, type, to, tag, comm, request);
}

namespace {

using namespace conformance;

int g_rank = 0, g_size = 1;

/// Bytes from rank i to rank j in the nth call: no two calls alike.
int count_of(int i, int j, int nth) { return i == j ? 0 : 1 + (i + 2 * j + nth) % 5; }

/// Messages of Unisono that this rank sent in a right call.
int exchange(int nth) {
  std::vector<int> sent, received, from, into;
  int out_bytes = 0, in_bytes = 0;
  for (int i = 0; i < g_size; ++i) {
    from.push_back(out_bytes);
    into.push_back(in_bytes);
    sent.push_back(count_of(g_rank, i, nth));
    received.push_back(count_of(i, g_rank, nth));
    out_bytes += sent.back();
    in_bytes += received.back();
  }
  const std::vector<char> out(static_cast<std::size_t>(out_bytes) + 1, static_cast<char>(g_rank));
  std::vector<char> in(static_cast<std::size_t>(in_bytes) + 1, -1);
  const int before = g_sent;
  MPI_Alltoallv(out.data(), sent.data(), from.data(), MPI_CHAR, in.data(), received.data(),
                into.data(), MPI_CHAR, MPI_COMM_WORLD);
  for (int i = 0; i < g_size; ++i)
    for (int k = 0; k < received[static_cast<std::size_t>(i)]; ++k)
      CHECK(in[static_cast<std::size_t>(into[static_cast<std::size_t>(i)] + k)] == i);
  return g_sent - before;
}

void check_error(int code, const std::string& part) {
  CHECK(code == -1);
  if (std::string(unisono_error()).find(part) != std::string::npos) return;
  std::fprintf(stderr, "said: %s; not: %s\n", unisono_error(), part.c_str());
  CHECK(false);
}

std::vector<long long> counts_of_call(int nth) {
  std::vector<long long> counts;
  for (int i = 0; i < g_size; ++i)
    for (int j = 0; j < g_size; ++j) counts.push_back(count_of(i, j, nth));
  return counts;
}

/// With messages of data and tokens only, by twos; without an order the counts' come on top.
void known_counts() {
  const int exchanged = exchange(0);
  std::vector<long long> counts = counts_of_call(1);
  CHECK(unisono_know_counts(MPI_COMM_WORLD, "alltoallv", counts.data()) == 0);
  for (int nth = 1; nth < 6; ++nth) {
    const int sent = exchange(nth);  // of other counts than those, too
    CHECK(sent < exchanged);
    CHECK(sent == 2 * (g_size - 1));
  }
  CHECK(unisono_forget_schedule(MPI_COMM_WORLD, "alltoallv") == 0);
  CHECK(exchange(6) == exchanged);
}

void files() {
  const std::string path =
      std::filesystem::temp_directory_path() / ("unisono_compiled_api." + std::to_string(g_size));
  CHECK(unisono_save_schedule(MPI_COMM_WORLD, "alltoallv", path.c_str()) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  const int exchanged = exchange(7);
  CHECK(unisono_load_schedule(MPI_COMM_WORLD, "alltoallv", path.c_str()) == 0);
  CHECK(exchange(8) < exchanged);
  CHECK(unisono_forget_schedule(MPI_COMM_WORLD, "alltoallv") == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (g_rank == 0) std::ofstream(path) << "{}";
  MPI_Barrier(MPI_COMM_WORLD);
  check_error(unisono_load_schedule(MPI_COMM_WORLD, "alltoallv", path.c_str()), path);
  CHECK(exchange(9) == exchanged);
  MPI_Barrier(MPI_COMM_WORLD);
  if (g_rank == 0) std::remove(path.c_str());
  check_error(unisono_load_schedule(MPI_COMM_WORLD, "alltoallv", "/nowhere"), "/nowhere");
  check_error(unisono_save_schedule(MPI_COMM_WORLD, "alltoallv", "/nowhere/at/all"), "/nowhere");
}

void errors() {
  std::vector<long long> counts = counts_of_call(0);
  check_error(unisono_know_counts(MPI_COMM_WORLD, "bcast", counts.data()), "bcast");
  check_error(unisono_know_counts(MPI_COMM_WORLD, "alltoall", counts.data()), "no order");
  check_error(unisono_know_counts(MPI_COMM_WORLD, nullptr, counts.data()), "NULL");
  check_error(unisono_know_counts(MPI_COMM_WORLD, "alltoallv", nullptr), "NULL");
  counts[1] += g_rank;
  check_error(unisono_know_counts(MPI_COMM_WORLD, "alltoallv", counts.data()), "not the same");
  counts[1] = -1;
  check_error(unisono_know_counts(MPI_COMM_WORLD, "alltoallv", counts.data()), "negative");
  const int all[] = {0, 1}, twice[] = {1, 1}, beyond[] = {0, g_size}, differ[] = {0, g_rank};
  check_error(unisono_open_group(MPI_COMM_WORLD, 2, twice), "each once");
  check_error(unisono_open_group(MPI_COMM_WORLD, 2, beyond), "each once");
  check_error(unisono_open_group(MPI_COMM_WORLD, 1, all), "two ranks");
  check_error(unisono_open_group(MPI_COMM_WORLD, 2, nullptr), "two ranks");
  check_error(unisono_open_group(MPI_COMM_WORLD, 2, differ), "not the same");
  check_error(unisono_open_group(MPI_COMM_WORLD, 2, all), "no multicast");  // on one node
  check_error(unisono_close_group(MPI_COMM_WORLD, 2, all), "no multicast");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &g_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &g_size);
  if (unisono_force("alltoallv", "token_list") != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  known_counts();
  files();
  errors();
  passed("compiled_api", 10, 14);
  MPI_Finalize();
  return 0;
}
