// Gatherv: lengths that a rank and the root know.
#include <algorithm>
#include <cstring>

#include "node/blocks.h"
#include "node/direct.h"

namespace unisono::node {

namespace {

/// What the root of gatherv tells the others.
struct GatherPlan {
  std::size_t rounds = 1;
  bool directly = false;  ///< some blocks
};

/// Where the root of gatherv wants a block that is written directly; nowhere: it wants none so.
struct Destination {
  std::byte* begin = nullptr;
  std::size_t room = 0;
};

/// How a block goes to the root of gatherv. The root goes by the length that it expects where a
/// block goes directly, and else by the one in front of the block's cell.
class GatherForm {
 public:
  GatherForm(const Team& team, Protocol way) : team_(team), slot_(team.slot_bytes()) {
    if (at(team.size(), sizeof(Destination)) <= slot_)
      direct_from_ = direct_from(team, way, team.direct_from().gather);
  }

  bool is_direct(std::size_t block) const { return block >= direct_from_; }
  std::size_t rounds(std::size_t block) const {
    return is_direct(block) ? 0 : quotient_up(block, slot_);
  }
  Chunk part(std::size_t round, std::size_t block) const {
    if (is_direct(block)) return {};
    if (is_in_cell(block)) return {0, round == 0 ? block : 0};
    return clip({round * slot_, slot_}, block);
  }
  void post(const Posted<SharedMemory>& posted, std::size_t round, const std::byte* input,
            std::size_t block) const {
    const int me = team_.rank();
    const Chunk chunk = part(round, block);
    std::memcpy(posted.cell_of(me), &block, sizeof block);
    team_.put(place(posted, me, block), input + chunk.begin, chunk.size);
  }
  /// The length of a block that has come, of which up to `room` bytes are taken.
  std::size_t take(const Posted<SharedMemory>& posted, std::size_t round, int rank,
                   std::byte* output, std::size_t room) const {
    std::size_t block = 0;
    std::memcpy(&block, posted.cell_of(rank), sizeof block);
    if (is_direct(room) || block > room) return block;
    const Chunk chunk = part(round, block);
    if (chunk.size > 0) copy_bytes(output + chunk.begin, place(posted, rank, block), chunk.size);
    return block;
  }
  /// The root shows where blocks go that are written directly.
  void show(std::byte* table, std::byte* output, PerRank counts, PerRank displs) const {
    for_others(team_, [&](int rank) {
      const std::size_t room = bytes_of(counts, rank);
      const Destination there =
          is_direct(room) ? Destination{output + displs[static_cast<std::size_t>(rank)], room}
                          : Destination{};
      std::memcpy(table + at(rank, sizeof there), &there, sizeof there);
    });
  }
  Destination shown(const std::byte* table) const {
    Destination mine;
    std::memcpy(&mine, table + at(team_.rank(), sizeof mine), sizeof mine);
    return mine;
  }

 private:
  static bool is_in_cell(std::size_t block) { return block <= kInline - sizeof block; }
  std::byte* place(const Posted<SharedMemory>& posted, int rank, std::size_t block) const {
    return is_in_cell(block) ? posted.cell_of(rank) + sizeof block : posted.of(rank);
  }

  const Team& team_;
  std::size_t slot_;
  std::size_t direct_from_ = DirectFrom::kNever;
};

}  // namespace

// The root alone knows how many rounds there are and says so in its cell: the others wait for that,
// and for nobody else. Short blocks go in the cells; long ones their ranks write to where the
// root's slot says, all at the same time.
void gatherv(Team& team, const std::byte* input, std::size_t bytes, std::byte* output,
             PerRank counts, PerRank displs, int root, Protocol way) {
  const int me = team.rank();
  const bool is_root = me == root;
  const GatherForm form(team, way);
  GatherPlan plan;
  std::size_t left = 0;
  bool truncated = false;
  if (is_root) {
    for_others(team, [&](int rank) {
      const std::size_t block = bytes_of(counts, rank);
      plan.directly |= form.is_direct(block);
      plan.rounds = std::max(plan.rounds, form.rounds(block));
    });
  }
  exchange_rounds(
      team, [&](std::size_t) { return team.slot_bytes(); },
      [&](std::size_t round, const auto& posted) {
        if (is_root) {
          std::memcpy(posted.cell_of(root), &plan, sizeof plan);
          if (plan.directly && round == 0) form.show(posted.of(root), output, counts, displs);
          return;
        }
        form.post(posted, round, input, bytes);
      },
      [&](const auto& posted) {
        posted.await(root);
        std::memcpy(&plan, posted.cell_of(root), sizeof plan);
        return plan.rounds;
      },
      [&](std::size_t round, const auto& posted) {
        if (!is_root) {
          if (!plan.directly || round > 0) return;
          const Destination there = form.shown(posted.of(root));
          if (bytes > 0 && bytes <= there.room && !push(team, root, there.begin, input, bytes))
            left = bytes;
          return;
        }
        if (round == 0 && input != output + displs[static_cast<std::size_t>(me)]) {
          copy_out(output, displs, me, clip({0, bytes}, bytes_of(counts, me)), input);
          truncated = bytes > bytes_of(counts, me);
        }
        for_others(team, [&](int rank) {
          const std::size_t room = bytes_of(counts, rank);
          if (round > 0 ? form.part(round, room).size == 0 : room == 0) return;
          posted.await(rank);
          std::byte* there = output + displs[static_cast<std::size_t>(rank)];
          truncated |= form.take(posted, round, rank, there, room) > room;
        });
      });
  if (plan.directly)
    be_through_with_root(team, root, left, [&](int rank, std::size_t their_left) {
      if (!is_root) return give_through_relay(team, rank, input, their_left);
      receive_through_relay(team, rank, rank, output + displs[static_cast<std::size_t>(rank)],
                            their_left);
    });
  if (truncated) throw Truncated();
}

}  // namespace unisono::node
