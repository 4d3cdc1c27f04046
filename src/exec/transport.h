// What carries the messages of an execution: the MPI library (mpi_transport.h), the memory of the
// node (shm_transport.h), or, in the executor's tests, a made-up network.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "mpi/datatype.h"
#include "node/reduction.h"
#include "schedule/schedule.h"

namespace unisono {

/// MPI 3 counts in int: longer messages and reductions go in portions of so many units.
inline constexpr Count kMaxPortion = Count{1} << 30;
/// Of a message that is cut so many are under way at once. Each so manieth, and the last, is over
/// when the receiver has begun to take it: nobody runs ahead of a late one by more.
inline constexpr Count kPortionsUnderWay = 8;

/// A message of an op. Its units are those of the call, or, for `slots`, 32-bit integers.
struct Message {
  OpKind kind = OpKind::send;  ///< or recv; or, of a transport to groups, those
  OpId op = 0;
  int peer = 0;
  Count position = 0;  ///< of this message among all from the one rank to the other; equal on both
  std::byte* where = nullptr;  ///< address of its first unit; null if it has none
  Count units = 0;             ///< 0: a token
  bool slots = false;
  /// Of a multicast or recv_multicast: which of the schedule's groups. `peer` is who sends it.
  std::size_t group = 0;
  /// Of a recv whose units may be reduced as they come, by a reduction that lives until it is
  /// complete: sum = left (+) message, where any of these may be `where`, which nobody reads
  /// afterwards if sum is another. Null: they may not.
  const node::Reduction* reduction = nullptr;
  const std::byte* left = nullptr;
  std::byte* sum = nullptr;
};

/// What became of a message.
struct Started {
  /// Into how many portions it was cut.
  std::uint32_t portions = 0;
  /// Who only waits for its turn behind it may go on before it is over; who writes into its memory
  /// may not.
  bool may_be_followed = false;
  /// When it is complete it has been reduced into `sum` as well.
  bool reduces = false;
};

/// Of one execution at a time. Messages from one rank to another with the same position, or with
/// positions kChannelDepth apart, arrive in the order in which they were started.
class Transport {
 public:
  virtual ~Transport() = default;

  /// Starts a message. Each of its portions adds the op to `completed` once, perhaps at once. The
  /// list must outlive the message. An MPI error code: then portions started before stay under way
  /// until abandon().
  virtual int start(const Message& message, std::vector<OpId>& completed, Started& started) = 0;
  /// Moves what can be moved, and adds the ops of completed portions. `only_looks`: returns at
  /// once in the simulator too. An MPI error code.
  virtual int progress(std::vector<OpId>& completed, bool only_looks, bool& moved) = 0;
  /// Waits until something may have moved. False: the caller must wait in its own way.
  virtual bool wait() { return false; }
  /// For a caller that has others to serve as well, or whose wait() said no: what a wait does
  /// besides waiting. Whenever nothing has moved; cheap, or rare.
  virtual void look_around() {}
  /// After an error: when this returns, no byte of the program's receive buffers is written any
  /// more. True: others may still read what was to be sent.
  virtual bool abandon(std::vector<OpId>& completed) = 0;
};

}  // namespace unisono
