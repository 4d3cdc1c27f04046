// Communicators that outlive MPI_Comm_free for a while.
#pragma once
#include <mpi.h>

namespace unisono {

/// Called while `comm`, whose rank this is, is freed. MPI lets a program free a communicator on
/// which a nonblocking collective is in flight. Open MPI (5.0.11) then ends with a segmentation
/// fault, unless the blocking calls before have moved that collective to its end; in Unisono they
/// move nothing. So there the library is made to keep the communicator until kOutliving others have
/// been freed. Local; nothing where sessions are, which must not end with one left.
void let_outlive(MPI_Comm comm, int rank) noexcept;
inline constexpr int kOutliving = 8;

/// Lets all of them end. At the beginning of MPI_Finalize.
void end_outliving() noexcept;

}  // namespace unisono
