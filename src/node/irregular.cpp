// Collectives whose blocks have different lengths.
//
// All ranks must take the same steps, and where none knows all lengths they cannot foresee how
// many. So the first step carries data like any other and, in the cells beside it, what the others
// need to know: a call whose blocks fit in the cells takes this step only.
//
// Long blocks are copied directly, each as its own two ranks decide, who both know its length: in
// the first step one shows the other where its end is. All see in it whether there is such a block,
// and take a step more, after which everybody is through with the others' memory.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "node/copy.h"
#include "node/direct.h"
#include "node/kernels.h"
#include "node/pipeline.h"
#include "node/reduce_blocks.h"

namespace unisono::node {

namespace {

std::size_t bytes_of(PerRank counts, int rank) {
  return static_cast<std::size_t>(counts[static_cast<std::size_t>(rank)]);
}

std::size_t largest_of(PerRank counts) {
  std::int64_t largest = 0;
  for (const std::int64_t count : counts) largest = std::max(largest, count);
  return static_cast<std::size_t>(largest);
}

// To divide takes as long as much of a short call's bookkeeping.
std::size_t quotient_up(std::size_t total, std::size_t each) {
  if (total <= each) return total == 0 ? 0 : 1;
  return (total + each - 1) / each;
}

// A block without bytes may have no address.
void copy_in(std::byte* to, const std::byte* input, PerRank displs, int rank, Chunk part) {
  const std::int64_t begin = displs[static_cast<std::size_t>(rank)];
  if (part.size > 0) copy_bytes(to, input + begin + part.begin, part.size);
}
void copy_out(std::byte* output, PerRank displs, int rank, Chunk part, const std::byte* from) {
  const std::int64_t begin = displs[static_cast<std::size_t>(rank)];
  if (part.size > 0) copy_bytes(output + begin + part.begin, from, part.size);
}

/// Of a block in the memory of the rank that shows it.
template <class Byte>
void show_address(std::byte* where, Byte* address) {
  std::memcpy(where, &address, sizeof address);
}
std::byte* address_at(const std::byte* where) {
  std::byte* address = nullptr;
  std::memcpy(&address, where, sizeof address);
  return address;
}

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
  void write(const Progress& progress, const std::byte* input, PerRank counts, PerRank displs) {
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
        copy_in(base + begin, input, displs, rank, part);
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

/// What the root of gatherv tells the others.
struct GatherPlan {
  std::size_t rounds = 1;
  bool directly = false;  ///< some blocks
};

/// How a block goes to the root of gatherv, as the root and its rank see it alike.
class GatherForm {
 public:
  explicit GatherForm(const Team& team) : team_(team), slot_(team.slot_bytes()) {
    if (at(team.size(), sizeof(std::byte*)) <= slot_) direct_from_ = team.direct_from().gather;
  }

  bool is_direct(std::size_t block) const { return block >= direct_from_; }
  std::size_t rounds(std::size_t block) const {
    return is_direct(block) ? 0 : quotient_up(block, slot_);
  }
  Chunk part(std::size_t round, std::size_t block) const {
    if (is_direct(block)) return {};
    if (block <= kInline) return {0, round == 0 ? block : 0};
    return clip({round * slot_, slot_}, block);
  }
  std::byte* place(const Posted<SharedMemory>& posted, int rank, std::size_t block) const {
    return block <= kInline ? posted.cell_of(rank) : posted.of(rank);
  }
  /// The root shows where blocks go that are written directly.
  void show(std::byte* table, std::byte* output, PerRank counts, PerRank displs) const {
    for_others(team_, [&](int rank) {
      if (is_direct(bytes_of(counts, rank)))
        show_address(table + at(rank, sizeof(std::byte*)),
                     output + displs[static_cast<std::size_t>(rank)]);
    });
  }

 private:
  const Team& team_;
  std::size_t slot_;
  std::size_t direct_from_ = DirectFrom::kNever;
};

}  // namespace

void allgatherv(Team& team, const std::byte* input, std::byte* output, PerRank counts,
                PerRank displs) {
  const std::size_t largest = largest_of(counts), mine = bytes_of(counts, team.rank());
  if (largest == 0) return;
  const auto copy_own = [&] { copy_out(output, displs, team.rank(), {0, mine}, input); };
  const auto pull_from = [&](int rank, const std::byte* from) {
    const std::size_t bytes = bytes_of(counts, rank);
    return bytes == 0 ||
           pull(team, rank, output + displs[static_cast<std::size_t>(rank)], from, bytes);
  };
  if (largest >= team.direct_from().allgather &&
      copy_directly(team, {input, output}, [&](const auto& shown) {
        copy_own();
        return all_others(team, [&](int rank) { return pull_from(rank, shown(rank).input); });
      }))
    return;
  copy_own();
  exchange(
      team, Cut{largest, team.slot_bytes()},
      [&](Chunk chunk, std::byte* where) {
        const Chunk part = clip(chunk, mine);
        copy_bytes(where, input + part.begin, part.size);
      },
      [&](Chunk chunk, const auto& posted) {
        for_others(team, [&](int rank) {
          const Chunk part = clip(chunk, bytes_of(counts, rank));
          if (part.size > 0) copy_out(output, displs, rank, part, posted.await(rank));
        });
      });
}

// The root alone knows how many rounds there are and says so in its cell: the others wait for that,
// and for nobody else. Short blocks go in the cells; long ones their ranks write to where the
// root's slot says, all at the same time.
void gatherv(Team& team, const std::byte* input, std::size_t bytes, std::byte* output,
             PerRank counts, PerRank displs, int root) {
  const int me = team.rank();
  const bool is_root = me == root;
  const GatherForm form(team);
  GatherPlan plan;
  bool copied = true;
  if (is_root) {
    for_others(team, [&](int rank) {
      const std::size_t block = bytes_of(counts, rank);
      plan.directly |= form.is_direct(block);
      plan.rounds = std::max(plan.rounds, form.rounds(block));
    });
  }
  exchange_rounds(
      team,
      [&](std::size_t round, const auto& posted) {
        if (is_root) {
          std::memcpy(posted.cell_of(root), &plan, sizeof plan);
          if (plan.directly && round == 0) form.show(posted.of(root), output, counts, displs);
          return;
        }
        const Chunk part = form.part(round, bytes);
        copy_bytes(form.place(posted, me, bytes), input + part.begin, part.size);
      },
      [&](const auto& posted) {
        posted.await(root);
        std::memcpy(&plan, posted.cell_of(root), sizeof plan);
        return plan.rounds;
      },
      [&](std::size_t round, const auto& posted) {
        if (!is_root) {
          if (form.is_direct(bytes) && round == 0)
            copied = push(team, root, address_at(posted.of(root) + at(me, sizeof(std::byte*))),
                          input, bytes);
          return;
        }
        if (round == 0) copy_out(output, displs, me, {0, bytes}, input);
        for_others(team, [&](int rank) {
          const std::size_t block = bytes_of(counts, rank);
          const Chunk part = form.part(round, block);
          if (part.size == 0) return;
          posted.await(rank);
          copy_out(output, displs, rank, part, form.place(posted, rank, block));
        });
      });
  if (!plan.directly) return;
  be_through_with_root(team, root, copied, [&](int rank) {
    if (!is_root) return give_through_relay(team, rank, input, bytes);
    receive_through_relay(team, rank, rank, output + displs[static_cast<std::size_t>(rank)],
                          bytes_of(counts, rank));
  });
}

void scatterv(Team& team, const std::byte* input, PerRank counts, PerRank displs, std::byte* output,
              std::size_t bytes, int root) {
  const bool is_root = team.rank() == root;
  const PacketForm form(team);
  Progress progress;
  bool copied = true;
  if (is_root) progress = Packet::progress_of(form, root, counts, team.direct_from().scatter, true);
  const auto rounds = [&progress] {
    return static_cast<std::size_t>(std::max(1, progress.chunks));
  };
  post_rounds(
      team, root,
      [&](std::size_t round, const auto& posted) {
        progress.chunk = static_cast<std::int32_t>(round);
        Packet(form, posted, root).write(progress, input, counts, displs);
        return rounds();
      },
      [&](std::size_t, const auto& posted) {
        const Packet packet(form, posted, root);
        progress = packet.progress();
        copied &= packet.read(team, output, bytes);
        return rounds();
      });
  if (is_root) copy_in(output, input, displs, root, {0, bytes});
  if (!progress.has_addresses()) return;
  be_through_with_root(team, root, copied, [&](int rank) {
    if (!is_root) return receive_through_relay(team, rank, root, output, bytes);
    give_through_relay(team, rank, input + displs[static_cast<std::size_t>(rank)],
                       bytes_of(counts, rank));
  });
}

// Every rank's blocks take as many chunks as they need, which is in its cell. In place, where a
// block may be overwritten only as far as it has been posted, all take as many as the slowest;
// nobody knows before the second round how many that is.
void alltoallv(Team& team, const std::byte* input, PerRank send_counts, PerRank send_displs,
               std::byte* output, PerRank recv_counts, PerRank recv_displs) {
  const int me = team.rank();
  const bool in_place = input == output;
  const PacketForm form(team);
  Progress mine =
      Packet::progress_of(form, me, send_counts,
                          in_place ? DirectFrom::kNever : team.direct_from().alltoall, !in_place);
  if (in_place) mine.chunk = -1;
  bool directly = false, copied = true;
  if (const Chunk own{0, bytes_of(send_counts, me)}; own.size > 0 && !in_place)
    copy_out(output, recv_displs, me, own, input + send_displs[static_cast<std::size_t>(me)]);
  exchange_rounds(
      team,
      [&](std::size_t, const auto& posted) {
        Packet(form, posted, me).write(mine, input, send_counts, send_displs);
        ++mine.chunk;
      },
      [&](const auto& posted) {
        std::int32_t rounds = 1;
        for (int rank = 0; rank < team.size(); ++rank) {
          posted.await(rank);
          const Progress theirs = Packet(form, posted, rank).progress();
          rounds = std::max(rounds, theirs.chunks - theirs.chunk);
          directly |= theirs.has_addresses();
        }
        if (in_place) mine.chunks = rounds - 1;
        return static_cast<std::size_t>(rounds);
      },
      [&](std::size_t, const auto& posted) {
        for_others(team, [&](int rank) {
          const std::size_t block = bytes_of(recv_counts, rank);
          if (block == 0) return;
          posted.await(rank);
          const Packet packet(form, posted, rank);
          copied &= packet.read(team, output + recv_displs[static_cast<std::size_t>(rank)], block);
        });
      });
  if (!directly) return;
  const Step step = team.take(1);
  be_through(team, step, true, copied);
  for (int rank = 0; rank < team.size(); ++rank) copied &= told_by<bool>(team, rank, step);
  team.finish(step);
  if (copied) return;
  // Nobody is in place, for then nothing goes directly: what was sent is still there.
  team.forbid_direct();
  alltoallv(team, input, send_counts, send_displs, output, recv_counts, recv_displs);
}

// Where one block is far longer than the others, reduce_blocks would send it through a p-th part of
// the slots, and its rank would reduce alone. Then all ranks work on all blocks, in two steps for
// each slot full of them.
void reduce_scatter(Team& team, const std::byte* input, std::byte* output, PerRank counts,
                    const Reduction& reduction) {
  const auto block_of = [&](int rank) { return bytes_of(counts, rank) * reduction.element_bytes; };
  std::size_t largest = 0, total = 0;
  Chunk mine;
  for (int rank = 0; rank < team.size(); ++rank) {
    if (rank == team.rank()) mine = {total, block_of(rank)};
    largest = std::max(largest, block_of(rank));
    total += block_of(rank);
  }
  const bool is_uneven = largest * static_cast<std::size_t>(team.size()) > 2 * total;
  if (is_uneven && largest > part_of_slot(team, reduction))
    reduce_slices(team, input, output, total, reduction, mine);
  else
    reduce_blocks(team, input, output, largest, block_of, reduction);
}

}  // namespace unisono::node
