// No memory where the program cannot be told so: in MPI_Init, in MPI_Finalize and in unisono_force.
// Nothing thrown reaches the program; in MPI_Init a rank without memory means that all run
// natively.
//
//   mpiexec -n P no_memory init|force|finalize
#include <dlfcn.h>

#include "check.h"

extern "C" void* __libc_malloc(std::size_t bytes);

namespace {

thread_local int g_allocations = -1;  // of this thread until one fails; < 0: none will
bool g_fails_in_init = false;

}  // namespace

// In the program these come before the C library's and the MPI library's.
#define OURS extern "C" __attribute__((visibility("default")))

OURS void* malloc(std::size_t bytes) {  // operator new's as well
  return g_allocations >= 0 && g_allocations-- == 0 ? nullptr : __libc_malloc(bytes);
}

// The first thing that Unisono asks the MPI library in MPI_Init.
OURS int PMPI_Comm_rank(MPI_Comm comm, int* rank) {
  static auto* next =
      reinterpret_cast<decltype(PMPI_Comm_rank)*>(dlsym(RTLD_NEXT, "PMPI_Comm_rank"));
  const int code = next(comm, rank);
  if (g_fails_in_init && *rank == 0) g_allocations = 0;
  g_fails_in_init = false;
  return code;
}

/// Of an attribute on MPI_COMM_SELF: called in MPI_Finalize, right before Unisono stops.
static int fail_from_here(MPI_Comm, int, void*, void*) {
  g_allocations = 0;
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  const std::string where = argc > 1 ? argv[1] : "";
  g_fails_in_init = where == "init";
  MPI_Init(&argc, &argv);
  CHECK(!g_fails_in_init);  // Unisono has asked, so that it ran into it on rank 0
  std::string last;
  for (int many = 0; where == "force" && many < 40; ++many) {
    g_allocations = many;
    const int code = unisono_force("allreduce", "no-such-algorithm");
    g_allocations = -1;
    CHECK(code == -1);
    last = unisono_error();
    CHECK(many > 0 || last == "no memory");
  }
  CHECK(where != "force" || last != "no memory");
  conformance::force("allreduce", "ring");
  int one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == conformance::size_of(MPI_COMM_WORLD));
  const unsigned long long own = where == "init" ? 0 : 1;
  conformance::passed("no_memory", own, own);
  if (where == "finalize") {
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, fail_from_here, &key, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
  }
  MPI_Finalize();
  return 0;
}
