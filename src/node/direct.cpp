#include "node/direct.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "node/copy.h"
#include "node/single_copy.h"

namespace unisono::node {

namespace {

[[noreturn]] void give_up(const char* what, int rank, pid_t process) {
  const int reason = errno;
  std::fprintf(stderr, "unisono: cannot %s the memory of rank %d of this node (process %d): %s\n",
               what, rank, static_cast<int>(process), std::strerror(reason));
  std::abort();
}

}  // namespace

void SharedMemory::pull(int rank, pid_t process, std::byte* to, const std::byte* from,
                        std::size_t bytes) {
  if (!read_memory(process, to, from, bytes)) give_up("read", rank, process);
}

void pull(const Team& team, int rank, std::byte* to, const std::byte* from, std::size_t bytes) {
  if (rank == team.rank()) return copy_bytes(to, from, bytes);
  SharedMemory::pull(rank, team.process(rank), to, from, bytes);
}

void push(const Team& team, int rank, std::byte* to, const std::byte* from, std::size_t bytes) {
  if (rank == team.rank()) return copy_bytes(to, from, bytes);
  const pid_t process = team.process(rank);
  if (!write_memory(process, to, from, bytes)) give_up("write", rank, process);
}

}  // namespace unisono::node
