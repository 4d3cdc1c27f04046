// Supplies the counts that an algorithm wants on all ranks and MPI gives to some: those of the root
// by a broadcast (gatherv, scatterv), the rows of the matrix by an allgather (alltoallv,
// neighbours). This is "level 1" of CC-MPI (Karwande, Yuan, Lowenthal 2003): control is exchanged
// in the call. Where there are many ranks rows are exchanged without what is empty, in two steps:
// how much each rank's row holds, and these entries.
#pragma once
#include <vector>

#include "algorithms/catalogue.h"
#include "schedule/args.h"

namespace unisono {

class CountExchange {
 public:
  /// A row of so many ranks is sent whole: 64 counts are half a kilobyte.
  static constexpr int kMostWholeRows = 64;

  /// Nothing is exchanged for algorithms that need no counts of others.
  CountExchange(const Algorithm& algorithm, const Args& args);

  bool is_needed() const { return algorithm_ != nullptr; }
  const Algorithm& algorithm() const { return *algorithm_; }
  const Args& args() const { return args_; }  ///< of the exchange
  std::byte* memory() { return reinterpret_cast<std::byte*>(values_.data()); }
  /// After a step: whether another one follows, by algorithm(), args() and memory() of its own.
  bool has_next();
  /// Afterwards: what has come, which stays here, as part of the arguments of the call.
  void supply(Args& args) const;
  /// Afterwards, of the v- and w-forms of alltoall.
  const CountMatrix& matrix() const { return matrix_; }

 private:
  void broadcast(const Args& args);
  void allgather_rows(const Args& args);
  void allgather_lengths(const Args& args);
  void allgather_entries();
  void allgather_among_neighbours(const Args& args);

  const Algorithm* algorithm_ = nullptr;
  Args args_;
  std::vector<Count> values_;
  std::vector<Count> lengths_, places_;  // bytes: of what each rank has, where they differ
  enum class Form { counts, rows, lengths, entries };
  Form form_ = Form::counts;
  std::vector<Count> own_row_;  // what comes of it: receiver, count, receiver, ...
  CountMatrix matrix_;
};

}  // namespace unisono
