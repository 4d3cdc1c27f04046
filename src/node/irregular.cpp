// Collectives whose blocks have different lengths.
//
// All ranks must take the same steps, and where none knows all lengths they cannot foresee how
// many. So the first step carries data like any other and, in the cells beside it, what the others
// need to know: a call whose blocks fit in the cells takes this step only.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "node/copy.h"
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

std::size_t quotient_up(std::size_t total, std::size_t each) { return (total + each - 1) / each; }

// A block without bytes may have no address.
void copy_in(std::byte* to, const std::byte* input, PerRank displs, int rank, Chunk part) {
  const std::int64_t begin = displs[static_cast<std::size_t>(rank)];
  if (part.size > 0) copy_bytes(to, input + begin + part.begin, part.size);
}
void copy_out(std::byte* output, PerRank displs, int rank, Chunk part, const std::byte* from) {
  const std::int64_t begin = displs[static_cast<std::size_t>(rank)];
  if (part.size > 0) copy_bytes(output + begin + part.begin, from, part.size);
}

/// How far a rank is with its blocks for the others: they all take equally many chunks.
struct Progress {
  std::int64_t chunk = 0;   ///< negative: not yet
  std::int64_t chunks = 0;  ///< 0: the whole blocks are in the cell

  Chunk part(std::size_t block) const {
    if (chunks == 0) return {0, chunk == 0 ? block : 0};
    if (chunk < 0 || chunk >= chunks) return {};
    const std::size_t each = quotient_up(block, static_cast<std::size_t>(chunks));
    return clip({static_cast<std::size_t>(chunk) * each, each}, block);
  }
};

/// What a rank posts when it has a block for each of the others. Every block has a part of the slot
/// that is as large as the block is among all: much for few takes no more steps than a little for
/// each. The cell says where the parts begin.
class Packet {
 public:
  Packet(const Team& team, const Posted<SharedMemory>& posted, int writer)
      : form_(team), writer_(writer), cell_(posted.cell_of(writer)), slot_(posted.of(writer)) {}

  /// So many chunks blocks of these lengths take; 0 if they `may` all be in the cell, and fit.
  static std::int64_t chunks(const Team& team, PerRank counts, bool may_be_in_cell) {
    const Form form(team);
    std::size_t total = 0, largest = 0;
    for (int rank = 0; rank < team.size(); ++rank) {
      if (rank == team.rank()) continue;
      total += bytes_of(counts, rank);
      largest = std::max(largest, bytes_of(counts, rank));
    }
    if (may_be_in_cell && form.head() + total <= kInline) return 0;
    const std::size_t chunks = form.has_table() ? quotient_up(total, form.room())
                                                : quotient_up(largest, form.equal_part());
    return static_cast<std::int64_t>(chunks);
  }

  void write(const Progress& progress, const std::byte* input, PerRank counts, PerRank displs) {
    cell().progress = progress;
    const bool in_cell = progress.chunks == 0;
    const std::size_t unit = in_cell ? 1 : form_.unit();
    std::byte* base = in_cell ? cell_ : slot_;
    std::size_t begin = in_cell ? form_.head() : 0;
    for (int rank = 0; rank < form_.size; ++rank) {
      if (rank == writer_) continue;
      const Chunk part = progress.part(bytes_of(counts, rank));
      if (form_.has_table())
        cell().places[static_cast<std::size_t>(rank)] = static_cast<Place>(begin / unit);
      else
        begin = at(rank, form_.equal_part());
      copy_in(base + begin, input, displs, rank, part);
      begin = (begin + part.size + unit - 1) & ~(unit - 1);
    }
  }

  const Progress& progress() const { return cell().progress; }
  /// Where the part for `rank` is.
  const std::byte* part_of(int rank) const {
    if (!form_.has_table()) return slot_ + at(rank, form_.equal_part());
    const std::size_t place = cell().places[static_cast<std::size_t>(rank)];
    return progress().chunks == 0 ? cell_ + place : slot_ + place * form_.unit();
  }

 private:
  using Place = std::uint16_t;
  static constexpr std::size_t kMostTabled = (kInline - sizeof(Progress)) / sizeof(Place);

  struct Cell {
    Progress progress;
    /// In units of the slot, or bytes of the cell: whole blocks begin behind the last rank's place.
    std::array<Place, kMostTabled> places;
  };
  static_assert(sizeof(Cell) == kInline);

  /// The sizes that all ranks know.
  struct Form {
    explicit Form(const Team& team) : size(team.size()), slot_bytes(team.slot_bytes()) {}

    bool has_table() const { return ranks() <= kMostTabled; }
    /// Of the cell: blocks begin behind it. All of it, if there is no room for a table.
    std::size_t head() const {
      return sizeof(Progress) + std::min(ranks(), kMostTabled) * sizeof(Place);
    }
    /// Without a table.
    std::size_t equal_part() const { return slot_bytes / ranks(); }
    /// Parts begin on cache lines, where that takes less than half of the slot.
    std::size_t unit() const {
      constexpr std::size_t kCacheLine = 64;
      return equal_part() < 2 * kCacheLine ? 1 : kCacheLine;
    }
    /// Of a slot, what is left whatever is rounded up.
    std::size_t room() const {
      const std::size_t reached = std::numeric_limits<Place>::max() * unit();
      return std::min(slot_bytes, reached) - (ranks() - 1) * unit();
    }
    std::size_t ranks() const { return static_cast<std::size_t>(size); }

