// Runs a plan over a transport: a state machine that can be left and resumed, so that blocking,
// nonblocking and persistent calls are the same thing. It knows no communicator.
#pragma once
#include <mpi.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "exec/group_runner.h"
#include "exec/plan.h"
#include "exec/transport.h"
#include "mpi/datatype.h"
#include "node/reduction.h"
#include "wait/waiter.h"

namespace unisono {

/// What the units of a schedule are in this call.
struct Binding {
  std::byte* input = nullptr;  ///< address of unit 0; may be null where there is none
  std::byte* output = nullptr;
  MPI_Datatype type = MPI_BYTE;  ///< of one unit
  TypeFacts unit = kByteFacts;
  MPI_Op op = MPI_OP_NULL;
  std::optional<node::Reduction> built_in;  ///< of op and type, in place of the MPI library's
  int rank = 0;                             ///< among the ranks of the schedule
  GroupRunner* groups = nullptr;            ///< for plans with collectives of groups
  Transport* transport = nullptr;           ///< of all messages; open for this call
  Transport* multicast = nullptr;           ///< of those to groups, where there are any
};

struct ScratchMemory {
  std::unique_ptr<std::byte[]> bytes;
  std::size_t size = 0;
};

class Execution {
 public:
  Execution() = default;
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  /// Starts what can start at once. `plan`, and what the binding points to, must live until the
  /// execution is done. An MPI error code, MPI_ERR_NO_MEM where there is no memory: after an error
  /// the execution is over, and nothing is written into the program's buffers any more.
  int start(const Plan& plan, const Binding& binding);
  /// Tests for messages without blocking and starts what has become ready. An MPI error code.
  int progress();
  bool done() const { return left_ == 0; }
  /// Whether the last progress() saw anything complete.
  bool moved() const { return moved_; }
  /// Waits a little if the last progress() moved nothing: in the transport's way where it has one,
  /// unless `others` need the processor as well.
  void wait(Waiter& waiter, bool others = false);
  /// Ends it: afterwards done(), and nothing is written into the program's buffers.
  void abandon() noexcept {
    if (!done()) fail(MPI_SUCCESS);
  }
  /// Large scratch memory goes to whoever needs it next. Precondition: done().
  void give_back_scratch();

 private:
  int begin(OpId id);
  int begin_message(OpId id, const Op& op);
  int begin_multicast(OpId id, const Op& op);
  int copy(const Op& op) const;
  int reduce(const Op& op) const;
  OpId reduction_behind(OpId recv) const;
  int run_group_call(const GroupCall& call) const;
  void complete(OpId id);
  void let_follow(OpId id);
  void take_completions();
  int run_ready();
  bool serve();
  /// Somebody waits to be served, and others are given time: nobody may sleep over it.
  bool pauses() const { return server_ != kNoOp && !waiting_.empty(); }
  bool has_paused() const;
  int fail(int error) noexcept;
  std::byte* address(BufferId buffer, Count offset) const;
  std::int32_t* slots() const { return reinterpret_cast<std::int32_t*>(buffers_[kSlots]); }
  void place_scratch();

  const Plan* plan_ = nullptr;
  Binding binding_;
  std::size_t left_ = 0;
  bool moved_ = false;
  std::vector<std::byte*> buffers_;  // the addresses of unit 0
  std::vector<std::uint32_t> open_;  // per op: dependencies, then portions under way
  std::vector<OpId> ready_;          // a queue: ready_[next_ready_...]
  std::size_t next_ready_ = 0;
  std::vector<OpId> followed_;     // sends under way behind which others have gone on: few
  std::vector<OpId> reduced_;      // reduces that a message brings about: few
  OpId server_ = kNoOp;            // a serve that has started
  std::vector<OpId> waiting_;      // enqueues that have started, in that order
  std::size_t unserved_ = 0;       // they, and those that have not
  double first_came_ = 0;          // when the first of them did
  std::vector<OpId> completions_;  // of messages, or portions of them, that have become complete
  ScratchMemory scratch_;
};

}  // namespace unisono
