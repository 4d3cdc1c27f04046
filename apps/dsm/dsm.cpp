#include "apps/dsm/dsm.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <memory>

#include "apps/common/share.h"
#include "apps/dsm/memory.h"

namespace apps::dsm {

namespace {

std::unique_ptr<Memory> memory;
struct sigaction before;  // who had SIGSEGV

/// A fault that is not ours: the program's handler's, or the end.
void pass_on(int number, siginfo_t* info, void* context) {
  if ((before.sa_flags & SA_SIGINFO) != 0)
    before.sa_sigaction(number, info, context);
  else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
    before.sa_handler(number);
  else
    sigaction(SIGSEGV, &before, nullptr);  // the access is tried again, and faults again
}

/// Faults come where the program reads or writes its memory, so that nothing of MPI or of malloc is
/// under way; both may be called here.
void on_fault(int number, siginfo_t* info, void* context) {
  const int error = errno;
  const Region& region = memory->region();
  bool is_ours = false;
  try {
    is_ours = region.contains(info->si_addr) && memory->touch(region.page_of(info->si_addr));
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  if (!is_ours) pass_on(number, info, context);
  errno = error;
}

/// The pages from first on to before last.
Range pages_of(const void* address, std::size_t bytes) {
  const Region& region = memory->region();
  const std::size_t first = region.page_of(address);
  if (bytes == 0) return {first, first};
  return {first, region.page_of(static_cast<const std::byte*>(address) + bytes - 1) + 1};
}

}  // namespace

void init(MPI_Comm comm, std::size_t bytes, const Options& options) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  memory = std::make_unique<Memory>(comm, (bytes + page - 1) / page, options);
  struct sigaction own = {};
  own.sa_sigaction = on_fault;
  own.sa_flags = SA_SIGINFO;
  sigemptyset(&own.sa_mask);
  sigaction(SIGSEGV, &own, &before);
}

void finalize() {
  barrier();  // whoever still wants pages gets them
  sigaction(SIGSEGV, &before, nullptr);
  memory.reset();
}

void* alloc_bytes(std::size_t bytes) { return memory->alloc(bytes); }

void barrier() { memory->barrier(); }

void fetch(const void* address, std::size_t bytes) {
  const Range pages = pages_of(address, bytes);
  memory->fetch(pages.first, pages.last);
}

void prepare(void* address, std::size_t bytes) {
  const Range pages = pages_of(address, bytes);
  memory->make_writable(pages.first, pages.last);
}

void serve() { memory->serve(); }

int home(const void* address) { return memory->home(memory->region().page_of(address)); }

std::size_t page_bytes() { return memory->region().page_bytes(); }

Statistics statistics() { return memory->statistics(); }

}  // namespace apps::dsm
