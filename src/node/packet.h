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

/// Where a part begins, or in the cell where it ends.
using Place = std::uint16_t;
constexpr std::size_t kMostTabled = (kInline - sizeof(Progress)) / sizeof(Place);

/// The sizes of a packet that all ranks know.
class PacketForm {
 public:
  explicit PacketForm(const Team& team)
      : size_(static_cast<std::size_t>(team.size())),
        slot_bytes_(team.slot_bytes()),
        equal_part_(slot_bytes_ / size_),
        log_unit_(equal_part_ >= 2 * (kCacheLine + kWord) ? 6 : (has_words() ? 3 : 0)) {}

  int size() const { return static_cast<int>(size_); }
  bool has_table() const { return size_ <= kMostTabled; }
  /// Of the cell: blocks begin behind it. All of it, if there is no room for a table.
  std::size_t head() const {
    return sizeof(Progress) + std::min(size_, kMostTabled) * sizeof(Place);
  }
  /// Whether a part in the slot has room for its block's length before it, and for an address.
  bool has_words() const { return equal_part_ >= 2 * kWord; }
  std::size_t length_bytes() const { return has_words() ? kWord : 0; }
  /// Where the part of `rank` begins without a table.
  std::size_t equal_place(int rank) const { return at(rank, equal_part_) + length_bytes(); }
  std::size_t equal_room() const { return equal_part_ - length_bytes(); }
  /// Parts begin on cache lines, or as words do, where that takes less than half of the slot.
  int log_unit() const { return log_unit_; }
  /// Where a part with its length before it begins, behind what ends at `end`.
  std::size_t next_place(std::size_t end) const {
    const std::size_t unit = std::size_t{1} << log_unit_;
    return (end + length_bytes() + unit - 1) & ~(unit - 1);
  }
  /// Of a slot, what is left whatever is rounded up.
  std::size_t room() const {
    const std::size_t unit = std::size_t{1} << log_unit_;
    const std::size_t reached = std::size_t{std::numeric_limits<Place>::max()} * unit;
    return std::min(slot_bytes_, reached) - (size_ - 1) * (unit + length_bytes());
  }

 private:
  static constexpr std::size_t kCacheLine = 64, kWord = sizeof(std::uint64_t);
  static_assert(sizeof(std::size_t) == kWord && sizeof(std::byte*) == kWord);

  std::size_t size_, slot_bytes_, equal_part_;
  int log_unit_;
};

/// What a rank posts when it has a block for each of the others. Every block has a part of the slot
/// that is as large as the block is among all: much for few takes no more steps than a little for
/// each. The cell says where the parts begin. A reader finds in the packet how long its block is,
/// and takes no more of it than it has room for.
class Packet {
 public:
  Packet(const PacketForm& form, const Posted<SharedMemory>& posted, int writer)
      : form_(form), writer_(writer), cell_(posted.cell_of(writer)), slot_(posted.of(writer)) {}

  /// Of blocks of these lengths, directly from one of them on. All are in the cell if they `may`,
  /// and fit, and none goes directly.
  static Progress progress_of(const PacketForm& form, int writer, PerRank counts,
                              std::size_t direct_from, bool may_be_in_cell) {
    Progress progress;
    if (!form.has_words()) direct_from = DirectFrom::kNever;
    std::size_t total = 0, largest = 0;
    for (int rank = 0; rank < form.size(); ++rank) {
      if (rank == writer) continue;
      if (bytes_of(counts, rank) >= direct_from) progress.direct_from = direct_from;
      const std::size_t posted = progress.posted(bytes_of(counts, rank));
      total += posted;
      largest = std::max(largest, posted);
    }
    if (may_be_in_cell && !progress.has_addresses() && form.head() + total <= kInline)
      return progress;
    const std::size_t chunks = form.has_table() ? quotient_up(total, form.room())
                                                : quotient_up(largest, form.equal_room());
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
    std::size_t end = in_cell ? form_.head() : 0;
    for (int rank = 0; rank < form_.size(); ++rank) {
      const std::size_t block = rank == writer_ ? 0 : bytes_of(counts, rank);
      const Chunk part = progress.part(block);
      if (in_cell) {
        copy_in(team, reinterpret_cast<std::byte*>(&cell) + end, input, displs, rank, part);
        end += part.size;
        cell.places[static_cast<std::size_t>(rank)] = static_cast<Place>(end);
        continue;
      }
      const std::size_t place = place_in_slot(rank, part, end);
      if (form_.has_table())
        cell.places[static_cast<std::size_t>(rank)] =
            part.size == 0 ? kNothing : static_cast<Place>(place >> form_.log_unit());
      if (rank == writer_ || (part.size == 0 && form_.has_table())) continue;
      const std::size_t length = part.size == 0 ? 0 : block;
      if (form_.has_words()) std::memcpy(slot_ + place - sizeof length, &length, sizeof length);
      if (!progress.is_address(block))
        copy_in(team, slot_ + place, input, displs, rank, part);
      else if (part.size > 0)
        show_address(slot_ + place, input + displs[static_cast<std::size_t>(rank)]);
      end = place + part.size;
    }
    const std::size_t head = form_.has_table() ? form_.head() : sizeof(Progress);
    std::memcpy(cell_, &cell, in_cell ? end : head);
  }

  const Progress& progress() const { return cell().progress; }

  /// What a reader has of its block.
  struct Taken {
    std::size_t block = 0;  ///< its length, 0 where nothing of it is in this packet
    bool copied = true;     ///< false: it could not be copied from its address
  };
  /// What has come of the block for this rank, into the `room` bytes at `output`.
  Taken read(Team& team, std::byte* output, std::size_t room) const {
    const int me = team.rank();
    const Progress& from = progress();
    const std::byte* where = cell_;
    std::size_t block = 0;
    if (from.chunk < 0) return {};
    if (form_.has_table() && from.chunks == 0) {
      const std::size_t begin = me == 0 ? form_.head() : place_of(me - 1);
      block = place_of(me) - begin;
      where += begin;
    } else if (from.chunks != 0) {
      if (form_.has_table() && place_of(me) == kNothing) return {};
      where =
          slot_ + (form_.has_table() ? place_of(me) << form_.log_unit() : form_.equal_place(me));
      block = room;
      if (form_.has_words()) std::memcpy(&block, where - sizeof block, sizeof block);
    }
    const Chunk part = from.part(block);
    if (part.size == 0) return {block};
    if (from.is_address(block))
      return {block, pull(team, writer_, output, address_at(where), std::min(block, room))};
    const Chunk taken = clip(part, room);
    copy_bytes(output + taken.begin, where, taken.size);
    return {block};
  }

 private:
  /// In the table, of a rank for which there is nothing in the slot.
  static constexpr Place kNothing = std::numeric_limits<Place>::max();

  std::size_t place_in_slot(int rank, const Chunk& part, std::size_t end) const {
    if (!form_.has_table()) return form_.equal_place(rank);
    return part.size == 0 ? end : form_.next_place(end);
  }
  std::size_t place_of(int rank) const { return cell().places[static_cast<std::size_t>(rank)]; }

  struct Cell {
    Progress progress;
    /// Where each rank's part begins, in units of the slot; in the cell where it ends, in bytes.
    std::array<Place, kMostTabled> places;
  };
  static_assert(sizeof(Cell) == kInline);

  Cell& cell() const { return *reinterpret_cast<Cell*>(cell_); }

  const PacketForm& form_;
  int writer_;
  std::byte *cell_, *slot_;
};

}  // namespace unisono::node
