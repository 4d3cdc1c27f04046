// A software distributed shared memory: pages at the same addresses on all ranks, kept consistent
// at barriers. Home-based eager release consistency, as in section 5.3 of the CC-MPI paper
// (Karwande, Yuan, Lowenthal 2003).
//
//   dsm::init(MPI_COMM_WORLD, bytes);
//   double* x = dsm::alloc<double>(n);   // zeros
//   x[rank] = 1;                         // what other ranks write must not share these four bytes
//   dsm::barrier();                      // now all ranks see what all have written
//   dsm::finalize();
//
// Consistency: what a rank reads is what was written before the last barrier, or by itself since.
// Without data races between two barriers that is all a program can see. There are no locks.
//
// How it works. A page has a home. Who touches a page for the first time gets it from its home
// and is a sharer from then on. Before a rank writes to a page, a copy (its twin) is kept. At a
// barrier every rank sends what differs from the twins to the pages' homes, and every home sends
// what has changed to the page's sharers: eagerly, and by updating them. That is
//
//   one Alltoall of counts and one Alltoallv of pages where ranks write to pages that they are the
//   home of, two of each otherwise; none of the latter where nothing was written.
//
// A page of which more than half has changed travels whole, so that programs which write the same
// pages again and again exchange the same counts.
//
// Faults are caught by SIGSEGV and mprotect. userfaultfd could serve those inside system calls,
// too, but that is refused to ordinary users (vm.unprivileged_userfaultfd) and in most containers,
// and only a second thread can answer. The price: a system call, and MPI, do not wait for a page,
// they fail with EFAULT or would call MPI within MPI. So before memory of the DSM is given to MPI
// or to the system, prepare() it. The library itself only hands out memory of its own.
//
// Homes answer requests for pages whenever they wait in the library: in barrier(), in a fault of
// their own, in serve(). No thread does, so that any MPI library will do, and a rank that others
// wait for must not wait for them elsewhere: between barriers, a rank that waits in MPI for one
// that may fault makes it wait for ever. After `patience` seconds it says so and aborts. One thread
// of a rank may use all this.
#pragma once
#include <mpi.h>

#include <cstddef>

namespace apps::dsm {

/// Who is the home of a page: of each alloc() the ranks get consecutive pages in turn, or one after
/// the other; or the lowest of those that write to it before the same barrier, the first.
enum class Homes { block, round_robin, first_touch };

struct Options {
  Homes homes = Homes::block;
  double patience = 60;  ///< seconds to wait for a page
};

/// Room for so many bytes in all, in whole pages for each alloc(). Collective. Throws
/// std::runtime_error where there is no memory, which may be on this rank alone, and on all ranks
/// where there is no address that is free on all.
void init(MPI_Comm comm, std::size_t bytes, const Options& options = {});
/// Collective; the memory is gone, and SIGSEGV is the program's again.
void finalize();

/// Zeros, from the beginning of a page on, at the same address on all ranks, which must make the
/// same calls in the same order. Throws std::length_error where init() asked for less.
void* alloc_bytes(std::size_t bytes);
template <class T>
T* alloc(std::size_t count) {
  return static_cast<T*>(alloc_bytes(count * sizeof(T)));
}

/// All ranks see what all wrote before it. Collective.
void barrier();

/// Gets what of this memory is not here yet: once for all in place of page by page.
void fetch(const void* address, std::size_t bytes);
/// The same, and marks it as written to: MPI and system calls can read and write it until the
/// next barrier.
void prepare(void* address, std::size_t bytes);
/// Answers requests of other ranks; for long computations between barriers.
void serve();

/// The home of the page; -1 where nobody has written to it yet with Homes::first_touch.
int home(const void* address);
std::size_t page_bytes();

/// What this rank did since init().
struct Statistics {
  std::size_t barriers = 0;
  std::size_t faults = 0;                        // of reads and of writes
  std::size_t fetched = 0;                       // pages
  std::size_t diff_bytes = 0, update_bytes = 0;  // sent to homes, and to sharers
  std::size_t alltoallvs = 0;
};
Statistics statistics();

}  // namespace apps::dsm
