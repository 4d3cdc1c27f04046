#include "patterns/butterfly.h"

#include <algorithm>
#include <bit>

namespace unisono {

namespace {

/// 1, -1, 3, -5, 11, ...: the sum of (-2)^i for i <= step.
int swing_distance(int step) {
  int sum = 0;
  for (int i = 0, power = 1; i <= step; ++i, power *= -2) sum += power;
  return sum;
}

int modulo(int x, int n) { return (x % n + n) % n; }

/// The largest 3^a 2^b of a ring's size.
int smooth(int size) {
  int best = 1;
  for (std::int64_t power = 1; power <= size; power *= 3)
    best =
        std::max(best, static_cast<int>(power) *
                           static_cast<int>(std::bit_floor(static_cast<unsigned>(size / power))));
  return best;
}

Fold fold_of(RingForm form, int size) {
  if (form == RingForm::swing) return Fold(size);
  return {size, form == RingForm::thirds ? smooth(size) : size};
}

}  // namespace

Butterfly::Butterfly(const RankLattice& lattice, RingForm form, int first_dimension, bool mirrored)
    : lattice_(&lattice), form_(form), mirrored_(mirrored) {
  const int k = lattice.dimensions();
  for (int d = 0; d < k; ++d) {
    folds_.push_back(fold_of(form, lattice.points().size(d)));
    positions_ *= folds_.back().power;
  }
  std::vector<std::vector<Step>> of_ring(static_cast<std::size_t>(k));
  for (int d = 0; d < k; ++d) {
    add_steps(d);
    of_ring[static_cast<std::size_t>(d)].swap(steps_);
  }
  for (std::size_t i = 0, found = 1; found > 0; ++i) {
    found = 0;
    for (int j = 0; j < k; ++j) {
      const auto& ring = of_ring[static_cast<std::size_t>((first_dimension + j) % k)];
      if (i >= ring.size()) continue;
      steps_.push_back(ring[i]);
      ++found;
    }
  }
}

void Butterfly::add_steps(int dimension) {
  const int n = folds_[static_cast<std::size_t>(dimension)].power;
  if (form_ == RingForm::whole && n > 1) steps_.push_back({dimension, n, 1, 0});
  if (form_ == RingForm::swing)
    for (int i = 0; 1 << i < n; ++i) steps_.push_back({dimension, 2, swing_distance(i), i + 1});
  if (form_ == RingForm::thirds)
    for (int stride = 1; stride < n;) {
      const int radix = n / stride % 3 == 0 ? 3 : 2;
      steps_.push_back({dimension, radix, stride, 0});
      stride *= radix;
    }
}

// ---- rings --------------------------------------------------------------------------------------

/// Among those that work.
int Butterfly::coordinate(int point, int dimension) const {
  const Fold& fold = folds_[static_cast<std::size_t>(dimension)];
  const int x = fold.position(lattice_->points().coordinate(point, dimension));
  return mirrored_ ? modulo(-x, fold.power) : x;
}

int Butterfly::rank_at(int point, int dimension, int coordinate) const {
  const Fold& fold = folds_[static_cast<std::size_t>(dimension)];
  const int x = mirrored_ ? modulo(-coordinate, fold.power) : coordinate;
  return lattice_->rank(lattice_->points().moved(point, dimension, fold.rank(x)));
}

// Swing: after the last steps down to that of the distance j_i have been made, those that know of
// each other have even members that are alike modulo 2^(i+1): all differences of two distances
// j_a - j_b with a, b >= i are multiples of it. So the digit of step i is bit i + 1 of the even
// member that exchanges with x in the last step, and that of the last step tells even from odd.
int Butterfly::digit(const Step& step, int x) const {
  const int n = folds_[static_cast<std::size_t>(step.dimension)].power;
  if (form_ != RingForm::swing) return x / step.stride % step.radix;
  const int last = std::bit_width(static_cast<unsigned>(n)) - 1;
  if (step.bit == last) return x % 2;
  const int even = x % 2 == 0 ? x : modulo(x - swing_distance(last - 1), n);
  return even >> step.bit & 1;
}

int Butterfly::partner(const Step& step, int x, int digit) const {
  const int n = folds_[static_cast<std::size_t>(step.dimension)].power;
  const int own = this->digit(step, x);
  if (digit == own) return x;
  if (form_ == RingForm::swing) return modulo(x % 2 == 0 ? x + step.stride : x - step.stride, n);
  if (form_ == RingForm::whole) return digit;
  const int up = modulo(digit - own, step.radix);  // 1: upwards; of three, 2: downwards
  const bool down = step.radix == 3 ? up == 2 : own == 1;
  return modulo(down ? x - step.stride : x + step.stride, n);
}

// ---- ranks --------------------------------------------------------------------------------------

int Butterfly::worker(int rank) const {
  const Torus& points = lattice_->points();
  int point = lattice_->point(rank);
  for (int d = 0; d < points.dimensions(); ++d) {
    const int x = points.coordinate(point, d);
    if (folds_[static_cast<std::size_t>(d)].position(x) < 0) point = points.moved(point, d, x - 1);
  }
  return lattice_->rank(point);
}

std::vector<int> Butterfly::helped(int worker) const {
  const Torus& points = lattice_->points();
  std::vector<int> found = {lattice_->point(worker)};
  for (int d = 0; d < points.dimensions(); ++d) {
    const Fold& fold = folds_[static_cast<std::size_t>(d)];
    const int x = points.coordinate(found.front(), d);
    if (!fold.works_for_two(fold.position(x))) continue;
    const auto before = found.size();
    for (std::size_t i = 0; i < before; ++i) found.push_back(points.moved(found[i], d, x + 1));
  }
  found.erase(found.begin());
  for (int& point : found) point = lattice_->rank(point);
  std::sort(found.begin(), found.end());
  return found;
}

int Butterfly::position(int worker) const {
  const int point = lattice_->point(worker);
  int position = 0;
  for (const Step& step : steps_)
    position = position * step.radix + digit(step, coordinate(point, step.dimension));
  return position;
}

std::vector<Exchange> Butterfly::exchanges(int worker) const {
  const int point = lattice_->point(worker);
  std::vector<Exchange> result;
  for (const Step& step : steps_) {
    const int x = coordinate(point, step.dimension);
    Exchange& exchange = result.emplace_back(Exchange{{}, digit(step, x)});
    for (int i = 0; i < step.radix; ++i)
      exchange.ranks.push_back(rank_at(point, step.dimension, partner(step, x, i)));
  }
  return result;
}

// ---- several at once ----------------------------------------------------------------------------

std::vector<Butterfly> on_all_links(const RankLattice& lattice, RingForm form) {
  std::vector<Butterfly> result;
  for (const bool mirrored : {false, true})
    for (int d = 0; d < lattice.dimensions(); ++d) result.emplace_back(lattice, form, d, mirrored);
  return result;
}

std::vector<Butterfly> on_all_dimensions(const RankLattice& lattice, RingForm form) {
  std::vector<Butterfly> result;
  for (int d = 0; d < lattice.dimensions(); ++d) result.emplace_back(lattice, form, d);
  return result;
}

}  // namespace unisono
