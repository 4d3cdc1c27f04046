// The ranks of a communicator that share a node, and the arena through which they run collectives.
#pragma once
#include <sys/types.h>

#include <cassert>
#include <cstddef>
#include <span>

#include "node/flags.h"
#include "node/memory.h"
#include "node/tuning.h"

namespace unisono::node {

/// Flags, and kSlots slots of every rank through which long messages go in chunks.
/// One rank prepares the arena, and the others learn of it afterwards: that is the caller's
/// business.
template <class Memory>
class BasicTeam : public Flags<Memory> {
 public:
  static constexpr std::size_t arena_bytes(int size, std::size_t slot_bytes) {
    return Flags<Memory>::bytes(size) +
           static_cast<std::size_t>(size) * Memory::kSlots * round_up(slot_bytes);
  }

  /// Precondition: the arena has arena_bytes(size, smallest_slot(size)) at least, aligned to kLine.
  BasicTeam(std::span<std::byte> arena, int rank, int size, const WaitPolicy& policy = {})
      : Flags<Memory>(arena.data(), rank, size, policy),
        slots_(arena.data() + Flags<Memory>::bytes(size)),
        slot_bytes_(slot_bytes(arena, size)) {
    assert(arena.size() >= arena_bytes(size, smallest_slot(size)));
  }

  /// A slot has room for a byte to each rank.
  static constexpr std::size_t smallest_slot(int size) {
    return round_up(static_cast<std::size_t>(size));
  }
  std::size_t slot_bytes() const { return slot_bytes_; }
  std::byte* slot(int rank, unsigned index) {
    return slots_ + (static_cast<std::size_t>(rank) * Memory::kSlots + index) * slot_bytes_;
  }

  /// Before the first call, on all ranks or on none, and only where every rank can_reach() every
  /// other. `processes` of all ranks; they stay where they are.
  void allow_direct(std::span<const pid_t> processes, const DirectFrom& from) {
    assert(processes.size() == static_cast<std::size_t>(this->size()));
    processes_ = processes;
    direct_from_ = from;
  }
  const DirectFrom& direct_from() const { return direct_from_; }
  /// On all ranks alike, or on none.
  void set_read_all(const ReadAll& up_to) { read_all_up_to_ = up_to; }
  const ReadAll& read_all_up_to() const { return read_all_up_to_; }
  pid_t process(int rank) const { return processes_[static_cast<std::size_t>(rank)]; }

 private:
  static std::size_t slot_bytes(std::span<std::byte> arena, int size) {
    return (arena.size() - Flags<Memory>::bytes(size)) /
           (static_cast<std::size_t>(size) * Memory::kSlots) / kLine * kLine;
  }
  static constexpr std::size_t round_up(std::size_t bytes) {
    return (bytes + kLine - 1) / kLine * kLine;
  }

  std::byte* slots_;
  std::size_t slot_bytes_;
  std::span<const pid_t> processes_;
  DirectFrom direct_from_;
  ReadAll read_all_up_to_;
};

using Team = BasicTeam<SharedMemory>;

}  // namespace unisono::node
