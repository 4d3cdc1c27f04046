// How blocks of different lengths for all others go through one slot: the packets of scatterv and
// alltoallv.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "node/blocks.h"
#include "node/direct.h"

namespace unisono::node {

/// How far a rank is with its blocks for the others: they all take equally many chunks.
struct Progress {
  std::int32_t chunk = 0;   ///< negative: not yet
  std::int32_t chunks = 0;  ///< 0: the whole blocks are in the cell
  /// Of a block of so many bytes its address is posted. kNever: there is none.
  std::size_t direct_from = DirectFrom::kNever;

  bool has_addresses() const { return direct_from != DirectFrom::kNever; }
  bool is_address(std::size_t block) const { return block >= direct_from; }
  std::size_t posted(std::size_t block) const {
    return is_address(block) ? sizeof(std::byte*) : block;
  }
  /// An address comes whole and first.
  Chunk part(std::size_t block) const {
    if (chunks == 0 || is_address(block)) return {0, chunk == 0 ? posted(block) : 0};
    if (chunk < 0 || chunk >= chunks) return {};
    const std::size_t each =
        chunks == 1 ? block : quotient_up(block, static_cast<std::size_t>(chunks));
    return clip({static_cast<std::size_t>(chunk) * each, each}, block);
  }
};

/// Where a part begins.
using Place = std::uint16_t;
constexpr std::size_t kMostTabled = (kInline - sizeof(Progress)) / sizeof(Place);

/// The sizes of a packet that all ranks know.
class PacketForm {
 public:
  explicit PacketForm(const Team& team)
      : size_(static_cast<std::size_t>(team.size())),
        slot_bytes_(team.slot_bytes()),
        equal_part_(slot_bytes_ / size_) {}

  int size() const { return static_cast<int>(size_); }
  bool has_table() const { return size_ <= kMostTabled; }
  /// Of the cell: blocks begin behind it. All of it, if there is no room for a table.
  std::size_t head() const {
    return sizeof(Progress) + std::min(size_, kMostTabled) * sizeof(Place);
  }
  /// Without a table.
  std::size_t equal_part() const { return equal_part_; }
  /// Parts begin on cache lines, or as addresses do, where that takes less than half of the slot.
  int log_unit() const {
    constexpr std::size_t kCacheLine = 64;
    if (equal_part_ >= 2 * kCacheLine) return 6;
    return equal_part_ >= 2 * sizeof(std::byte*) ? 3 : 0;
  }
  /// They take no more than what rounding up does.
  bool has_room_for_addresses() const { return log_unit() >= 3; }
  /// Of a slot, what is left whatever is rounded up.
  std::size_t room() const {
    const std::size_t reached = std::size_t{std::numeric_limits<Place>::max()} << log_unit();
    return std::min(slot_bytes_, reached) - ((size_ - 1) << log_unit());
  }

 private:
  std::size_t size_, slot_bytes_, equal_part_;
};

/// What a rank posts when it has a block for each of the others. Every block has a part of the slot
/// that is as large as the block is among all: much for few takes no more steps than a little for
/// each. The cell says where the parts begin.
class Packet {
 public:
  Packet(const PacketForm& form, const Posted<SharedMemory>& posted, int writer)
      : form_(form), writer_(writer), cell_(posted.cell_of(writer)), slot_(posted.of(writer)) {}

  /// Of blocks of these lengths, directly from one of them on. All are in the cell if they `may`,
  /// and fit.
  static Progress progress_of(const PacketForm& form, int writer, PerRank counts,
                              std::size_t direct_from, bool may_be_in_cell) {
    Progress progress;
    if (!form.has_room_for_addresses()) direct_from = DirectFrom::kNever;
    std::size_t total = 0, largest = 0;
    for (int rank = 0; rank < form.size(); ++rank) {
      if (rank == writer) continue;
      if (bytes_of(counts, rank) >= direct_from) progress.direct_from = direct_from;
      const std::size_t posted = progress.posted(bytes_of(counts, rank));
      total += posted;
      largest = std::max(largest, posted);
    }
    if (may_be_in_cell && form.head() + total <= kInline) return progress;
    const std::size_t chunks = form.has_table() ? quotient_up(total, form.room())
                                                : quotient_up(largest, form.equal_part());
    progress.chunks = static_cast<std::int32_t>(chunks);
    return progress;
  }

  // Others look at the cell all the time: each of these writes would fetch its line back from them,
  // so it is made elsewhere and written at once.
  void write(const Team& team, const Progress& progress, const std::byte* input, PerRank counts,
             PerRank displs) {
    Cell cell;
    cell.progress = progress;
    const bool in_cell = progress.chunks == 0 && form_.has_table();
    const int log_unit = in_cell ? 0 : form_.log_unit();
    const std::size_t unit = std::size_t{1} << log_unit;
    std::byte* base = in_cell ? reinterpret_cast<std::byte*>(&cell) : slot_;
    std::size_t begin = in_cell ? form_.head() : 0;
    for (int rank = 0; rank < form_.size(); ++rank) {
      if (rank == writer_) continue;
      const std::size_t block = bytes_of(counts, rank);
      const Chunk part = progress.part(block);
      if (form_.has_table())
        cell.places[static_cast<std::size_t>(rank)] = static_cast<Place>(begin >> log_unit);
      else
        begin = at(rank, form_.equal_part());
      if (!progress.is_address(block))
        copy_in(team, base + begin, input, displs, rank, part);
      else if (part.size > 0)
        show_address(base + begin, input + displs[static_cast<std::size_t>(rank)]);
      begin = (begin + part.size + unit - 1) & ~(unit - 1);
    }
    const std::size_t head = form_.has_table() ? form_.head() : sizeof(Progress);
    std::memcpy(cell_, &cell, in_cell ? begin : head);
  }

  const Progress& progress() const { return cell().progress; }
  /// What has come of the block for this rank, which begins at `output`. False: it could not be
  /// copied from its address.
  bool read(Team& team, std::byte* output, std::size_t block) const {
    const Chunk part = progress().part(block);
    if (part.size == 0) return true;
    const std::byte* where = part_of(team.rank());
    if (progress().is_address(block)) return pull(team, writer_, output, address_at(where), block);
    copy_bytes(output + part.begin, where, part.size);
    return true;
  }

 private:
  const std::byte* part_of(int rank) const {
    if (!form_.has_table()) return slot_ + at(rank, form_.equal_part());
    const std::size_t place = cell().places[static_cast<std::size_t>(rank)];
    return progress().chunks == 0 ? cell_ + place : slot_ + (place << form_.log_unit());
  }

  struct Cell {
    Progress progress;
    /// In units of the slot, or bytes of the cell: whole blocks begin behind the last rank's place.
    std::array<Place, kMostTabled> places;
  };
  static_assert(sizeof(Cell) == kInline);

  Cell& cell() const { return *reinterpret_cast<Cell*>(cell_); }

  const PacketForm& form_;
  int writer_;
  std::byte *cell_, *slot_;
};

}  // namespace unisono::node
