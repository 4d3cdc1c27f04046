// The builder: an algorithm writes what its rank does as a sequential program; the builder finds
// out what may overlap.
//
// The meaning of the program is that of its order. An op depends on an earlier one exactly when
// their slices conflict (one writes what the other reads or writes), when the algorithm says so
// (end_round, after), or when the channel would hold too many messages. So a chain is written
// "for each segment: recv, send" and becomes a pipeline, and two phases written one after the
// other overlap where the data allow it.
#pragma once
#include <map>
#include <vector>

#include "schedule/args.h"
#include "schedule/schedule.h"

namespace unisono {

class Builder {
 public:
  explicit Builder(const Args& args);

  const Args& args() const { return args_; }
  int rank() const { return args_.rank; }
  int size() const { return args_.size; }

  // --- buffers; see Args for what each collective has ------------------------------------------
  Slice input() const { return args_.input(); }
  Slice input_block(int i) const { return args_.input_block(i); }
  Slice output() const { return args_.output(); }
  Slice output_block(int i) const { return args_.output_block(i); }
  /// `count` adjacent blocks of the output from block `first` on; adjacent_output() must hold.
  Slice output_blocks(int first, int count) const;
  /// Whether the output blocks lie one behind the other in rank order.
  bool adjacent_output() const;
  /// A new scratch buffer; a slice of all of it. At most kMostScratch of them.
  Slice scratch(Count length);
  /// New slots, for peers that are bound while the schedule runs. They are sent and received like
  /// any slice, and are the peer of a message through bound().
  Slice slots(Count count);

  // --- ops; those of length zero vanish (on both sides alike) ----------------------------------
  OpId send(int peer, Slice slice);
  OpId recv(int peer, Slice slice);
  /// As send(), and asks the network for a way; see Op.
  OpId send_by(std::uint8_t way, int peer, Slice slice);
  OpId copy(Slice from, Slice into);    ///< also vanishes when both are the same slice
  OpId reduce(Slice from, Slice into);  ///< into = from (+) into
  OpId send_token(int peer);            ///< an empty message that does not vanish
  OpId recv_token(int peer);
  /// The number of a group of ranks; equal ones are one. At most kMostGroups.
  BufferId group(RankGroup ranks);
  /// To all other members. Each of them receives it as its next message of that group.
  OpId multicast(BufferId group, Slice slice);
  OpId recv_multicast(BufferId group, int root, Slice slice);
  /// Everything before is complete when it begins, and it is complete before anything behind it
  /// begins: the calling thread waits in the MPI library.
  OpId library(GroupCall call);
  /// `peer` waits to be served; what reads `neighbours`, two slots, waits with it. One enqueue of a
  /// rank, and as many serves as enqueues: nobody stays behind, whoever comes alone.
  OpId enqueue(int peer, Slice neighbours);
  /// Takes whoever waits, when all that used the slot `first` before is complete; but not before
  /// all that are left wait, or the first has waited for `pause` microseconds.
  OpId serve(Slice first, Count pause = 0);

  // --- order beyond the data -------------------------------------------------------------------
  /// Everything that follows waits for everything before.
  void end_round();
  /// An op that only waits for what after() has named.
  OpId join();
  /// The next op also waits for `id` (kNoOp: nothing).
  void after(OpId id);
  /// At most so many messages under way on one channel; 1 <= messages <= kChannelDepth. Default 8.
  void channel_window(Count messages);

  Schedule finish() &&;

 private:
  /// An interval of a buffer: its last writer and those who read it since.
  struct Touch {
    Count end = 0;
    OpId writer = kNoOp;
    std::vector<OpId> readers;
  };
  using Intervals = std::map<Count, Touch>;  // key: begin

  OpId add(const Op& op);
  OpId add_local(OpKind kind, Slice from, Slice into);
  OpId add_message(OpKind kind, int peer, Slice slice);
  OpId add_multicast(OpKind kind, BufferId group, int peer, Slice slice);
  void depend(OpId on);
  std::vector<OpId>& channel(OpKind kind, int peer) {
    return channels_[std::int64_t{peer} * 2 + (kind == OpKind::send ? 1 : 0)];
  }
  void depend_on_readers_and_writer(OpId id, Slice slice, bool writes);

  Args args_;
  Count window_ = 8;
  OpId round_ = kNoOp;    // the last join
  OpId round_begin_ = 0;  // first op after it
  std::vector<Op> ops_;
  std::vector<std::uint32_t> first_dep_{0};
  std::vector<OpId> deps_;
  std::vector<OpId> pending_;  // from after()
  std::vector<Count> scratch_;
  std::vector<GroupCall> calls_;
  Count slots_ = 0;
  std::vector<RankGroup> groups_;
  std::vector<Count> group_messages_;                   // so far, to each of them
  std::vector<Intervals> touched_;                      // per buffer
  std::map<std::int64_t, std::vector<OpId>> channels_;  // key: peer * 2 + direction
};

}  // namespace unisono
