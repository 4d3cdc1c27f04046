// du/dt = alpha laplace u on a periodic box, by 3-D Fourier transforms: the FT of the NAS Parallel
// Benchmarks (RNR-94-007, section 2.4) with its numbers. Each rank has planes of the box: of equal
// z, or, where the ranks can share y and not z, of equal y.
#pragma once
#include <vector>

#include "apps/common/transpose.h"
#include "apps/ft/fft.h"

namespace apps::ft {

/// Points; each a power of two.
struct Box {
  std::size_t x, y, z;
  std::size_t points() const { return x * y * z; }
};

/// Whether so many ranks can share the box.
bool can_share(const Box& box, std::size_t ranks);

class Solver {
 public:
  /// The first values and their spectrum. can_share(box, team.size).
  Solver(const Box& box, const Team& team);
  /// One unit of time; returns this rank's part of the checksum.
  Complex step();
  std::size_t block_bytes() const { return to_spectrum_.block_bytes(); }

 private:
  void draw();
  void transform_planes(int sign);
  void transform_columns(std::vector<Complex>& columns, int sign);
  void prepare_decay();
  Complex own_checksum() const;

  Box box_;
  Team team_;
  bool shares_z_;
  std::size_t shared_,
      kept_;  // the sides: the one that is shared out, and the one of z and y that is not
  Fft along_x_, along_kept_, along_shared_;
  Transpose<Complex> to_spectrum_, from_spectrum_;
  std::vector<Complex> values_;    // [own shared][kept][x]
  std::vector<Complex> spectrum_;  // [own (kept, x)][shared]
  std::vector<Complex> decayed_;   // a copy of it, transformed back
  std::vector<double> decay_;      // of the spectrum in a unit of time
};

/// The real and imaginary parts of the checksums of all steps.
std::vector<double> solve_serially(const Box& box, int steps);

}  // namespace apps::ft
