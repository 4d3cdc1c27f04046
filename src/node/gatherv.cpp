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

/// How a block goes to the root of gatherv, as the root and its rank see it alike.
class GatherForm {
 public:
  GatherForm(const Team& team, Protocol way) : team_(team), slot_(team.slot_bytes()) {
    if (at(team.size(), sizeof(std::byte*)) <= slot_)
      direct_from_ = direct_from(team, way, team.direct_from().gather);
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

// The root alone knows how many rounds there are and says so in its cell: the others wait for that,
// and for nobody else. Short blocks go in the cells; long ones their ranks write to where the
// root's slot says, all at the same time.
void gatherv(Team& team, const std::byte* input, std::size_t bytes, std::byte* output,
             PerRank counts, PerRank displs, int root, Protocol way) {
  const int me = team.rank();
  const bool is_root = me == root;
  const GatherForm form(team, way);
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
      team, [&](std::size_t) { return team.slot_bytes(); },
      [&](std::size_t round, const auto& posted) {
        if (is_root) {
          std::memcpy(posted.cell_of(root), &plan, sizeof plan);
          if (plan.directly && round == 0) form.show(posted.of(root), output, counts, displs);
          return;
        }
        const Chunk part = form.part(round, bytes);
        team.put(form.place(posted, me, bytes), input + part.begin, part.size);
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

}  // namespace unisono::node
