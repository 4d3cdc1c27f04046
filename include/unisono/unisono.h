/* The public C interface of Unisono. C11. All functions may be called by any rank at any time
 * between MPI_Init and MPI_Finalize, from one thread at a time.
 *
 * Programs need none of it: placed under a program, Unisono acts by itself. It is for benchmarks,
 * tuners and tests that choose algorithms while they run. */
#ifndef UNISONO_UNISONO_H
#define UNISONO_UNISONO_H

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

#ifdef __cplusplus
}
#endif
#endif
