// Nonblocking collectives: which of them Unisono starts, and with which algorithm.
#include <array>
#include <cstdint>

#include "algorithms/composition.h"
#include "base/config.h"
#include "base/hash.h"
#include "calls/in_node.h"
#include "calls/nonblocking.h"
#include "calls/persistent.h"
#include "calls/progress_thread.h"
#include "mpi/comm.h"
#include "mpi/rank_lost.h"
#include "mpi/threads.h"
#include "mpi/turns.h"
#include "runtime/engine.h"
#include "runtime/online.h"

namespace unisono {

namespace {

const char* const kWaits = "cannot run a call that does not block";
const char* const kNoTurns = "needs turns, which the MPI library does not have here";
const char* const kFailures = "would end with another error where the program handles failures";
const char* const kNotPrepared = "the communicator is not prepared for it yet";

/// As UNISONO_BCAST=... has it: "chain:segment=64K". Empty: none.
std::string hinted_spec(MPI_Info hints) {
  const auto value = [hints](const char* key) {
    char text[MPI_MAX_INFO_VAL + 1] = "";
    int found = 0;
    if (hints != MPI_INFO_NULL) PMPI_Info_get(hints, key, MPI_MAX_INFO_VAL, text, &found);
    return std::string(found != 0 ? text : "");
  };
  const std::string algorithm = value("unisono_algorithm"), segment = value("unisono_segment");
  if (algorithm.empty() || segment.empty()) return algorithm;
  return algorithm + (algorithm.find(':') == std::string::npos ? ":" : ",") + "segment=" + segment;
}

/// Where ranks share memory they ask each other there, and find out who calls something else.
bool all_equal(Communicator& communicator, std::uint64_t number) {
  const auto bits = static_cast<std::int64_t>(number);
  const std::array own{bits, ~bits};
  std::array<std::int64_t, 2> extremes{};
  return combine_numbers(communicator, own, extremes, MPI_MAX) == MPI_SUCCESS &&
         extremes[0] == ~extremes[1];
}

/// Sends messages only, and waits for nothing but these; or, in place of a kernel of the node, its
/// schedule does. No profile has measured that.
bool can_be_in_flight(const Choice& choice) {
  const unsigned restrictions = choice.algorithm->restrictions;
  const Composition* grid = choice.params.composition;
  return (restrictions & kPredicts) == 0 && ((restrictions & kOneNode) == 0 || choice.is_forced) &&
         (grid == nullptr || (!has_calls(*grid) && !runs_in_nodes(*grid)));
}

}  // namespace

// Ranks need not ask for a thread alike, so they cannot be asked: what all of them see rank 0 says,
// and where the system refuses, each rank for itself.
void Engine::begin_progress(const NodeFacts& node) const {
  const std::string progress = variable("UNISONO_PROGRESS");
  const auto refused = [](const std::string& why) {
    return "UNISONO_PROGRESS=thread: " + why + "; it goes on in calls of MPI";
  };
  if (!wants_progress_thread()) {
    if (progress != "calls")
      complain(setting("UNISONO_PROGRESS") + ": valid are calls and thread; calls holds");
  } else if (node.oversubscribed) {
    complain(refused("there are more ranks than cores"));
  } else if (!several_threads()) {
    complain(refused("the MPI library lets one thread call it"));
  } else if (!start_progress_thread(2 * node.ranks_on_node <= node.cores)) {
    say(refused("the system has no thread for rank " + std::to_string(rank_in(MPI_COMM_WORLD))));
  }
}

/// As asked for, as learned in blocking calls of this kind, or as such a call would begin. Within a
/// node a duel says nothing of calls in flight.
Choice Engine::select_in_flight(Communicator& communicator, const Facts& facts, int root) const {
  if (!selector_.is_online(facts)) return selector_.choose(facts);
  if (const auto leader = Online::leader_of(communicator, facts, root)) return *leader;
  return facts.nodes > 1 ? selector_.choose(facts) : Choice{nullptr, {}, "online"};
}

/// Makes what calls in flight need, as these wait for nobody. Collective over the communicator.
void Engine::prepare_flights(Communicator& communicator) {
  if (communicator.wants_own() || prepares_) {
    communicator.own();
    if (communicator.has_neighbours()) communicator.graph();
  }
  if ((communicator.wants_messages() || prepares_messages_) && communicator.may_send_in_node())
    has_messages(communicator);
  find_segments(communicator);
}

/// Whether it has been made, or cannot be: all ranks must be there for that, in the next blocking
/// call, and this one waits for none.
bool Engine::is_prepared(Communicator& communicator, const Call& call, const Known& known,
                         const Choice& choice) {
  const bool in_node = choice.params.transport == TransportKind::shm && known.plain_elements;
  if (!communicator.has_own()) communicator.want_own();
  if (in_node) communicator.want_messages();
  if ((choice.algorithm->restrictions & kCountedGroup) != 0) return false;
  for (const RankGroup& group : groups_of(communicator, call, choice))
    if (std::shared_ptr<MulticastChannel> channel; !communicator.multicast().find(group, channel))
      return false;
  return communicator.has_own() && !(in_node && communicator.wants_messages());
}

/// Its messages go the way that the choice names.
Choice Engine::to_be_in_flight(const Choice& choice) {
  if (choice.algorithm == nullptr) return choice;
  const Algorithm* unmet = choice.is_asked_for ? choice.algorithm : nullptr;
  if (!can_be_in_flight(choice)) return {nullptr, {}, kWaits, unmet};
  if (!has_turns()) return {nullptr, {}, kNoTurns, unmet};
  if (handles_failures()) return {nullptr, {}, kFailures, unmet};
  Choice possible = choice;
  if ((choice.algorithm->restrictions & kOneNode) != 0)
    possible.params.transport = TransportKind::shm;
  return possible;
}

/// What all ranks know of a call that is to be started; nothing: it is the MPI library's.
std::optional<Engine::Known> Engine::look_to_start(const Call& call, const CallInfo& info) {
  if (!active_) return std::nullopt;
  info.communicator->meet();
  if (info.communicator->reach(call.collective).is_empty()) return std::nullopt;  // met a stranger
  return look_at(call, info);
}

std::optional<int> Engine::start(const Call& asked, const CallInfo& info, MPI_Request* request) {
  Communicator& communicator = *info.communicator;
  const Call call = completed(asked, communicator);
  if (call.neighbours != nullptr && !communicator.knows_graph()) {
    if (every_rank_knows_all(communicator.handle()))
      communicator.graph();
    else
      communicator.want_own();  // and the graph with it
  }
  const std::optional<Known> known = look_to_start(call, info);
  if (!known) return std::nullopt;
  Choice choice = to_be_in_flight(select_in_flight(communicator, known->facts, call.root));
  choice = with_segment(communicator, known->facts, call.root, choice, Waits::for_nobody);
  if (choice.algorithm != nullptr)
    choice = is_prepared(communicator, call, *known, choice)
                 ? with_transport(communicator, *known, choice)
                 : Choice{nullptr, {}, kNotPrepared};
  report(communicator, known->facts, choice, "nonblocking ");
  if (info.leaves) leave_now(communicator);
  if (choice.algorithm == nullptr || info.leaves) {
    count(g_native_calls);
    return std::nullopt;
  }
  count(g_own_calls);
  return start_nonblocking(communicator, call, choice, known->facts.commutative, request);
}

/// What the program asks for by its hints, where the user does not, and all ranks say the same: MPI
/// lets each of them say what it likes.
Choice Engine::as_hinted(Communicator& communicator, const Facts& facts, MPI_Info hints,
                         Choice choice) {
  const std::string text = hinted_spec(hints);
  const bool equal = all_equal(communicator, fnv1a(text));
  if (text.empty() && equal) return choice;
  const auto complain = [&](const std::string& what) {
    if (first_rank_ && communicator.is_new(what)) say_once(what);
    return choice;
  };
  const std::string call = std::string(name(facts.collective));
  if (!equal)
    return complain("hints of a persistent " + call + " differ between ranks; none holds");
  const auto asked = parse_spec(facts.collective, text);
  if (!asked) return complain("hint for a persistent " + call + ": " + asked.error());
  Facts known = facts;
  if (asked->algorithm != nullptr && reads_topology(*asked->algorithm, asked->params))
    known.topology = &communicator.topology();
  return selector_.choose(known, *asked, "hint");
}

std::optional<int> Engine::make_persistent(const Call& asked, const CallInfo& info, MPI_Info hints,
                                           MPI_Request* request) {
  if (has_shorter_block(asked, info.communicator->rank())) {
    leave_now(*info.communicator);
    return std::nullopt;
  }
  const Call call = completed(asked, *info.communicator);
  if (call.neighbours != nullptr) info.communicator->graph();
  const std::optional<Known> known = look_to_start(call, info);
  // What is logged is seen by one rank alone.
  if (!known || !selector_.covers(known->facts)) return std::nullopt;
  Communicator& communicator = *info.communicator;
  const Facts& facts = known->facts;
  Choice choice = select_in_flight(communicator, facts, call.root);
  choice = to_be_in_flight(as_hinted(communicator, facts, hints, choice));
  if (choice.algorithm != nullptr) choice = with_transport(communicator, *known, choice);
  choice = with_segment(communicator, facts, call.root, choice, Waits::for_all);
  report(communicator, facts, choice, "persistent ");
  const bool runs = choice.algorithm != nullptr && communicator.own() != MPI_COMM_NULL;
  std::optional<int> code;
  if (info.leaves)
    leave_now(communicator);
  else if (runs)
    code = unisono::make_persistent(communicator, call, choice, facts.commutative, wait_, request);
  count(code ? g_own_calls : g_native_calls);
  return code;
}

}  // namespace unisono
