#include "node/calls.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace unisono::node {

// A system that has no such barrier, or denies it, has run something else on each core meanwhile,
// or an interrupt: either makes stores visible that were under way.
void see_stores_of_others() {
  constexpr std::chrono::milliseconds kLongerThanAnyStore{20};
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) != 0)
    std::this_thread::sleep_for(kLongerThanAnyStore);
}

}  // namespace unisono::node
