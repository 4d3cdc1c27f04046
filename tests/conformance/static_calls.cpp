// MPI begun in the constructor of a static object and used in the destructors of two: of one that
// is older than all that Unisono has, so that this is gone before.
#include "all_kinds.h"

namespace {

using conformance::All;
using conformance::complete;
using conformance::own_calls;

void in_all_forms(int way) {
  const unsigned long long before = own_calls();
  All nonblocking(MPI_COMM_WORLD, way), persistent(MPI_COMM_WORLD, way, true);
  persistent.start();
  MPI_Startall(static_cast<int>(persistent.requests.size()), persistent.requests.data());
  nonblocking.start();
  complete(nonblocking.requests, way);
  complete(persistent.requests, 0, true);
  nonblocking.see();
  persistent.see();
  for (MPI_Request& request : persistent.requests) MPI_Request_free(&request);
  if (conformance::has_unisono()) CHECK(own_calls() - before == 2 * 17);
}

struct Oldest {
  /// MPICH's own exit handler must be older: see late_calls.cpp.
  Oldest() {
#ifdef MPICH_VERSION
    MPI_Session session;
    PMPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    PMPI_Session_finalize(&session);
#endif
  }
  ~Oldest() {
    in_all_forms(2);
    conformance::passed("static_calls", 3 * 2 * 17, 3 * 2 * 17);
    MPI_Finalize();
  }
};

struct Youngest {
  Youngest() {
    MPI_Init(nullptr, nullptr);
    conformance::force_all();
    in_all_forms(0);
  }
  ~Youngest() { in_all_forms(1); }
};

Oldest g_oldest;
Youngest g_youngest;

}  // namespace

int main() { return 0; }
