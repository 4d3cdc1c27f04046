// What one job keeps for the next: what messages cost, and which of two ways was surely faster. A
// file of JSON (docs/reference/memory.md) for each MPI library, kind of hosts and
// network.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/machine.h"
#include "select/online/verdict.h"

namespace unisono {

/// Where something holds. What cannot be seen of a network, such as its rate behind a switch, is
/// not in it.
struct Whereabouts {
  std::string flavour;  ///< of the MPI library, as in Platform
  std::string library;
  std::string processor;
  int cores = 1;
  std::string network;  ///< interfaces of the first rank's host; the speed of the fastest port

  bool operator==(const Whereabouts&) const = default;
  /// Of its file, without a folder.
  std::string file_name() const;
};

struct Memory {
  std::int64_t measured = 0;  ///< seconds since 1970; when the network was
  std::optional<Machine> machine;
  std::vector<KeptVerdict> verdicts;  ///< the newest first

  bool is_empty() const { return !machine && verdicts.empty(); }
};

inline constexpr std::size_t kMostRemembered = 256;  ///< verdicts
/// What is older is measured anew.
inline constexpr std::int64_t kMostAge = 60LL * 60 * 24 * 30;

/// Complete, or refused with one line: a number that no measurement gives, another place or
/// version, ... What is merely too old is left out.
Result<Memory> read_memory(std::string_view text, const Whereabouts& here, std::int64_t now);
std::string write_memory(const Memory& memory, const Whereabouts& here);

/// The same for a message to the other ranks: short, without what only rank 0 needs. Exact.
std::string pack_memory(const Memory& memory);
Memory unpack_memory(std::string_view text);

/// What becomes of `old` by what a job has found: the later verdict of a kind, the later machine,
/// and no lower rate than its calls have shown. The oldest verdicts go where there are too many.
Memory merged(Memory old, const Memory& found);

/// Whether two measurements are of one network.
bool are_alike(const Machine& one, const Machine& other);

}  // namespace unisono
