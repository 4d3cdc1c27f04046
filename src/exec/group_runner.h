// How an execution runs a phase of a composed algorithm that is one collective of a group of ranks.
#pragma once
#include <cstddef>

#include "schedule/schedule.h"

namespace unisono {

struct Binding;

class GroupRunner {
 public:
  /// `input` and `output` are the addresses of the slices. Blocks. An MPI error code.
  virtual int run(const GroupCall& call, const std::byte* input, std::byte* output,
                  const Binding& binding) = 0;

 protected:
  ~GroupRunner() = default;
};

}  // namespace unisono
