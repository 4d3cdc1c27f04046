// Blocking collectives: what is known of a call, what runs it, and its run.
#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "algorithms/composition.h"
#include "calls/host_copy.h"
#include "calls/in_node.h"
#include "calls/own_block.h"
#include "calls/request.h"
#include "calls/retained_types.h"
#include "exec/kernel_reduction.h"
#include "mpi/device_memory.h"
#include "mpi/operation.h"
#include "node/kernels.h"
#include "node/rule.h"
#include "runtime/engine.h"
#include "runtime/online.h"

namespace unisono {

/// Whether it goes to groups, and they can be made beforehand: each then.
std::vector<RankGroup> groups_of(Communicator& communicator, const Call& call,
                                 const Choice& choice) {
  const Composition* grid = choice.params.composition;
  const int size = communicator.size();
  if (grid != nullptr && has_multicasts(*grid))
    return multicast_groups(*grid, call.collective, size, call.root,
                            grid->levels.empty() ? nullptr : &communicator.topology());
  if ((choice.algorithm->restrictions & (kMulticast | kCountedGroup)) != kMulticast) return {};
  return {RankGroup::of_all(size)};
}

namespace {

const Choice kFirstCall{nullptr, {}, "one of the first calls on this communicator"};
const Choice kTopology{nullptr, {}, "such topologies are left to the MPI library"};

constexpr const char* kNoRoomInNodes =
    "needs one node's ranks in each of its groups there, with shared memory and plain elements";

bool runs_in_node(const Choice& choice) {
  return choice.algorithm != nullptr && (choice.algorithm->restrictions & kOneNode) != 0;
}

node::Protocol protocol_of(const Choice& choice) {
  return node::protocol_named(choice.algorithm->name).value_or(node::Protocol::rule);
}

/// A choice whose protocol cannot serve the call is left to the MPI library, and says why.
void check_protocol(Choice& choice, Communicator& communicator, const Call& call, Count bytes) {
  const int root =
      is_rooted(call.collective) && call.collective != Collective::bcast ? call.root : -1;
  if (const auto lack = node::unmet(communicator.team()->team(), protocol_of(choice),
                                    static_cast<std::size_t>(bytes), root))
    choice = {nullptr, {}, *lack, choice.algorithm};
}

/// Whether the ranks share memory with room for the call; the same on all.
bool has_room(Communicator& communicator, const Call& call) {
  NodeTeam* team = communicator.team();
  if (team == nullptr || !is_reducing(call.collective)) return team != nullptr;
  const TypeFacts& type = facts_of(call.recvtype);
  return node::can_reduce(team->team(), static_cast<std::size_t>(type.extent));
}

/// Runs a call on memory that the processor can touch. Nothing: the MPI library runs it.
template <class Run>
std::optional<int> on_host(Communicator& communicator, const Call& call, const Run& run) {
  look_for_devices();
  if (!has_devices()) return run(call);
  const HostCopy copy(call, communicator.rank(), communicator.size());
  if (copy.has_copies()) communicator.meet_device();
  const std::optional<int> code = run(copy.call());  // also after a failure: the others count on it
  return code ? copy.end(*code) : code;
}

}  // namespace

std::optional<int> Engine::run(const Call& call, const CallInfo& info, CallScope& scope) {
  const std::optional<int> rc = decide_and_run(call, info, scope);
  if (!rc) scope.left();
  count(rc ? g_own_calls : g_native_calls);
  return rc;
}

std::optional<int> Engine::decide_and_run(const Call& asked, const CallInfo& info,
                                          CallScope& scope) {
  if (!active_) return std::nullopt;
  Communicator& communicator = *info.communicator;
  const Call call = completed(asked, communicator);
  if (passes_first_calls_ && communicator.is_passing(info.bytes) &&
      !keeps_order(call, communicator.size())) {
    if (log_decisions_)
      report(communicator, {call.collective, communicator.size(), info.bytes}, kFirstCall);
    return std::nullopt;
  }
  communicator.meet();
  if (communicator.is_retired()) communicator.stop_serving();
  if (communicator.reach(call.collective).is_empty()) return std::nullopt;  // met a stranger, too
  prepare_flights(communicator);
  if (is_among_neighbours(call.collective)) communicator.graph();
  std::optional<Known> known = look_at(call, info);
  if (!known) {
    if (call.neighbours != nullptr && !communicator.knows_graph())
      report(communicator, {call.collective, communicator.size(), info.bytes}, kTopology);
    return std::nullopt;
  }
  const Choice choice =
      acquire(communicator, call, *known, select(communicator, call, known->facts, scope));
  if (info.leaves) {
    leave_now(communicator);
    return std::nullopt;
  }
  report(communicator, known->facts, choice);
  return run_choice(communicator, call, known->facts, choice, scope);
}

/// With what only the communicator knows of it, and sent from where MPI libraries send it.
Call Engine::completed(Call call, Communicator& communicator) {
  if (is_among_neighbours(call.collective)) call.neighbours = communicator.neighbours();
  const int rank = communicator.rank();
  if (!has_shorter_block(call, rank)) return call;
  if (!names_committed_types(call, rank, communicator.size())) return call;
  look_for_devices();
  if (has_devices() && has_device_buffers(call)) return call;
  if (put_own_block(call, rank) != MPI_SUCCESS) throw std::runtime_error("a block of its own");
  return call;
}

/// What all ranks know of a call; nothing: it is the MPI library's.
std::optional<Engine::Known> Engine::look_at(const Call& call, const CallInfo& info) {
  Communicator& communicator = *info.communicator;
  if (!names_committed_types(call, communicator.rank(), communicator.size())) {
    communicator.attendance().refuse();
    return std::nullopt;
  }
  // What is logged must be seen.
  if (!communicator.knows_reach() && !log_decisions_ && !communicator.wants_anything())
    communicator.learn_reach(selector_);
  Facts facts{call.collective, communicator.size(), info.bytes, true, communicator.nodes()};
  if (call.neighbours != nullptr) {
    if (!communicator.knows_graph()) return std::nullopt;
    facts.graph = communicator.graph();
    facts.bytes = signature_bytes(call, communicator.rank(), communicator.size())
                      .value_or(info.leaves ? received_bytes(call, communicator.rank()) : 0);
  }
  if (!log_decisions_ && !selector_.covers(facts)) return std::nullopt;
  facts.shared = communicator.may_share();
  facts.messages = communicator.may_send_in_node();
  facts.multicast = communicator.may_multicast();
  if (selector_.reads_topology(call.collective)) facts.topology = &communicator.topology();
  facts.kernels_in_nodes = kernels_in_nodes_ && communicator.has_levels();
  if (facts.kernels_in_nodes) facts.topology = &communicator.topology();
  if (!is_reducing(call.collective)) return Known{facts};
  const TypeFacts& type = facts_of(call.recvtype);
  if (!is_defined(call.op, type.kind)) {
    communicator.attendance().refuse();
    return std::nullopt;
  }
  int commutative = 1;
  PMPI_Op_commutative(call.op, &commutative);
  facts.commutative = commutative != 0;
  facts.order_matters = depends_on_order(call.op, type.kind, facts.size);
  facts.shared = facts.shared && can_reduce_in_node(type);
  const bool plain = can_reduce_in_node(type) && type.dense;
  facts.kernels_in_nodes = facts.kernels_in_nodes && plain;
  return Known{facts, plain};
}

Choice Engine::select(Communicator& communicator, const Call& call, const Facts& facts,
                      CallScope& scope) {
  const Choice choice = selector_.choose(facts);
  if (selector_.is_online(facts))
    if (const auto arm =
            Online::of(communicator).choose(communicator, facts, call.root, choice, scope))
      return *arm;
  if (choice.algorithm != nullptr && !choice.is_asked_for && !choice.keeps_order &&
      mode_ != Mode::fixed && !communicator.is_worth_it(facts.bytes))
    return kFirstCall;
  return choice;
}

/// Makes what the choice needs, at its first call on this communicator; without room for it another
/// choice.
Choice Engine::acquire(Communicator& communicator, const Call& call, Known& known, Choice choice) {
  Facts& facts = known.facts;
  if (runs_in_node(choice) && !has_room(communicator, call)) {
    facts.shared = false;
    choice = selector_.choose(facts);
  }
  if (!has_multicast(communicator, call, choice)) {
    facts.multicast = false;
    choice = selector_.choose(facts);
  }
  if (runs_in_node(choice)) check_protocol(choice, communicator, call, facts.bytes);
  if (const Composition* grid = choice.params.composition; grid && runs_in_nodes(*grid))
    if (!known.plain_elements || !prepare_groups(communicator, facts, choice, call.root))
      choice = {nullptr, {}, kNoRoomInNodes, choice.is_asked_for ? choice.algorithm : nullptr};
  return with_segment(communicator, facts, call.root, with_transport(communicator, known, choice),
                      Waits::for_all);
}

/// One that there is. Collective over the communicator at its first call of those.
Choice Engine::with_transport(Communicator& communicator, const Known& known, Choice choice) {
  if (choice.params.transport == TransportKind::shm &&
      (!known.plain_elements || !has_messages(communicator)))
    choice.params.transport = TransportKind::mpi;
  return choice;
}

std::optional<int> Engine::run_choice(Communicator& communicator, const Call& call,
                                      const Facts& facts, const Choice& choice, CallScope& scope) {
  if (runs_in_node(choice)) {
    scope.chosen(choice);
    return on_host(communicator, call, [&](const Call& here) -> std::optional<int> {
      return run_in_node(communicator, here, facts.bytes, protocol_of(choice), !choice.is_on_trial,
                         choice.to_pass);
    });
  }
  if (choice.algorithm == nullptr || communicator.own() == MPI_COMM_NULL) return std::nullopt;
  if (communicator.leaves_to_device(has_devices() && has_device_buffers(call))) return std::nullopt;
  if (choice.params.composition != nullptr &&
      !prepare_groups(communicator, facts, choice, call.root))
    return std::nullopt;
  scope.chosen(choice);
  return on_host(communicator, call, [&](const Call& here) {
    Request request(communicator, here, choice, facts.commutative, Request::Lifetime::blocking);
    request.start();
    request.wait(wait_);
    return request.result();
  });
}

/// Whether what the choice multicasts has its groups, as far as these are known beforehand.
/// Collective over the communicator at their first call.
bool Engine::has_multicast(Communicator& communicator, const Call& call, const Choice& choice) {
  if (choice.algorithm == nullptr) return true;
  MulticastGroups& multicast = communicator.multicast();
  bool all = true;
  for (const RankGroup& group : groups_of(communicator, call, choice)) {
    std::shared_ptr<MulticastChannel> channel;
    all = all && communicator.own() != MPI_COMM_NULL &&
          (multicast.find(group, channel) ||
           multicast.open(communicator.own(), group, MulticastGroups::For::all_calls, channel));
  }
  return all;
}

bool Engine::has_messages(Communicator& communicator) {
  if (communicator.messages() != nullptr) return true;
  if (first_rank_ && communicator.is_new("no messages"))
    say_once("no room in the node's shared memory for messages of " +
             std::to_string(communicator.size()) + " ranks; they go through the MPI library");
  return false;
}

bool Engine::prepare_groups(Communicator& communicator, const Facts& facts, const Choice& choice,
                            int root) const {
  const Composition& composition = *choice.params.composition;
  if (!has_calls(composition)) return true;
  const int before = communicator.groups().count();
  const double begin = PMPI_Wtime();
  const bool made = communicator.has_groups(composition, facts.collective, root);
  const double ms = (PMPI_Wtime() - begin) * 1e3;
  if (!log_decisions_ || communicator.rank() != 0) return made;
  const int added = communicator.groups().count() - before;
  char took[40];
  std::snprintf(took, sizeof took, "%.1f ms", ms);
  if (added > 0)
    say(std::to_string(added) + " sub-communicator" + (added > 1 ? "s" : "") + " of " +
        std::to_string(facts.size) + " ranks made in " + took);
  else if (!made && communicator.is_new("no sub-communicators"))
    say("no room for sub-communicators; the MPI library's own runs");
  return made;
}

}  // namespace unisono
