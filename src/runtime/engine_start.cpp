// Nonblocking collectives: which of them Unisono starts, and with which algorithm.
#include "algorithms/composition.h"
#include "calls/in_flight.h"
#include "mpi/turns.h"
#include "runtime/engine.h"
#include "runtime/online.h"

namespace unisono {

namespace {

const char* const kWaits = "waits for ranks within its phases";
const char* const kNoTurns = "this MPI library has no turns in which it could go on";
const char* const kNoOwn = "the communicator has no duplicate yet";

/// Sends messages only, and waits for nothing but these.
bool can_be_in_flight(const Choice& choice) {
  const Composition* grid = choice.params.composition;
  return (choice.algorithm->restrictions & (kOneNode | kPredicts)) == 0 &&
         (grid == nullptr || (!has_calls(*grid) && !runs_in_nodes(*grid)));
}

}  // namespace

/// As asked for, as measured, or as learned in blocking calls of this kind.
Choice Engine::select_in_flight(Communicator& communicator, const Facts& facts, int root) const {
  Choice choice = selector_.choose(facts);
  if (selector_.is_online(facts))
    choice = Online::leader_of(communicator, facts, root).value_or(Choice{nullptr, {}, "online"});
  if (choice.algorithm == nullptr) return choice;
  const Algorithm* unmet = choice.is_asked_for ? choice.algorithm : nullptr;
  if (!can_be_in_flight(choice)) return {nullptr, {}, kWaits, unmet};
  if (!has_turns()) return {nullptr, {}, kNoTurns, unmet};
  // To make one all ranks must be here, and a nonblocking call waits for none.
  if (!communicator.has_own()) return {nullptr, {}, kNoOwn};
  choice.params.transport = TransportKind::mpi;
  return choice;
}

std::optional<int> Engine::start(const Call& call, const CallInfo& info, MPI_Request* request) {
  if (!active_) return std::nullopt;
  Communicator& communicator = *info.communicator;
  communicator.meet();
  if (communicator.reach(call.collective).is_empty()) return std::nullopt;  // met a stranger
  const std::optional<Known> known = look_at(call, info);
  if (!known) return std::nullopt;
  const Choice choice = select_in_flight(communicator, known->facts, call.root);
  if ((log_decisions_ && communicator.rank() == 0) || (choice.unmet != nullptr && first_rank_))
    report(communicator, known->facts, choice, "nonblocking ");
  if (choice.algorithm == nullptr) {
    if (choice.why == kNoOwn) communicator.want_own();
    count(g_native_calls);
    return std::nullopt;
  }
  count(g_own_calls);
  return start_nonblocking(communicator, call, choice, known->facts.commutative, request);
}

}  // namespace unisono
