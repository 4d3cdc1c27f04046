// Runs an execution to its end, as a blocking call does.
#pragma once
#include "exec/execution.h"

namespace unisono {

inline int finish(Execution& execution, WaitMode mode) {
  Waiter waiter(mode);
  int rc = MPI_SUCCESS;
  while (!execution.done() && rc == MPI_SUCCESS) {
    rc = execution.progress();
    if (!execution.done()) execution.wait(waiter);
  }
  return rc;
}

}  // namespace unisono
