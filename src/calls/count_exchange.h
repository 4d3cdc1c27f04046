// Supplies the counts that an algorithm wants on all ranks and MPI gives to some: those of the root
// by a broadcast (gatherv, scatterv), the rows of the matrix by an allgather (alltoallv,
// neighbours). This is "level 1" of CC-MPI (Karwande, Yuan, Lowenthal 2003): control is exchanged
// in every call.
#pragma once
#include <vector>

#include "algorithms/catalogue.h"
#include "schedule/args.h"

namespace unisono {

class CountExchange {
 public:
  /// Nothing is exchanged for algorithms that need no counts of others.
  CountExchange(const Algorithm& algorithm, const Args& args);

  bool is_needed() const { return algorithm_ != nullptr; }
  const Algorithm& algorithm() const { return *algorithm_; }
  const Args& args() const { return args_; }  ///< of the exchange
  std::byte* memory() { return reinterpret_cast<std::byte*>(values_.data()); }
  /// Afterwards: what has come, which stays here, as part of the arguments of the call.
  void supply(Args& args) const;

 private:
  void broadcast(const Args& args);
  void allgather(const Args& args);
  void allgather_among_neighbours(const Args& args);

  const Algorithm* algorithm_ = nullptr;
  Args args_;
  std::vector<Count> values_;
  std::vector<Count> lengths_, places_;  // bytes: among neighbours each rank has as many as these
};

}  // namespace unisono
