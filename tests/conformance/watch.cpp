#include "watch.h"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace conformance {

namespace {

/// One thread's. Signal handlers read it while it may change: then a text is cut.
struct Slot {
  std::atomic<bool> taken{false};
  std::atomic<EntryPoint> through{EntryPoint::native};
  std::array<char, 4096> doing{};
};
std::array<Slot, 64> g_slots;
unsigned g_patience = 0;

/// Taken by a thread at its first word, and given back when it ends.
struct Place {
  Slot* slot = &g_slots.back();
  Place() {
    for (Slot& one : g_slots)
      if (!one.taken.exchange(true)) {
        slot = &one;
        break;
      }
    slot->doing[0] = '\0';
  }
  ~Place() { slot->taken = false; }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
};
Slot& mine() {
  thread_local const Place place;
  return *place.slot;
}

void tell_all(const char* what) {
  for (const Slot& one : g_slots)
    if (one.taken && one.doing[0] != '\0')
      std::fprintf(stderr, "random_program: %s in %s call: %s\n", what,
                   one.through == EntryPoint::native ? "the PMPI" : "Unisono's", one.doing.data());
  std::fflush(stderr);
}

// Not async-signal-safe in every detail, but the process is stuck inside MPI, or dead, and ends.
void on_alarm(int) {
  tell_all("no progress");
  _exit(3);
}

void on_crash(int number) {
  std::signal(number, SIG_DFL);
  tell_all("crash");
  std::raise(number);
}

/// Of calls that should not fail: communicators that are made from MPI_COMM_WORLD inherit it.
void on_unexpected(MPI_Comm*, int* code, ...) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  PMPI_Error_string(*code, text, &length);
  fail(text);
}

}  // namespace

void begin_watching(int patience) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(on_unexpected, &handler);
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF})
    MPI_Comm_set_errhandler(comm, handler);
  MPI_Errhandler_free(&handler);
  g_patience = static_cast<unsigned>(patience);
  std::signal(SIGALRM, on_alarm);
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT}) std::signal(number, on_crash);
}

void end_watching() { alarm(0); }

void tell(const std::string& doing) {
  Slot& slot = mine();
  const std::size_t length = std::min(doing.size(), slot.doing.size() - 1);
  std::memcpy(slot.doing.data(), doing.data(), length);
  slot.doing[length] = '\0';
  alarm(g_patience);
}

void tell_entry_point(EntryPoint through) { mine().through = through; }

void fail(const std::string& what) {
  std::fprintf(stderr, "random_program: %s: %s\n", mine().doing.data(), what.c_str());
  std::fflush(stderr);
  std::signal(SIGABRT, SIG_DFL);
  PMPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

}  // namespace conformance
