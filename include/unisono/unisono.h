/* The public C interface of Unisono. C11. All functions may be called by any rank at any time
 * between MPI_Init and MPI_Finalize, from one thread at a time.
 *
 * Programs need none of it: placed under a program, Unisono acts by itself. It is for benchmarks,
 * tuners and tests that choose algorithms while they run. */
#ifndef UNISONO_UNISONO_H
#define UNISONO_UNISONO_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UNISONO_API __attribute__((visibility("default")))

/* The version as "MAJOR.MINOR.PATCH". */
UNISONO_API const char* unisono_version(void);

/* Forces the algorithm of a collective from the next call on, on every communicator.
 *   collective  "bcast", "reduce_scatter_block", ...
 *   spec        as in UNISONO_<COLLECTIVE>: "ring", "chain:segment=64K", "native" (the MPI
 *               library's own), or "default" (what Unisono chooses itself)
 * Must be called alike on all ranks, with no collective in flight. Returns 0, or -1 when the
 * collective, the algorithm or a parameter is unknown: unisono_error() says which are valid, and
 * nothing has changed. */
UNISONO_API int unisono_force(const char* collective, const char* spec);

/* What the last failed function of this thread has to say: one line. */
UNISONO_API const char* unisono_error(void);

/* How many collectives of this process ran in Unisono since MPI_Init, and how many it looked at and
 * handed to the MPI library. Those that could only be native (nothing forced, no default for that
 * collective) are not looked at and not counted. */
UNISONO_API void unisono_counts(unsigned long long* own, unsigned long long* native);

/* --- compiled communication -------------------------------------------------------------------
 *
 * Who knows a communication before it happens can do all that prepares it once (Karwande, Yuan,
 * Lowenthal, CC-MPI, 2003): control, apart from data. In MPI's own words that is a persistent
 * collective: MPI_Alltoallv_init and its relatives are control, MPI_Start moves data and nothing
 * else, MPI_Request_free ends it; the hint unisono_algorithm names the algorithm. What follows is
 * for what MPI has no words for. Each function is collective over `comm`, has no collective in
 * flight there, and returns 0, or -1 on all ranks alike: unisono_error() says why, and nothing has
 * changed. docs/guide/compiled-communication.md.
 */

/* Level 2: the counts of all ranks are known to all. `counts`, the same on every rank: rank i sends
 * counts[i * size + j] bytes to rank j. From the next call on, calls of `collective` ("alltoallv",
 * "alltoallw") on `comm` whose algorithm follows an order ("token_list", "greedy", ...) exchange no
 * counts: they follow the order made from these, be their own counts what they may. A call with
 * others may take longer, and is right. */
UNISONO_API int unisono_know_counts(MPI_Comm comm, const char* collective,
                                    const long long counts[]);

/* Level 3: the order is in a file, as unisono schedule make or unisono_save_schedule has written
 * it. Fails if it is not for as many ranks, or not the same on all of them. */
UNISONO_API int unisono_load_schedule(MPI_Comm comm, const char* collective, const char* path);

/* Writes the order that calls of `collective` on `comm` follow now, or that the last one followed
 * which exchanged counts; rank 0 writes. Fails if there was none. */
UNISONO_API int unisono_save_schedule(MPI_Comm comm, const char* collective, const char* path);

/* Takes the last two back: calls exchange counts again until these repeat. */
UNISONO_API int unisono_forget_schedule(MPI_Comm comm, const char* collective);

/* Makes the multicast group of these ranks of `comm`, the same ones in the same order on all its
 * ranks, members or not: algorithms "multicast" (all ranks) and "multicast_receivers" (the root of
 * a scatterv and those who get anything, ascending) find it made. Fails where the network carries
 * no multicast, or UNISONO_MCAST_GROUPS are in use. A process has few of them. */
UNISONO_API int unisono_open_group(MPI_Comm comm, int members, const int ranks[]);

/* Ends it, when every member has what was sent to it. */
UNISONO_API int unisono_close_group(MPI_Comm comm, int members, const int ranks[]);

#ifdef __cplusplus
}
#endif
#endif
