// Reduce and allreduce.
#include <algorithm>
#include <cstddef>

#include "node/direct.h"
#include "node/kernels.h"
#include "node/levels.h"
#include "node/pipeline.h"
#include "node/reduce_ways.h"
#include "node/rule.h"

namespace unisono::node {

namespace {

// One step instead of two, which is worth more than the work that all ranks do again, or that one
// does alone. Inlined wherever exchange() calls it: a short call is noticeably shorter then (42 of
// 240 instructions).
void reduce_by_all(Team& team, const std::byte* input, std::byte* output, std::size_t bytes,
                   const Reduction& reduction, int root) {
  const int me = team.rank();
  const bool wants = root == kEverybody || root == me;
  // Own input is read from where it was posted only if output is on top of it: others have just
  // read that line, and a third of the time is getting it back.
  const bool in_place = input == output;
  exchange(
      team, Cut{bytes, reduction.whole(team.slot_bytes())},
      [&](Chunk chunk, std::byte* where) {
        if (me != root || in_place) team.put(where, input + chunk.begin, chunk.size);
      },
      [&](Chunk chunk, const auto& posted) __attribute__((always_inline)) {
        if (wants)
          fold(reduction, output + chunk.begin, reduction.elements(chunk.size), team.size(),
               [&](int rank) {
                 return rank == me && !in_place ? input + chunk.begin : posted.await(rank);
               });
      });
}

// As the last to come; in the same order, whoever that is.
void reduce_last(Team& team, const std::byte* input, std::byte* output, std::size_t bytes,
                 const Reduction& reduction) {
  combine_last(
      team, Cut{bytes, team.slot_bytes()}, [&](std::byte* where) { team.put(where, input, bytes); },
      [&](const auto& posted) {
        fold(reduction, posted.of(0), reduction.elements(bytes), team.size(),
             [&](int rank) { return posted.of(rank); });
      },
      [&](const std::byte* result) { copy_bytes(output, result, bytes); });
}

// As bundles of messages, not of results: so every leader reduces in the same order, be the groups
// as they are.
void reduce_in_levels(Team& team, const std::byte* input, std::byte* output, std::size_t bytes,
                      const Reduction& reduction, int root) {
  const auto in = [=](std::byte* where) { copy_bytes(where, input, bytes); };
  const auto copy = [=](std::byte* to, const std::byte* from) { copy_bytes(to, from, bytes); };
  const auto all = [&](const auto& message) {
    fold(reduction, output, reduction.elements(bytes), team.size(), message);
  };
  if (root != kEverybody)
    return collect_in_levels(*team.levels(), bytes, team.rank() == root, in, copy, all);
  exchange_in_levels(
      *team.levels(), bytes, in, copy, all,
      [=](std::byte* where) { copy_bytes(where, output, bytes); },
      [=](const std::byte* where) { copy_bytes(output, where, bytes); });
}

}  // namespace

// Every rank reduces one slice of each chunk. What it reduces itself it does not post; the result
// goes where that would have been. Per rank and byte of the message: (p-1)/p copied in, p/p read
// and 1/p written, (p-1)/p copied out. Source: data partitioning (Bayatpour et al. 2017, DPML).
void reduce_slices(Team& team, const std::byte* input, std::byte* output, std::size_t bytes,
                   const Reduction& reduction, const Chunk& wanted) {
  const int me = team.rank(), size = team.size();
  const auto common = [&wanted](std::size_t begin, std::size_t length) -> Chunk {
    const std::size_t first = std::max(begin, wanted.begin);
    const std::size_t end = std::min(begin + length, wanted.begin + wanted.size);
    return {first, first < end ? end - first : 0};
  };
  const auto slice_of = [&](Chunk chunk, int rank) {
    return slice(chunk.size, reduction.element_bytes, rank, rank + 1, size);
  };
  exchange_twice(
      team, Cut{bytes, reduction.whole(team.slot_bytes())},
      [&](Chunk chunk, std::byte* where) {
        const Chunk mine = slice_of(chunk, me);
        const std::size_t behind = mine.begin + mine.size;
        const std::byte* from = input + chunk.begin;
        team.put(where, from, mine.begin);
        team.put(where + behind, from + behind, chunk.size - behind);
      },
      [&](Chunk chunk, const auto& posted) {
        const Chunk mine = slice_of(chunk, me);
        const std::size_t at = chunk.begin + mine.begin;
        std::byte* result = posted.of(me) + mine.begin;
        fold(reduction, result, reduction.elements(mine.size), size,
             [&](int rank) { return rank == me ? input + at : posted.await(rank) + mine.begin; });
        const Chunk part = common(at, mine.size);
        if (part.size > 0)
          copy_bytes(output + (part.begin - wanted.begin), result + (part.begin - at), part.size);
      },
      [&](Chunk chunk, const auto& posted) {
        if (wanted.size == 0) return;
        for_others(team, [&](int rank) {
          const Chunk theirs = slice_of(chunk, rank);
          const Chunk part = common(chunk.begin + theirs.begin, theirs.size);
          if (part.size > 0)
            copy_bytes(output + (part.begin - wanted.begin),
                       posted.await(rank) + (part.begin - chunk.begin), part.size);
        });
      });
}

namespace {

/// How far a rank came with its slice: `done` bytes are where they are wanted. Of the `made` bytes
/// behind them it has the result, which not all have.
struct SliceDone {
  std::size_t done = 0, made = 0;
};

// Reduces `piece` of everybody's input into `out`, as fold(); `most`: bytes of the longest piece.
template <class Shown>
bool fold_piece_directly(Team& team, const Shown& shown, const std::byte* input, std::byte* out,
                         Chunk piece, std::size_t most, const Reduction& reduction) {
  const auto place = [&](std::size_t i) { return i == 0 ? out : team.scratch(1) + (i - 1) * most; };
  const auto source = [&](int rank, std::size_t i) -> const std::byte* {
    if (rank == team.rank()) return input + piece.begin;
    const bool pulled = pull(team, rank, place(i), shown(rank).input + piece.begin, piece.size);
    return pulled ? place(i) : nullptr;
  };
  if (team.size() == 1) copy_bytes(out, input + piece.begin, piece.size);
  return fold_in_pairs(reduction, reduction.elements(piece.size), team.size(), source, place);
}

// Reduces `part` of everybody's input in pieces that stay in this core's cache, into `into`, which
// is none of this rank's input; or, if there is no such place, into its slots, which nobody else
// uses now. result(piece, where): false ends it.
template <class Shown, class Result>
SliceDone fold_directly(Team& team, const Shown& shown, const std::byte* input, std::byte* into,
                        Chunk part, const Reduction& reduction, Result result) {
  // Besides what is pending there is the operand that is pulled last.
  const auto places = static_cast<std::size_t>(pending_parts(team.size())) + 1;
  const std::size_t most = reduction.whole(team.scratch_bytes() / places);
  std::size_t done = 0;
  for (; done < part.size; done += most) {
    const Chunk piece{part.begin + done, std::min(most, part.size - done)};
    std::byte* out = into == nullptr ? team.scratch(0) : into + done;
    if (!fold_piece_directly(team, shown, input, out, piece, most, reduction)) return {done, 0};
    if (!result(piece, out)) return {done, piece.size};
  }
  return {part.size, 0};
}

/// Root writes nothing to others: for two ranks its slice is 8/13 of the whole.
Chunk slice_for_root(std::size_t bytes, std::size_t element_bytes, int rank, int size, int root) {
  // A pull and a combination for each other rank are 1.6 times a push.
  const int share = 5 * (size - 1);
  const auto before = [&](int r) { return share * r + (r > root ? 3 : 0); };
  return slice(bytes, element_bytes, before(rank), before(rank + 1), before(size));
}

/// A reduction in which every rank reduces a slice of the whole and writes it to who wants it.
class SlicesDirectly {
 public:
  SlicesDirectly(Team& team, const std::byte* input, std::byte* output, std::size_t bytes,
                 const Reduction& reduction, int root)
      : team_(team),
        input_(input),
        output_(output),
        bytes_(bytes),
        reduction_(reduction),
        root_(root) {}

