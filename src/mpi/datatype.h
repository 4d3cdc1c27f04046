// What the runtime needs to know of a datatype.
#pragma once
#include <mpi.h>

#include <array>
#include <cstddef>
#include <optional>

#include "mpi/operation.h"
#include "mpi/threads.h"
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
  bool committed = true;  ///< so that a call may name it
  TypeKind kind = TypeKind::other;
  /// What MPI is given to pack and unpack instead: see complex_parts.h.
  std::optional<MPI_Datatype> stand_in;
};

/// Of MPI_BYTE.
inline constexpr TypeFacts kByteFacts{1, 0, 1, 0, 1, true, true, TypeKind::byte, {}};

/// The predefined datatypes met last.
struct RecentTypes {
  struct Entry {
    MPI_Datatype type;
    const TypeFacts* facts;  // null: empty
  };
  std::array<Entry, 8> types;
  std::size_t oldest;

  const TypeFacts* find(MPI_Datatype type) const {
    for (const Entry& entry : types)
      if (entry.type == type && entry.facts != nullptr) return entry.facts;
    return nullptr;
  }
};
extern constinit RecentTypes g_recent_types;  ///< where one thread calls at a time

/// As facts_of, where the recent types do not tell.
const TypeFacts& look_up_facts(MPI_Datatype type);

/// Derived datatypes keep their facts in an attribute, so that they are worked out once and
/// forgotten with the type; those of predefined ones stay, and those of a datatype that is not
/// committed are worked out each time, and are valid until the next such one is met. Thread-safe
/// once start_datatypes() has returned.
inline const TypeFacts& facts_of(MPI_Datatype type) {
  const TypeFacts* recent = several_threads() ? nullptr : g_recent_types.find(type);
  return recent != nullptr ? *recent : look_up_facts(type);
}

void start_datatypes();  ///< after MPI_Init
/// Makes what copies of elements need, at the first request: false where the MPI library has no
/// communicator left. Local. Before any of the functions that follow.
bool prepare_copies();
void stop_datatypes();  ///< before MPI_Finalize

/// Copies `count` elements at `from` into the packed bytes at `into`, and back. An MPI error code.
int pack_elements(const std::byte* from, Count count, MPI_Datatype type, const TypeFacts& facts,
                  std::byte* into);
int unpack_elements(const std::byte* from, std::byte* into, Count count, MPI_Datatype type,
                    const TypeFacts& facts);

/// Copies elements that have gaps: only MPI knows which bytes are theirs. An MPI error code.
int copy_elements(const std::byte* from, std::byte* into, Count count, MPI_Datatype type,
                  const TypeFacts& facts);

}  // namespace unisono
