// A driver that the program loads after its first collectives, when they are on the fast path and
// are not decided about any more: the next such call has a buffer in the memory of the device. In
// between the program loads and unloads a library of its own, which must really go.
//
//   mpiexec -n P late_driver {single | multiple}
#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "check.h"

namespace {

bool g_is_counting = false;
int g_asked = 0;

}  // namespace

// Before glibc's: how often the dynamic linker is asked.
extern "C" __attribute__((visibility("default"))) int dl_iterate_phdr(
    int (*callback)(dl_phdr_info*, std::size_t, void*), void* data) {
  static const auto next =
      reinterpret_cast<decltype(&dl_iterate_phdr)>(dlsym(RTLD_NEXT, "dl_iterate_phdr"));
  if (g_is_counting) ++g_asked;
  return next(callback, data);
}

namespace {

void* load(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  CHECK(library != nullptr);
  return library;
}

template <class Function>
Function* function_of(void* library, const char* name) {
  auto* function = reinterpret_cast<Function*>(dlsym(library, name));
  CHECK(function != nullptr);
  return function;
}

int sum(const int* from) {
  int total = -1;
  MPI_Allreduce(from, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return total;
}

int most(int mine) {
  PMPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return mine;
}

}  // namespace

int main(int argc, char** argv) {
  const bool multiple = argc > 1 && std::strcmp(argv[1], "multiple") == 0;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  const int me = conformance::rank_in(MPI_COMM_WORLD), p = conformance::size_of(MPI_COMM_WORLD);
  const int all = p * (p - 1) / 2;
  conformance::force("allreduce", "shm");
  const auto calls = [&](int many) {
    for (int i = 0; i < many; ++i) CHECK(sum(&me) == all);
  };
  const auto asked_in_calls = [&] {
    calls(2);  // whatever has been loaded is noticed
    g_asked = 0;
    g_is_counting = true;
    calls(10);
    g_is_counting = false;
    return g_asked;
  };
  CHECK(asked_in_calls() == 0);

  bool is_loaded = false;
  void* plugin = load(PLUGIN);
  *function_of<bool*>(plugin, "g_plugin_says_loaded") = &is_loaded;
  is_loaded = true;
  // With threads calls go on asking for a while: one might be where the bookend was.
  CHECK(most(asked_in_calls()) == 0 || provided == MPI_THREAD_MULTIPLE);
  while (most(asked_in_calls()) != 0) usleep(100'000);
  dlclose(plugin);
  CHECK(!is_loaded);
  calls(10);

  void* driver = load(STUB_CUDA);
  void* device = function_of<void*(std::size_t)>(driver, "stub_device_allocate")(sizeof me);
  CHECK(function_of<bool(std::uintptr_t, const void*, std::size_t)>(driver, "stub_device_write")(
      reinterpret_cast<std::uintptr_t>(device), &me, sizeof me));
  for (int i = 0; i < 3; ++i) CHECK(sum(static_cast<int*>(device)) == all);
  conformance::passed("late_driver", 49, conformance::kAnyNumber);
  MPI_Finalize();
  return 0;
}
