// Every rank broadcasts a block of its own, in n segments, and all do so at once on one circulant
// graph: a message holds a segment of every block but the receiver's. All rounds are alike however
// different the blocks are; backwards it is a reduction of all blocks, each to its rank.
//
// Source: Traeff, (Poly)Logarithmic Time Construction of Round-optimal n-Block Broadcast Schedules
// (2022); arXiv 2407.18004.
#pragma once
#include <functional>
#include <vector>

#include "patterns/circulant.h"
#include "schedule/args.h"

namespace unisono {

class SuperposedBroadcasts {
 public:
  struct Piece {
    std::size_t id;  ///< which segment of which block: less than pieces()
    Slice slice;
    Count at;  ///< in the message
  };
  struct Message {
    int peer = 0;
    Count length = 0;
    std::vector<Piece> pieces;

    int size() const { return static_cast<int>(pieces.size()); }
    Slice slice(int i) const { return pieces[static_cast<std::size_t>(i)].slice; }
    Slice packed(int i, Slice message) const {
      return message.part(pieces[static_cast<std::size_t>(i)].at, slice(i).length);
    }
  };

  /// block(j): rank j's, as long as args.recv says. So many segments that a message has about
  /// params.segment. O(p log^2 p) time, O(p log p) memory.
  SuperposedBroadcasts(const Args& args, std::function<Slice(int)> block);

  Count rounds() const { return plans_.front().rounds(); }  ///< n - 1 + q
  std::size_t pieces() const { return plans_.size() * static_cast<std::size_t>(segments_); }
  Count longest_message() const;
  Message sent(Count i) const { return message(i, true); }
  Message received(Count i) const { return message(i, false); }

 private:
  Message message(Count i, bool sent) const;

  std::function<Slice(int)> block_;
  Count segments_;
  std::vector<CirculantBroadcast> plans_;  // plans_[j]: this rank's in the broadcast of rank j
};

}  // namespace unisono
