// The transpose of a matrix whose rows are shared out among ranks. Without MPI: how blocks get from
// rank to rank is given as a function.
#pragma once
#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

namespace apps {

/// Block j of `send` goes to rank j, block i of `receive` comes from rank i; `block` doubles each.
using AllToAll = std::function<void(const double* send, double* receive, std::size_t block)>;

/// The ranks among which a matrix is shared out; by default a single one.
struct Team {
  std::size_t size = 1, rank = 0;
  AllToAll all_to_all = [](const double* send, double* receive, std::size_t block) {
    std::copy_n(send, block, receive);
  };
  bool shares(std::size_t rows) const { return rows % size == 0; }
};

/// Of a matrix of rows x columns elements, both multiples of the ranks; an element is one double or
/// several. One Alltoall with blocks of rows columns / p^2 elements.
template <class Element>
class Transpose {
 public:
  Transpose(std::size_t rows, std::size_t columns, const Team& team)
      : team_(team),
        rows_(rows / team.size),
        columns_(columns / team.size),
        packed_(rows_ * columns),
        received_(rows_ * columns) {}

  /// `in` are this rank's rows / p rows, `out` its columns / p rows of the transpose; they may be
  /// the same memory.
  void operator()(const Element* in, Element* out) {
    const std::size_t p = team_.size, block = rows_ * columns_;
    for (std::size_t to = 0; to < p; ++to)
      for (std::size_t i = 0; i < rows_; ++i)
        std::copy_n(in + (i * p + to) * columns_, columns_, &packed_[to * block + i * columns_]);
    team_.all_to_all(reinterpret_cast<const double*>(packed_.data()),
                     reinterpret_cast<double*>(received_.data()), block * kDoubles);
    for (std::size_t from = 0; from < p; ++from)
      for (std::size_t j = 0; j < columns_; ++j)
        for (std::size_t i = 0; i < rows_; ++i)
          out[(j * p + from) * rows_ + i] = received_[from * block + i * columns_ + j];
  }

  std::size_t block_bytes() const { return rows_ * columns_ * sizeof(Element); }

 private:
  static constexpr std::size_t kDoubles = sizeof(Element) / sizeof(double);
  static_assert(sizeof(Element) == kDoubles * sizeof(double));

  Team team_;
  std::size_t rows_, columns_;  // of a block
  std::vector<Element> packed_, received_;
};

}  // namespace apps
