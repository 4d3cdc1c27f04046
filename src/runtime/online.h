// What online selection measures on a communicator, and how its ranks share it.
#pragma once
#include <mpi.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "comm/learning.h"
#include "exec/wait.h"
#include "model/machine.h"
#include "runtime/call_scope.h"
#include "runtime/mode.h"
#include "select/online/corrections.h"
#include "select/online/duel.h"
#include "select/online/key.h"
#include "select/online/lateness.h"
#include "select/online/learned.h"
#include "select/online/learner.h"
#include "select/online/memory.h"
#include "select/online/offers.h"
#include "select/online/settings.h"
#include "select/platform.h"
#include "select/selector.h"

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
  /// What leads in such blocking calls, where it sends messages; nothing: that is not known. Local,
  /// and the same on all ranks at the same call.
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
    Count bytes;    // of its first call
    bool predicts;  // some arm wants to know who will be late
    Lateness lateness;
    Nanoseconds in_calls = 0, in_choosing = 0;  // since the last exchange
    int calls = 0;
    std::vector<Nanoseconds> summary, shared;
    MPI_Request under_way = MPI_REQUEST_NULL;
    bool waits = false;  // the summary is not under way: there is no duplicate yet
    // With a model: what it is asked, what it has said of arms 1, 2, ..., and how much of it the
    // corrections know.
    Facts facts;
    int root = 0;
    const ModelFirst* model = nullptr;
    Duel* duel = nullptr;                      // within a node
    CallsToPass to_pass;                       // of the kernels, where these lead
    bool has_begun = false;                    // some call of it was looked at
    bool is_recalled = false, judged = false;  // by what earlier jobs remember
    std::vector<double> said;
    std::vector<bool> corrected;
    std::vector<Spec> proposals;
    std::set<std::size_t> offered;     // of these
    std::unique_ptr<Pricing> pricing;  // on rank 0
    std::set<int> prepared;            // arms that have what their phases need, or cannot have it
    std::string why;                   // of the last arm, for the log
    int explained = -1;
    double lost = 0;  // seconds, that the job's account has of it

    /// Native is the judge, and the job bounds what is lost.
    bool asks() const { return model != nullptr || duel != nullptr; }
  };
  Kind* kind_of(Communicator& communicator, const Facts& facts, int root, const Choice& by_default);

  std::unique_ptr<Kind> make_kind(Communicator& communicator, const OnlineKey& key,
                                  const Facts& asked, int root, const Choice& by_default);
  /// Within a node: native against the kernels of the node. Null: no kernel can serve the call.
  std::unique_ptr<Kind> make_duel(const Facts& facts, const Choice& by_default) const;
  double patience_with_rows(bool shares_cores) const;
  /// What earlier jobs have learned of it, if that can serve the call; or null.
  const Remembered* recalled(const Communicator& communicator, const OnlineKey& key,
                             const Facts& facts) const;
  static void keep(const Kind& kind, const Learned& learned);
  static void keep_verdict(const Kind& kind);
  static void tell_others(const Kind& kind);
  /// A communicator of ours, for messages of ours; false, and off_, where there is none.
  bool takes_own(Communicator& communicator, Kind& kind);
  /// Once it is known whether that was right.
  void judge(Kind& kind);
  /// Before a call of this kind, where its times are due.
  void take_summaries(Communicator& communicator, Kind& kind);
  /// What the model says of a kind after so many seconds more for prices, and the arms that come of
  /// it; the same on all ranks.
  Answer ask_model(Kind& kind, double seconds);
  void correct(Kind& kind) const;
  /// The model's, with what kernels take on the nodes of this kind's ranks.
  Machine machine_for(const Kind& kind) const;

  static Spec arm_of(const Kind& kind, int arm);
  static std::string_view why(Kind& kind, int arm);
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
  MPI_Comm own_ = MPI_COMM_NULL, handle_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  Nanoseconds waited_ = 0;  // in choose(), within what the scope measures
  int calls_ = 0;           // before it began
  bool off_ = false;
  std::optional<node::MemoryCosts> measured_memory_;  // of this rank's node
  int hopeless_ = 0;  // kinds in which native took several times as long as a node's kernels
  int doubts_ = 0;    // kinds that were not as remembered, less those that were
};

}  // namespace unisono
