// The whole of Unisono in a process: configuration, agreement between the ranks, and the decision
// for each call.
#pragma once
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "base/result.h"
#include "base/say.h"
#include "calls/call_info.h"
#include "comm/chosen_segments.h"
#include "comm/node_memory.h"
#include "comm/placement.h"
#include "model/machine.h"
#include "runtime/call_scope.h"
#include "runtime/meeting.h"
#include "runtime/mode.h"
#include "runtime/tracer.h"
#include "select/selector.h"

namespace unisono {

/// To which the choice multicasts, as far as that is known before the counts of other ranks are.
std::vector<RankGroup> groups_of(Communicator& communicator, const Call& call,
                                 const Choice& choice);

class Engine {
 public:
  static Engine& instance();

  /// Collective over MPI_COMM_WORLD, after MPI_Init: reads UNISONO_*, makes sure that all ranks
  /// read the same, and finds out where they run.
  void start() noexcept;
  /// At the beginning of MPI_Finalize, without a message. Where this rank has made a session, calls
  /// may be run as before.
  void stop() noexcept;

  /// Runs the call, or leaves it to the MPI library. All ranks decide alike.
  std::optional<int> run(const Call& call, const CallInfo& info, CallScope& scope);

  /// Starts a nonblocking call, or leaves it to the MPI library. All ranks decide alike.
  std::optional<int> start(const Call& asked, const CallInfo& info, MPI_Request* request);

  /// The same for a persistent call: all ranks are here.
  std::optional<int> make_persistent(const Call& asked, const CallInfo& info, MPI_Info hints,
                                     MPI_Request* request);

  Result<Spec> force(Collective collective, std::string_view spec);
  /// The collectives of which run() might do anything.
  CollectiveSet candidates() const { return active_ ? selector_.candidates() : 0; }
  /// Whether every call is to be watched, whatever becomes of it.
  bool is_watching() const { return g_tracer != nullptr; }

 private:
  /// The files that variables name.
  struct Files {
    Result<std::string> profile = Error{}, topology = Error{};
  };
  OwnSettings read_settings(Files& files) noexcept;
  bool has_met(Meeting meeting) const;
  void begin(const Files& files);
  void end();
  void stay();
  void keep_what_is_learned() const;
  /// `node`, `ranks_here`: the ranks of this node.
  void read_environment(const Files& files, MPI_Comm ranks_here);
  void select_online(const Platform& here, const NodeFacts& node);
  bool find_network(MPI_Comm ranks_here, const NodeFacts& node, const Result<Profile>& profile);
  void load_order(const std::string& setting, const Spec& spec) const;
  void use_profile(const Result<Profile>& profile, const Platform& here, int nodes);
  TopologyLabels find_levels(const Result<std::string>& text, const std::vector<int>& nodes) const;
  void begin_progress(const NodeFacts& node) const;
  /// A variable of 0 or 1; `otherwise` where it is neither.
  bool is_on(const char* name, bool otherwise) const;
  void share_memory(MPI_Comm node, const Notice& notice);
  std::optional<int> decide_and_run(const Call& asked, const CallInfo& info, CallScope& scope);
  struct Known {
    Facts facts;
    bool plain_elements = true;  // of a reduction, and every rank knows it
  };
  static Call completed(Call call, Communicator& communicator);
  std::optional<Known> look_at(const Call& call, const CallInfo& info);
  Choice select(Communicator& communicator, const Call& call, const Facts& facts, CallScope& scope);
  Choice acquire(Communicator& communicator, const Call& call, Known& known, Choice choice);
  std::optional<int> run_choice(Communicator& communicator, const Call& call, const Facts& facts,
                                const Choice& choice, CallScope& scope);
  std::optional<Known> look_to_start(const Call& call, const CallInfo& info);
  Choice select_in_flight(Communicator& communicator, const Facts& facts, int root) const;
  Choice as_hinted(Communicator& communicator, const Facts& facts, MPI_Info hints, Choice choice);
  static Choice to_be_in_flight(const Choice& choice);
  static bool is_prepared(Communicator& communicator, const Call& call, const Known& known,
                          const Choice& choice);
  Choice with_transport(Communicator& communicator, const Known& known, Choice choice);
  enum class Waits : std::uint8_t { for_all, for_nobody };
  Choice with_segment(Communicator& communicator, const Facts& facts, int root, Choice choice,
                      Waits waits);
  std::optional<Machine> machine_for(Communicator& communicator, const Params& params) const;
  bool may_ask(Communicator& communicator, const Params& params) const;
  void ask_for_segment(Communicator& communicator, const ChosenSegments::Wanted& wanted);
  void find_segments(Communicator& communicator);
  void prepare_flights(Communicator& communicator);
  bool has_messages(Communicator& communicator);
  bool has_multicast(Communicator& communicator, const Call& call, const Choice& choice);
  void start_multicasting();
  bool prepare_groups(Communicator& communicator, const Facts& facts, const Choice& choice,
                      int root) const;
  void report(Communicator& communicator, const Facts& facts, const Choice& choice,
              const char* form = "");
  void say_once(const std::string& text);
  bool passes_first_calls() const;
  void complain(const std::string& text) const {
    if (first_rank_) say(text);
  }

  Mode mode_ = Mode::automatic;
  bool started_ = false;  // communicators and datatypes are known
  bool active_ = false;   // and calls may be run
  bool online_ = false;   // some collectives are selected online
  bool log_decisions_ = false;
  bool passes_first_calls_ = false;  // see Communicator::is_passing()
  bool kernels_in_nodes_ = false;    // every node with several ranks has memory for them
  bool prepares_ = false;            // communicators at their first call, for nonblocking ones
  bool prepares_messages_ = false;   // and messages in the memory of their node
  bool first_rank_ = false;          // of MPI_COMM_WORLD: the one that speaks for all
  JobPlace place_;                   // what the ranks told each other of it in MPI_Init
  WaitMode wait_ = WaitMode::spin;
  Selector selector_;
  Machine machine_;  // what messages cost; the same on all ranks
  bool knows_machine_ = false;
  std::unique_ptr<Tracer> tracer_;
  std::mutex mutex_;  // guards complained_
  std::set<std::string> complained_;
};

}  // namespace unisono
