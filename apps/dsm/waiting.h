// How a rank waits that has nothing to do: it gives up its core at once, since there may be more
// ranks than cores, and sleeps when it takes longer than a message between hosts.
#pragma once
#include <sched.h>
#include <unistd.h>

namespace apps::dsm {

class Waiting {
 public:
  void pause() {
    if (++times_ < kYields)
      sched_yield();
    else
      usleep(kMicroseconds);
  }

 private:
  static constexpr int kYields = 1000, kMicroseconds = 50;
  int times_ = 0;
};

}  // namespace apps::dsm
