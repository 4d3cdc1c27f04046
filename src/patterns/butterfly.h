// Butterflies on rings and tori: in each step a rank splits what it has among itself and some
// others, so that a vector is summed up or gathered by parts.
//
// Each ring of a torus gives the coordinate x of a rank on it some digits. In the step of a digit
// a rank exchanges with those that differ from it in this digit, and perhaps in later ones, but in
// no earlier: so whatever the way, the contributions to a block arrive where all digits are those
// of the block, each once.
#pragma once
#include <cstdint>
#include <vector>

#include "patterns/fold.h"
#include "patterns/rank_lattice.h"

namespace unisono {

/// One step of a rank: part i of what it holds goes to, or comes from, ranks[i]; part `self` is its
/// own.
struct Exchange {
  std::vector<int> ranks;
  int self = 0;
};

enum class RingForm : std::uint8_t {
  /// A power of two n works, in steps of halves: with j = 1, -1, 3, -5, 11, ... an even x exchanges
  /// with x + j and an odd one with x - j. Source: De Sensi et al., Swing (2024); the digits, which
  /// make the parts adjacent, are own.
  swing,
  /// 3^a 2^b work, in steps of thirds with x - 3^i and x + 3^i, then of halves.
  thirds,
  /// All work, in one step: the ring's own parts go round.
  whole,
};

/// Goes through the dimensions in turn: one step in each, short ways first, then one more in each.
/// The lattice must live as long.
class Butterfly {
 public:
  /// `mirrored`: each ring the other way round.
  explicit Butterfly(const RankLattice& lattice, RingForm form, int first_dimension = 0,
                     bool mirrored = false);

  RingForm form() const { return form_; }
  /// That work; where a ring's form does not take all, some leave their work to a neighbour.
  int positions() const { return positions_; }
  /// The rank that works for this one: itself, or a neighbour.
  int worker(int rank) const;
  /// For whom a worker works beside itself.
  std::vector<int> helped(int worker) const;
  /// The place of a worker's part among all, which lie so that every step splits an interval into
  /// equal ones.
  int position(int worker) const;
  /// In the order of a reduce-scatter; an allgather goes backwards.
  std::vector<Exchange> exchanges(int worker) const;

 private:
  struct Step {
    int dimension;
    int radix;
    int stride;  ///< thirds: between neighbours in this step; swing: the signed distance
    int bit;     ///< swing: which bit of the digits' number
  };

  void add_steps(int dimension);
  int coordinate(int point, int dimension) const;
  int rank_at(int point, int dimension, int coordinate) const;
  int digit(const Step& step, int x) const;
  int partner(const Step& step, int x, int digit) const;

  const RankLattice* lattice_;
  RingForm form_;
  bool mirrored_;
  std::vector<Fold> folds_;  // by dimension
  std::vector<Step> steps_;
  int positions_ = 1;
};

/// 2k of them, which use the links of a torus of k dimensions both ways at once.
std::vector<Butterfly> on_all_links(const RankLattice& lattice, RingForm form);
/// One beginning with each dimension.
std::vector<Butterfly> on_all_dimensions(const RankLattice& lattice, RingForm form);

}  // namespace unisono
