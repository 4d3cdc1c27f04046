// Beginning and end of MPI. A program that begins in another way (PMPI_Init, MPI_Session_init)
// leaves everything to its MPI library.
#include <mpi.h>

#include "base/presence.h"
#include "calls/in_flight.h"
#include "calls/progress_thread.h"
#include "interpose/dispatch.h"
#include "interpose/entry.h"
#include "interpose/initialization.h"
#include "interpose/next.h"
#include "mpi/library_waits.h"
#include "mpi/threads.h"
#include "mpi/turns.h"

namespace unisono {
namespace {

// The Fortran entry points may lead to the C ones, or not.
constinit std::atomic<bool> g_initialized{false};

// What interpose/join/join.cpp, which has no mpi.h, knows by heart.
#ifdef UNISONO_FLAVOUR_MPICH
static_assert(MPI_COMM_WORLD == 0x44000000 && MPI_UNSIGNED_LONG_LONG == 0x4c000819 &&
              MPI_MAX == 0x58000001);
#endif

#ifndef UNISONO_FLAVOUR_SMPI  // of which nothing can be asked any more when it deletes them
/// MPI_Finalize begins with the attributes of MPI_COMM_SELF, the last one first (MPI-4.1, 11.2.4).
/// The program's delete functions may call collectives on any communicator, and some ranks may end
/// by PMPI_Finalize: Unisono stops on all of them at this one place, after all that the program has
/// set since MPI_Init.
void notice_the_end() {
  const auto end = [](MPI_Comm, int, void*, void*) -> int {
    on_finalize();
    return MPI_SUCCESS;
  };
  int key = MPI_KEYVAL_INVALID;
  if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end, &key, nullptr) != MPI_SUCCESS) return;
  PMPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
  PMPI_Comm_free_keyval(&key);
}
#endif

/// A program may get more than it asks for.
int begin_with_threads(int* argc, char*** argv, int* provided) {
  int level = MPI_THREAD_SINGLE;
  before_init();
  const int code = Next<"MPI_Init_thread", decltype(MPI_Init_thread)>::call(
      argc, argv, MPI_THREAD_MULTIPLE, provided != nullptr ? provided : &level);
  after_init(code);
  return code;
}

}  // namespace

void before_init() {
  give_way_as_launched();
  // Sessions may be made by other threads at any time.
  presence::announce(!g_session_threads);
}

void after_init(int code) {
  if (code != MPI_SUCCESS || g_initialized.exchange(true)) return;
#ifndef UNISONO_FLAVOUR_SMPI
  notice_the_end();
#endif
  on_init();
}

}  // namespace unisono

using namespace unisono;

ENTRY int MPI_Init(int* argc, char*** argv) {
  if (wants_progress_thread()) return begin_with_threads(argc, argv, nullptr);
  before_init();
  const int code = Next<"MPI_Init", decltype(MPI_Init)>::call(argc, argv);
  after_init(code);
  return code;
}

ENTRY int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  if (wants_progress_thread()) return begin_with_threads(argc, argv, provided);
  before_init();
  const int code =
      Next<"MPI_Init_thread", decltype(MPI_Init_thread)>::call(argc, argv, required, provided);
  after_init(code);
  return code;
}

#ifdef MPI_SESSION_NULL
ENTRY int MPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) {
  give_way_as_launched();
  on_session();
  return Next<"MPI_Session_init", decltype(MPI_Session_init)>::call(info, handler, session);
}

// Fortran libraries call PMPI_*.
ENTRY int MPI_Session_finalize(MPI_Session* session) {
  settle_in_flight();
  const Ending ending;
  return Next<"MPI_Session_finalize", decltype(MPI_Session_finalize)>::call(session);
}

ENTRY int PMPI_Session_finalize(MPI_Session* session) {
  settle_in_flight();
  const Ending ending;
  return Next<"PMPI_Session_finalize", decltype(PMPI_Session_finalize)>::call(session);
}
#endif

#if defined(MPICH_VERSION) && !defined(MPI_ABI)
ENTRY int MPI_Finalize() {
  const Ending ending;
  return Next<"MPI_Finalize", decltype(MPI_Finalize)>::call();
}
ENTRY int PMPI_Finalize() {
  const Ending ending;
  return Next<"PMPI_Finalize", decltype(PMPI_Finalize)>::call();
}
#endif

#ifdef UNISONO_FLAVOUR_SMPI
ENTRY int MPI_Finalize() {
  if (g_initialized) on_finalize();
  return Next<"MPI_Finalize", decltype(MPI_Finalize)>::call();
}
#endif
