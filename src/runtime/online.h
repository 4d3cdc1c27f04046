// What online selection measures on a communicator, and how its ranks share it.
#pragma once
#include <mpi.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "comm/learning.h"
#include "runtime/call_scope.h"
#include "runtime/mode.h"
#include "select/online/duel.h"
#include "select/online/key.h"
#include "select/online/lateness.h"
#include "select/online/learned.h"
#include "select/online/learner.h"
#include "select/selector.h"
#include "wait/waiter.h"

namespace unisono {

/// The learners of one communicator, which only the thread that calls collectives on it touches.
/// Every rank makes the same calls here in the same order, so that the nonblocking reductions by
/// which they share their times match without anybody asking. None is waited for before the calls
/// of a gap have passed, and all are over when the communicator is freed.
class Online final : public Listener, public Learning {
 public:
  /// Of this communicator; made at the first request.
  static Online& of(Communicator& communicator);

  /// What runs the call that now begins; `by_default` is what would without online selection.
  /// Nothing: that, for nobody learns here. Collective over the communicator. `scope` tells when it
  /// is over.
  std::optional<Choice> choose(Communicator& communicator, const Facts& facts, int root,
                               const Choice& by_default, CallScope& scope);
  /// What leads in such blocking calls between hosts, or by STAR; nothing: that is not known.
  /// Local, and the same on all ranks at the same call.
  static std::optional<Choice> leader_of(Communicator& communicator, const Facts& facts, int root);
  void took(std::int64_t begin_ns, std::int64_t end_ns) noexcept override;
  void record(const Communicator& communicator) override;
  bool is_over() override;
  void complete() override;
  void complete_if_idle() override;

 private:
  struct Kind {
    std::vector<Spec> arms;
    Learner learner;
    Facts facts;           // of its first call
    bool predicts;         // some arm wants to know who will be late
    bool is_check;         // of two ways, native and another
    Duel* duel = nullptr;  // within a node
    Lateness lateness;
    Nanoseconds in_calls = 0;  // since the last exchange
    int calls = 0;
    std::vector<Nanoseconds> summary, shared;
    MPI_Request under_way = MPI_REQUEST_NULL;
    CallsToPass to_pass;     // where another way leads than native
    bool has_begun = false;  // some call of it was looked at
    std::string why;         // of the last call, for the log
    double lost = 0;         // seconds, that the job's account has of it
  };
  Kind* kind_of(Communicator& communicator, const Facts& facts, int root, const Choice& by_default);

  std::unique_ptr<Kind> make_kind(const Communicator& communicator, const Facts& facts,
                                  const Choice& by_default) const;
  /// Of native and this way.
  static std::unique_ptr<Kind> make_check(std::unique_ptr<Policy> policy, const Facts& facts,
                                          const Spec& other);
  /// Within a node: native against the kernels of the node. Null: no kernel can serve the call.
  std::unique_ptr<Kind> make_duel(const Facts& facts, const Choice& by_default) const;
  static void keep_verdict(const Kind& kind);
  static void tell_others(const Kind& kind);
  /// A communicator of ours, for messages of ours; false, and off_, where there is none.
  bool takes_own(Communicator& communicator);
  /// Before a call of this kind, where its times are due.
  void take_summaries(Communicator& communicator, Kind& kind);

  static Spec arm_of(const Kind& kind, int arm);
  static std::string_view why(Kind& kind);
  static Choice settled(Communicator& communicator, Kind& kind);
  bool may_leave(const Kind& kind) const;
  Choice pass(Communicator& communicator, Kind& kind, int calls) const;
  static Choice passed(Kind& kind);
  static void learn(Kind& kind, int ranks);

  /// Held where sessions are: a thread may be in a call while another is in MPI_Finalize.
  std::unique_lock<std::mutex> guard() const;

  mutable std::mutex mutex_;
  std::map<OnlineKey, std::unique_ptr<Kind>> kinds_;  // null: nothing to choose from
  Kind* current_ = nullptr;
  MPI_Comm own_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  Nanoseconds waited_ = 0;  // in choose(), within what the scope measures
  int calls_ = 0;           // before it began
  bool off_ = false;
  int hopeless_ = 0;  // kinds in which native took several times as long as a node's kernels
};

}  // namespace unisono
