// What src/node's kernels reduce with: their own loops where they have one for the operation and
// the datatype, else the MPI library's or the program's function.
#pragma once
#include <mpi.h>

#include <optional>

#include "mpi/datatype.h"
#include "node/reduction.h"

namespace unisono {

/// Bytes of the largest predefined datatypes of today's MPI libraries.
inline constexpr std::size_t kLargestPredefined = 32;

/// Whether the kernels can reduce these elements. MPI demands the same operation and the same
/// datatype of all ranks (MPI-4.1, 6.9.1), so all answer alike. Precondition: the operation is
/// defined for the type.
bool can_reduce_in_node(const TypeFacts& facts);

/// The kernels' own loop, valid for ever.
std::optional<node::Reduction> built_in_reduction(MPI_Op op, MPI_Datatype type,
                                                  const TypeFacts& facts);

class KernelReduction {
 public:
  KernelReduction(MPI_Op op, MPI_Datatype type, const TypeFacts& facts);
  KernelReduction(const KernelReduction&) = delete;
  KernelReduction& operator=(const KernelReduction&) = delete;

  const node::Reduction& get() const { return reduction_; }

 private:
  static void reduce_local(const void* context, const std::byte* in, std::byte* inout,
                           std::size_t count);

  MPI_Op op_;
  MPI_Datatype type_;
  node::UserOperation called_;
  node::Reduction reduction_;
};

}  // namespace unisono
