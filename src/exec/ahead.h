// How far a rank may be ahead of others.
#pragma once
#include <algorithm>
#include <atomic>
#include <vector>

#include "schedule/schedule.h"

namespace unisono {

/// What this rank has sent to each other one, in whatever call: the MPI library may hold as much
/// for a late one. After kMostAhead bytes the next message is a question, which is over when its
/// receiver has begun to take it. Others may follow it meanwhile; after as many bytes without an
/// answer nothing follows any message. So there are twice kMostAhead at most of which nobody knows,
/// and of each window one message. Any thread may send; the bound is theirs but for a few messages.
class Ahead {
 public:
  static constexpr Count kMostAhead = Count{1} << 20;  ///< bytes
  static constexpr Count kLeast = 64;                  ///< of a message, be it a token
  enum class Kind {
    plain,
    question,
    hold,  ///< as a question, but nothing follows it
  };

  explicit Ahead(int size) : peers_(static_cast<std::size_t>(size)) {}
  /// Of the next message, which it counts.
  Kind next(int peer, Count bytes) {
    Peer& of = peers_[static_cast<std::size_t>(peer)];
    if (of.bytes.fetch_add(std::max(bytes, kLeast), std::memory_order_relaxed) < kMostAhead)
      return Kind::plain;
    if (of.unanswered.fetch_add(1, std::memory_order_relaxed) > 0) return Kind::hold;
    of.bytes.store(0, std::memory_order_relaxed);
    return Kind::question;
  }
  /// A question, or a hold, is over.
  void answered(int peer) {
    peers_[static_cast<std::size_t>(peer)].unanswered.fetch_sub(1, std::memory_order_relaxed);
  }

 private:
  struct Peer {
    std::atomic<Count> bytes;  // since the last question
    std::atomic<int> unanswered;
  };
  std::vector<Peer> peers_;
};

}  // namespace unisono