    int size;
    std::size_t slot_bytes;
  };

  Cell& cell() const { return *reinterpret_cast<Cell*>(cell_); }

  Form form_;
  int writer_;
  std::byte *cell_, *slot_;
};

}  // namespace

void allgatherv(Team& team, const std::byte* input, std::byte* output, PerRank counts,
                PerRank displs) {
  const std::size_t largest = largest_of(counts), mine = bytes_of(counts, team.rank());
  if (largest == 0) return;
  copy_out(output, displs, team.rank(), {0, mine}, input);
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
// and for nobody else. Short blocks go in the cells.
void gatherv(Team& team, const std::byte* input, std::size_t bytes, std::byte* output,
             PerRank counts, PerRank displs, int root) {
  const int me = team.rank();
  const bool is_root = me == root;
  const std::size_t slot = team.slot_bytes();
  const auto part_of = [slot](std::size_t round, std::size_t block) -> Chunk {
    if (block <= kInline) return {0, round == 0 ? block : 0};
    return clip({round * slot, slot}, block);
  };
  const auto place_of = [](const auto& posted, int rank, std::size_t block) {
    return block <= kInline ? posted.cell_of(rank) : posted.of(rank);
  };
  std::size_t rounds = 1;
  if (is_root) {
    for_others(team, [&](int rank) {
      rounds = std::max(rounds, quotient_up(bytes_of(counts, rank), slot));
    });
    copy_out(output, displs, me, {0, bytes}, input);
  }
  exchange_rounds(
      team,
      [&](std::size_t round, const auto& posted) {
        if (is_root) {
          std::memcpy(posted.cell_of(root), &rounds, sizeof rounds);
          return;
        }
        const Chunk part = part_of(round, bytes);
        copy_bytes(place_of(posted, me, bytes), input + part.begin, part.size);
      },
      [&](const auto& posted) {
        posted.await(root);
        std::memcpy(&rounds, posted.cell_of(root), sizeof rounds);
        return rounds;
      },
      [&](std::size_t round, const auto& posted) {
        if (!is_root) return;
        for_others(team, [&](int rank) {
          const std::size_t block = bytes_of(counts, rank);
          const Chunk part = part_of(round, block);
          if (part.size == 0) return;
          posted.await(rank);
          copy_out(output, displs, rank, part, place_of(posted, rank, block));
        });
      });
}

void scatterv(Team& team, const std::byte* input, PerRank counts, PerRank displs, std::byte* output,
              std::size_t bytes, int root) {
  Progress progress;
  if (team.rank() == root) {
    progress.chunks = Packet::chunks(team, counts, true);
    copy_in(output, input, displs, root, {0, bytes});
  }
  const auto rounds = [&progress] {
    return static_cast<std::size_t>(std::max<std::int64_t>(1, progress.chunks));
  };
  post_rounds(
      team, root,
      [&](std::size_t round, const auto& posted) {
        progress.chunk = static_cast<std::int64_t>(round);
        Packet(team, posted, root).write(progress, input, counts, displs);
        return rounds();
      },
      [&](std::size_t, const auto& posted) {
        const Packet packet(team, posted, root);
        progress = packet.progress();
        const Chunk part = progress.part(bytes);
        copy_bytes(output + part.begin, packet.part_of(team.rank()), part.size);
        return rounds();
      });
}

// Every rank's blocks take as many chunks as they need, which is in its cell. In place, where a
// block may be overwritten only as far as it has been posted, all take as many as the slowest;
// nobody knows before the second round how many that is.
void alltoallv(Team& team, const std::byte* input, PerRank send_counts, PerRank send_displs,
               std::byte* output, PerRank recv_counts, PerRank recv_displs) {
  const int me = team.rank();
  const bool in_place = input == output;
  Progress mine{in_place ? -1 : 0, Packet::chunks(team, send_counts, !in_place)};
  if (!in_place) {
    const Chunk own{0, bytes_of(send_counts, me)};
    if (own.size > 0)
      copy_out(output, recv_displs, me, own, input + send_displs[static_cast<std::size_t>(me)]);
  }
  exchange_rounds(
      team,
      [&](std::size_t, const auto& posted) {
        Packet(team, posted, me).write(mine, input, send_counts, send_displs);
        ++mine.chunk;
      },
      [&](const auto& posted) {
        std::int64_t rounds = 1;
        for (int rank = 0; rank < team.size(); ++rank) {
          posted.await(rank);
          const Progress theirs = Packet(team, posted, rank).progress();
          rounds = std::max(rounds, theirs.chunks - theirs.chunk);
        }
        if (in_place) mine.chunks = rounds - 1;
        return static_cast<std::size_t>(rounds);
      },
      [&](std::size_t, const auto& posted) {
        for_others(team, [&](int rank) {
          const std::size_t block = bytes_of(recv_counts, rank);
          if (block == 0) return;
          posted.await(rank);
          const Packet packet(team, posted, rank);
          const Progress theirs = packet.progress();
          copy_out(output, recv_displs, rank, theirs.part(block), packet.part_of(me));
        });
      });
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
