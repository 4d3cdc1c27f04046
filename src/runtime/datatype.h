// What the runtime needs to know of a datatype.
#pragma once
#include <mpi.h>

#include <optional>

#include "runtime/operation.h"
#include "schedule/schedule.h"

namespace unisono {

struct TypeFacts {
  Count size = 0;  ///< bytes of the signature
  Count lb = 0;
  Count extent = 0;
  Count true_lb = 0;
  Count true_extent = 0;
  /// Elements lie one behind the other without gaps, their bytes in the order of the signature, so
  /// that count elements are the count * size bytes from true_lb on.
  bool dense = false;
  TypeKind kind = TypeKind::other;
  /// What MPI is given to pack and unpack instead: see complex_parts.h.
  std::optional<MPI_Datatype> stand_in;
};

/// Of MPI_BYTE.
inline constexpr TypeFacts kByteFacts{1, 0, 1, 0, 1, true, TypeKind::byte, {}};

/// Derived datatypes keep their facts in an attribute, so that they are worked out once and
/// forgotten with the type; those of predefined ones stay. Thread-safe once start_datatypes() has
/// returned.
const TypeFacts& facts_of(MPI_Datatype type);

void start_datatypes();  ///< after MPI_Init
void stop_datatypes();   ///< before MPI_Finalize

/// Copies `count` elements at `from` into the packed bytes at `into`, and back. An MPI error code.
/// Elements too large for MPI_Pack go as a message from the rank to itself on `own`, a communicator
/// on which no such message is under way.
struct Packer {
  MPI_Comm own = MPI_COMM_NULL;
  int rank = 0;
  int pack(const std::byte* from, Count count, MPI_Datatype type, const TypeFacts& facts,
           std::byte* into) const;
  int unpack(const std::byte* from, std::byte* into, Count count, MPI_Datatype type,
             const TypeFacts& facts) const;
};

}  // namespace unisono
