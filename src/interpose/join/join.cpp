// libunisono-join.so: what a rank does in MPI_Init that Unisono is placed under, and does nothing
// in. It meets the others, who would wait for it, and tells them. Opened where that is needed only.
#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/hash.h"
#include "base/meeting_words.h"
#include "base/presence.h"
#include "base/version.h"

namespace unisono {
namespace {

/// A handle of any MPI library: a pointer, or an int, which is passed in the same registers.
using Handle = std::intptr_t;

struct Handles {
  Handle world = 0, unsigned_long_long = 0, max = 0;
  void* in_place = nullptr;
};

void* g_library = nullptr;
Handles g_handles;
constinit std::atomic<bool> g_joined{false};

/// Of data: the program may have a copy of its own (a copy relocation), which the library uses
/// then.
Handle address(const char* name) {
  void* found = dlsym(RTLD_DEFAULT, name);
  return reinterpret_cast<Handle>(found != nullptr ? found : dlsym(g_library, name));
}

/// The values of the binary interfaces, which never change.
Handles handles_of(std::string_view flavour) {
  if (flavour == "mpich") return {0x44000000, 0x4c000819, 0x58000001, reinterpret_cast<void*>(-1)};
  if (flavour == "abi") return {0x101, 0x20f, 0x23, reinterpret_cast<void*>(1)};
  return {address("ompi_mpi_comm_world"), address("ompi_mpi_unsigned_long_long"),
          address("ompi_mpi_op_max"), reinterpret_cast<void*>(1)};
}

/// runtime/meeting.cpp's part of the conversation: this rank cannot.
void join() {
  using Iallreduce = int (*)(const void*, void*, int, Handle, Handle, Handle, void*);
  using Wait = int (*)(void*, void*);
  const auto iallreduce = reinterpret_cast<Iallreduce>(dlsym(g_library, "PMPI_Iallreduce"));
  const auto wait = reinterpret_cast<Wait>(dlsym(g_library, "PMPI_Wait"));
  const presence::Attendance here = presence::look_around();
  // The others do the same: they run natively, or end the job, if somebody has nothing of Unisono.
  if (iallreduce != nullptr && wait != nullptr && here.absent == 0 && g_handles.world != 0) {
    unsigned long long extremes[kMeetingWords] = {};
    extremes[kCannot] = 1;
    extremes[kSameVersion] = fnv1a(UNISONO_VERSION);
    extremes[kSameVersion + 1] = ~extremes[kSameVersion];
    void* request = nullptr;
    alignas(16) char status[256];
    iallreduce(g_handles.in_place, extremes, kMeetingWords, g_handles.unsigned_long_long,
               g_handles.max, g_handles.world, &request);
    wait(&request, status);
    presence::withdraw();
  }
}

void after(int code) {
  if (code == 0 && !g_joined.exchange(true)) join();
}

using Init = int (*)(int*, char***);
using InitThread = int (*)(int*, char***, int, int*);
using FortranInit = void (*)(int*);
using FortranInitThread = void (*)(const int*, int*, int*);

constinit std::atomic<void*> g_init{nullptr}, g_init_thread{nullptr};

int init(int* argc, char*** argv) {
  presence::announce();
  const int code = reinterpret_cast<Init>(g_init.load())(argc, argv);
  after(code);
  return code;
}

int init_thread(int* argc, char*** argv, int required, int* provided) {
  presence::announce();
  const int code =
      reinterpret_cast<InitThread>(g_init_thread.load())(argc, argv, required, provided);
  after(code);
  return code;
}

/// `kForm`: the older spellings, which are one function, or Fortran 2008's.
template <int kForm>
constinit std::atomic<void*> g_fortran_init{nullptr};
template <int kForm>
constinit std::atomic<void*> g_fortran_init_thread{nullptr};

template <int kForm>
void fortran_init(int* ierror) {
  int code = 0;
  presence::announce();
  reinterpret_cast<FortranInit>(g_fortran_init<kForm>.load())(&code);
  after(code);
  if (ierror != nullptr) *ierror = code;
}

template <int kForm>
void fortran_init_thread(const int* required, int* provided, int* ierror) {
  int code = 0;
  presence::announce();
  reinterpret_cast<FortranInitThread>(g_fortran_init_thread<kForm>.load())(required, provided,
                                                                           &code);
  after(code);
  if (ierror != nullptr) *ierror = code;
}

template <class Function>
void* instead(Function function, std::atomic<void*>& slot, void* next) {
  slot.store(next);
  return reinterpret_cast<void*>(function);
}

}  // namespace

}  // namespace unisono

using namespace unisono;

/// In place of `next`, the MPI library's `called`: an initialisation that does so. Null: `called`
/// is none. `path` and `flavour`: of the MPI library.
extern "C" __attribute__((visibility("default"))) void* unisono_joining_init(const char* called,
                                                                             void* next,
                                                                             const char* path,
                                                                             const char* flavour) {
  const std::string_view name = called;
  if (g_library == nullptr) {
    g_library = dlopen(path, RTLD_NOLOAD | RTLD_LAZY);
    if (g_library == nullptr) return nullptr;
    g_handles = handles_of(flavour);
  }
  if (name == "MPI_Init") return instead(init, g_init, next);
  if (name == "MPI_Init_thread") return instead(init_thread, g_init_thread, next);
  if (name == "mpi_init_f08_") return instead(fortran_init<1>, g_fortran_init<1>, next);
  if (name == "mpi_init_thread_f08_")
    return instead(fortran_init_thread<1>, g_fortran_init_thread<1>, next);
  if (name.starts_with("mpi_init_thread"))
    return instead(fortran_init_thread<0>, g_fortran_init_thread<0>, next);
  if (name.starts_with("mpi_init")) return instead(fortran_init<0>, g_fortran_init<0>, next);
  return nullptr;
}