  // Per rank and byte of the message, for allreduce: (p-1)/p pulled and pushed. In place: only this
  // rank reads and writes its slice, on any rank.
  void run() {
    const int me = team_.rank();
    const Chunk mine = slice_of(me);
    std::byte* into = wants() && input_ != output_ ? output_ + mine.begin : nullptr;
    bool all = true;
    SliceDone done;
    copy_directly(
        team_, {input_, output_, true, bytes_},
        [&](const auto& shown) {
          return done = fold_directly(team_, shown, input_, into, mine, reduction_,
                                      [&](Chunk piece, const std::byte* where) {
                                        return give(shown, piece, where);
                                      });
        },
        [&](const auto& told) {
          for (int rank = 0; rank < team_.size(); ++rank) {
            all &= told(rank).done == slice_of(rank).size;
            if (root_ != kEverybody && told(rank).made > 0) give_to_root(rank, told(rank));
          }
        });
    if (!all) complete(done);
  }

 private:
  bool wants() const { return root_ == kEverybody || root_ == team_.rank(); }
  Chunk slice_of(int rank) const {
    return root_ == kEverybody
               ? slice(bytes_, reduction_.element_bytes, rank, rank + 1, team_.size())
               : slice_for_root(bytes_, reduction_.element_bytes, rank, team_.size(), root_);
  }
  template <class Shown>
  bool give(const Shown& shown, Chunk piece, const std::byte* where) {
    const auto to = [&](int rank) {
      return push(team_, rank, shown(rank), piece.begin, where, piece.size);
    };
    if (root_ != kEverybody) return to(root_);
    return to(team_.rank()) && all_others(team_, to);
  }

