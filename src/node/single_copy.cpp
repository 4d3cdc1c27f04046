#include "node/single_copy.h"

#include <cerrno>

namespace unisono::node {

constinit SystemCopies g_system_copies;

namespace {

// A call moves at most 2 GiB - 4 KiB, and less when a signal comes or when a page is missing.
bool transfer_all(Transfer transfer, pid_t process, std::byte* mine, std::byte* theirs,
                  std::size_t bytes) {
  while (bytes > 0) {
    const iovec local{mine, bytes}, remote{theirs, bytes};
    const ssize_t moved = transfer(process, &local, 1, &remote, 1, 0);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return false;
    const auto done = static_cast<std::size_t>(moved);
    mine += done;
    theirs += done;
    bytes -= done;
  }
  return true;
}

}  // namespace

bool read_memory(pid_t process, std::byte* to, const std::byte* from, std::size_t bytes) {
  return transfer_all(g_system_copies.read, process, to, const_cast<std::byte*>(from), bytes);
}

bool write_memory(pid_t process, std::byte* to, const std::byte* from, std::size_t bytes) {
  return transfer_all(g_system_copies.write, process, const_cast<std::byte*>(from), to, bytes);
}

bool can_reach(pid_t process, std::uint64_t* address, std::uint64_t value) {
  std::uint64_t seen = ~value;
  auto* here = reinterpret_cast<std::byte*>(&seen);
  auto* there = reinterpret_cast<std::byte*>(address);
  return read_memory(process, here, there, sizeof seen) && seen == value &&
         write_memory(process, there, here, sizeof seen);
}

}  // namespace unisono::node
