#include "node/direct.h"

#include <algorithm>

#include "node/copy.h"
#include "node/single_copy.h"

namespace unisono::node {

bool SharedMemory::pull(pid_t process, std::byte* to, const std::byte* from, std::size_t bytes) {
  return read_memory(process, to, from, bytes);
}

namespace {

using Copy = bool (*)(pid_t process, std::byte* to, const std::byte* from, std::size_t bytes);

bool try_copy(Team& team, Copy copy, int rank, std::byte* to, const std::byte* from,
              std::size_t bytes) {
  if (rank == team.rank()) {
    copy_bytes(to, from, bytes);
    return true;
  }
  if (team.may_copy() && copy(team.process(rank), to, from, bytes)) return true;
  team.note_failed_copy();
  return false;
}

}  // namespace

bool pull(Team& team, int rank, std::byte* to, const std::byte* from, std::size_t bytes) {
  return try_copy(team, read_memory, rank, to, from, bytes);
}

bool push(Team& team, int rank, std::byte* to, const std::byte* from, std::size_t bytes) {
  return try_copy(team, write_memory, rank, to, from, bytes);
}

bool push(Team& team, int rank, const Buffers& theirs, std::size_t begin, const std::byte* from,
          std::size_t bytes) {
  const std::size_t room = theirs.room - std::min(begin, theirs.room);
  return push(team, rank, theirs.output + begin, from, std::min(bytes, room));
}

}  // namespace unisono::node
