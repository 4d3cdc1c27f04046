// One collective, from the chosen algorithm to the result in the program's buffers: the way of
// every call that sends messages. A blocking call starts a request and waits for it; others leave
// it in flight.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>

#include "calls/bound_call.h"
#include "calls/call.h"
#include "calls/count_exchange.h"
#include "calls/group_calls.h"
#include "calls/host_copy.h"
#include "calls/retained_operation.h"
#include "calls/retained_types.h"
#include "comm/communicator.h"
#include "select/selector.h"

namespace unisono {

class Request {
 public:
  /// Whether the program may free what the call names before the request is done, and its buffers
  /// may be on a device: a blocking call brings them to the processor itself.
  enum class Lifetime { blocking, in_flight };

  /// The communicator's private duplicate must exist. The arrays of the call are not read after
  /// this, its buffers are until the request is done.
  /// `lasting`: tags of this communicator, for a request that is started again and again.
  Request(Communicator& communicator, Call call, const Choice& choice, bool commutative,
          Lifetime lifetime, std::optional<Tags> lasting = {});
  ~Request();
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  /// Starts what can start at once. Again, once it is done, if its tags last: then no memory is
  /// taken, and the counts of other ranks are known.
  void start() noexcept;
  /// Whether it has the bytes of a device, as they were at its construction.
  bool holds_copies() const { return retained_ && retained_->host.has_copies(); }
  /// Goes on as far as it can without waiting.
  void progress() noexcept;
  bool done() const { return phase_ == Phase::done; }
  /// For a request that is started again and again: what all ranks have to be there for, the counts
  /// of others and groups of its own. Collective over the communicator, before the first start.
  void prepare(WaitMode mode);
  /// The same of one of the same call that has been prepared, which is not used any more.
  void inherit(Request& prepared);
  /// Waits, and moves the other requests of the process meanwhile.
  void wait(WaitMode mode);

  /// Once done: an MPI error code; the caller raises it on the program's communicator. After an
  /// error no byte of the program's receive buffers is written any more. Nothing, on all ranks: it
  /// did not run, for a composition would give the MPI library counts beyond int.
  std::optional<int> result() const { return result_; }

 private:
  enum class Phase { queued, counts, data, done };
  /// What a call that is in flight needs when the program may have freed it, in place of what the
  /// call named.
  struct Retained {
    Retained(Call& call, int rank, int size);
    RetainedTypes types;
    RetainedOperation operation;
    HostCopy host;
  };
  const Call& retained(Call& call, Lifetime lifetime);
  const Args& args_for(const Choice& choice);
  /// An algorithm with its arguments, which must live until its execution is done.
  void run(const Algorithm& algorithm, const Args& args, Binding binding,
           std::shared_ptr<const Plan>& plan);
  template <class Function>
  void step(Function function) noexcept;
  /// Through the node's memory, and not only in calls of its own thread.
  bool is_mover() const { return retained_ && choice_.params.transport == TransportKind::shm; }
  bool is_under_way() const { return phase_ == Phase::counts || phase_ == Phase::data; }
  /// What waiting includes, besides waiting.
  void look_around();
  /// Of ranks that take no part in this call, now and then in a wait that lasts.
  void look_for_absence();
  void begin();
  void exchange_counts();
  /// After the counts have come.
  void find_order();
  void begin_data();
  bool has_channels(std::shared_ptr<const Plan>& plan, const Algorithm& algorithm, const Args& args,
                    MulticastGroups::For whom);
  bool take_counts();
  void advance();
  void finish(std::optional<int> result) noexcept;

  Communicator& communicator_;
  const std::uint64_t call_ = communicator_.attendance().call();  // its number
  unsigned fruitless_looks_ = 0;
  std::optional<Retained> retained_;
  BoundCall bound_;
  Choice choice_;
  CountExchange exchange_;
  GroupCalls groups_;
  std::unique_ptr<Workspace> workspace_;  // while it is under way, or as long as its tags last
  /// Where its order may be that of earlier calls; null: nothing is known of these.
  RepeatedCalls* repeated_ = nullptr;
  std::uint64_t number_ = 0;  // among them
  std::shared_ptr<const MessageOrder> order_;
  std::shared_ptr<const Plan> exchange_plan_, plan_;
  std::vector<std::shared_ptr<MulticastChannel>> channels_;  // of the plan's groups
  Tags tags_;
  bool has_counts_ = false;  // of other ranks
  Phase phase_ = Phase::queued;
  bool moves_ = false;  // and what it calls of the MPI library has turns, in which others are moved
  std::optional<int> result_;
};

}  // namespace unisono
