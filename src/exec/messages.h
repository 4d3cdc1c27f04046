// How an execution sends, and how it learns what has come: not alike on a machine and in SMPI.
//
// SMPI shares a simulated link fairly between all messages under way and lets small sends return at
// once: of a pipeline's segments all would be under way together, and arrive together at the end. A
// network with flow control delivers them one after the other. So in SMPI sends are synchronous,
// and few are under way on a channel. And a test costs a simulated rank an event and simulated
// time: so there an execution waits inside the MPI library.
#pragma once
#include <mpi.h>

#include "schedule/schedule.h"

namespace unisono {

#ifdef UNISONO_FLAVOUR_SMPI

inline constexpr auto kStartSend = PMPI_Issend, kStartMatchedSend = PMPI_Issend;

/// Two: the next segment follows without a gap. With one, each would wait for word from the last.
inline constexpr Count kSendsUnderWay = 2;

// Not PMPI_Waitsome: it waits for one and then tests the others.
inline int complete_some(int n, MPI_Request* requests, int* count, int* done,
                         MPI_Status* statuses) {
  *count = 1;
  return PMPI_Waitany(n, requests, done, statuses);
}

#else

inline constexpr auto kStartSend = PMPI_Isend, kStartMatchedSend = PMPI_Issend;
inline constexpr Count kSendsUnderWay = kChannelDepth;  // as the algorithm wants it
inline constexpr auto complete_some = PMPI_Testsome;

#endif

}  // namespace unisono