  // The result that `rank` could not write lies in its slots, from their start: where a relay has
  // its pieces.
  void give_to_root(int rank, const SliceDone& done) {
    if (team_.rank() == rank)
      team_.give(rank, [] {});
    else if (team_.rank() == root_)
      team_.receive(rank, [&] {
        copy_bytes(output_ + slice_of(rank).begin + done.done, team_.slot(rank, 0), done.made);
      });
  }

  // What is missing goes through slots. Its input is as it was, even in place: who has written a
  // part of a result anywhere has the whole of that piece, in its own output first of all, or has
  // given it to the root.
  void complete(const SliceDone& mine) {
    team_.forbid_direct();
    for (int rank = 0; rank < team_.size(); ++rank) {
      const auto [ready, made] = tell(team_, rank, mine);
      const Chunk slice = slice_of(rank);
      std::size_t begin = slice.begin + ready;
      if (made > 0 && root_ == kEverybody)
        post(
            team_, rank, Cut{made, team_.slot_bytes()},
            [&](Chunk chunk, std::byte* where) {
              team_.put(where, output_ + begin + chunk.begin, chunk.size);
            },
            [&](Chunk chunk, const std::byte* where) {
              copy_bytes(output_ + begin + chunk.begin, where, chunk.size);
            });
      begin += made;
      const std::size_t rest = slice.begin + slice.size - begin;
      if (rest > 0)
        reduce_slices(team_, input_ + begin, wants() ? output_ + begin : nullptr, rest, reduction_,
                      {0, wants() ? rest : 0});
    }
  }

  Team& team_;
  const std::byte* input_;
  std::byte* output_;
  std::size_t bytes_;
  const Reduction& reduction_;
  int root_;
};

// Not inlined: what it keeps on the stack would cost short messages ten instructions.
[[gnu::noinline]] void reduce_directly(Team& team, const std::byte* input, std::byte* output,
                                       std::size_t bytes, const Reduction& reduction, int root) {
  SlicesDirectly(team, input, output, bytes, reduction, root).run();
}

void reduce_to(Team& team, const std::byte* input, std::byte* output, std::size_t count,
               const Reduction& reduction, int root, Protocol way) {
  const std::size_t bytes = count * reduction.element_bytes;
  if (bytes == 0) return;
  way = chosen(team, way, [&](bool direct) {
    return root == kEverybody ? allreduce_rule(team, bytes, direct)
                              : reduce_rule(team, bytes, root, direct);
  });
  switch (way) {
    case Protocol::direct: return reduce_directly(team, input, output, bytes, reduction, root);
    case Protocol::last_arriver: return reduce_last(team, input, output, bytes, reduction);
    case Protocol::levels: return reduce_in_levels(team, input, output, bytes, reduction, root);
    case Protocol::read_all: return reduce_by_all(team, input, output, bytes, reduction, root);
    default: break;
  }
  const bool wants = root == kEverybody || root == team.rank();
  reduce_slices(team, input, output, bytes, reduction, {0, wants ? bytes : 0});
}

}  // namespace

bool reduce_block_directly(Team& team, const std::byte* input, std::byte* output, Chunk mine,
                           const Reduction& reduction) {
  return copy_directly(team, {input, output, input != output}, [&](const auto& shown) {
    const auto nothing = [](Chunk, const std::byte*) { return true; };
    return fold_directly(team, shown, input, output, mine, reduction, nothing).done == mine.size;
  });
}

bool can_reduce(const Team& team, std::size_t element_bytes) {
  return element_bytes > 0 && element_bytes <= kLargestElement &&
         element_bytes * static_cast<std::size_t>(team.size()) <= team.slot_bytes();
}

void reduce(Team& team, const std::byte* input, std::byte* output, std::size_t count,
            const Reduction& reduction, int root, Protocol way) {
  reduce_to(team, input, output, count, reduction, root, way);
}

void allreduce(Team& team, const std::byte* input, std::byte* output, std::size_t count,
               const Reduction& reduction, Protocol way) {
  reduce_to(team, input, output, count, reduction, kEverybody, way);
}

}  // namespace unisono::node
