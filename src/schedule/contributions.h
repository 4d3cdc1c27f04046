// Sets of ranks that a symbolic cell holds contributions of, interned so that a set is a number.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace unisono {

using SetId = std::uint32_t;  ///< 0: no contribution, the cell is undefined

class Contributions {
 public:
  /// `ordered`: only sets adjacent in rank order may be merged.
  Contributions(int ranks, bool ordered);

  static SetId single(int rank) { return static_cast<SetId>(rank) + 1; }
  /// The set of the ranks [0, end); the empty set is 0.
  SetId first(int end);
  /// left (+) right, or nothing when they overlap or would break the rank order.
  std::optional<SetId> merge(SetId left, SetId right);
  /// "{0, 1, 5..7}"
  std::string text(SetId id) const;

 private:
  struct Set {
    std::vector<std::uint64_t> bits;
    int begin, end;  // smallest rank, largest rank + 1
  };
  SetId intern(Set set);

  bool ordered_;
  std::vector<Set> sets_;
  std::unordered_map<std::string, SetId> ids_;       // by the bytes of bits
  std::unordered_map<std::uint64_t, SetId> merged_;  // 0: not allowed
};

}  // namespace unisono
