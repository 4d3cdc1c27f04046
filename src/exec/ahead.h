// How far a rank may be ahead of others.
#pragma once
#include <algorithm>
#include <atomic>
#include <vector>

#include "schedule/schedule.h"

namespace unisono {

/// What this rank has sent to each other one, in whatever call, since it last knew that the
/// receiver had begun to take a message: the MPI library may hold as much for a late one. With
/// kMostAhead, or more, the next message is over when that is so. Any thread may send.
class Ahead {
 public:
  static constexpr Count kMostAhead = Count{1} << 20;  ///< bytes
  static constexpr Count kLeast = 64;                  ///< of a message, be it a token

  explicit Ahead(int size) : bytes_(static_cast<std::size_t>(size)) {}
  /// Counts a message: whether its receiver must have begun to take it when it is over.
  bool is_due(int peer, Count bytes) {
    std::atomic<Count>& of = bytes_[static_cast<std::size_t>(peer)];
    if (of.fetch_add(std::max(bytes, kLeast), std::memory_order_relaxed) < kMostAhead) return false;
    of.store(0, std::memory_order_relaxed);
    return true;
  }

 private:
  std::vector<std::atomic<Count>> bytes_;
};

}  // namespace unisono
