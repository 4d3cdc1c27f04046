// segment=auto: which segment a call gets. Rank 0 asks the model and tells the others, at the first
// blocking or persistent call of a kind; then it is known.
#include <new>

#include "model/node_phase.h"
#include "model/segment.h"
#include "mpi/patience.h"
#include "node/tuning.h"
#include "node/wait.h"
#include "runtime/engine.h"
#include "select/online/key.h"

namespace unisono {

namespace {

// As for what is selected online.
constexpr double kMostSeconds = 0.25;

constexpr std::string_view kByModel = "segment=auto by the model",
                           kStandard = "segment=auto without a model: the standard one",
                           kNoLength = "segment=auto of no length: the standard one",
                           kNotYet = "segment=auto not known yet: the standard one";

ChosenSegments::Kind kind_of(const Facts& facts, const Choice& choice) {
  Params params = choice.params;
  params.segment = 0;
  return {facts.collective, size_class(facts.bytes), facts.commutative, choice.algorithm, params};
}

/// Bytes; 0: the row's standard one, also where there is no memory to look for another.
Count search(const ChosenSegments::Wanted& wanted, const Machine& machine) {
  try {
    const ChosenSegments::Kind& kind = wanted.kind;
    return best_segment(*kind.algorithm, kind.params, wanted.call, machine, kMostSeconds)
        .value_or(0);
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

}  // namespace

/// What the messages cost that a choice with such parameters sends; nothing where nobody knows. The
/// same on all ranks.
std::optional<Machine> Engine::machine_for(Communicator& communicator, const Params& params) const {
  if (params.transport != TransportKind::shm)
    return knows_machine_ ? std::optional(machine_) : std::nullopt;
  const node::Team* team = communicator.measured_team();
  if (team == nullptr) return std::nullopt;
  Machine machine = machine_;
  const auto piece = static_cast<double>(node::preferred_channel_slot(communicator.size()));
  machine.node_memory = memory_times(*team->measured(), piece, team->has_direct());
  return machine;
}

/// Whether it is known then, or will be when all ranks have come.
bool Engine::may_ask(Communicator& communicator, const Params& params) const {
  return params.transport == TransportKind::shm ? communicator.may_send_in_node() : knows_machine_;
}

/// Collective over the communicator: it is known then, unless a communicator for that is still to
/// be had. All ranks would walk through the same schedules, on cores that they may share, and not
/// round alike where their libraries differ.
void Engine::ask_for_segment(Communicator& communicator, const ChosenSegments::Wanted& wanted) {
  if (communicator.own() == MPI_COMM_NULL) return;
  const std::optional<Machine> machine = machine_for(communicator, wanted.kind.params);
  if (!machine) return communicator.segments().known.push_back({wanted.kind, 0});
  Count bytes = communicator.rank() == 0 ? search(wanted, *machine) : 0;
  // Ranks that cut differently would take one segment for another.
  if (tell_patiently(&bytes, sizeof bytes, communicator.own()) != MPI_SUCCESS)
    throw node::RankLost();
  communicator.segments().known.push_back({wanted.kind, bytes});
}

/// Those that nonblocking calls have wanted. Collective over the communicator.
void Engine::find_segments(Communicator& communicator) {
  ChosenSegments& segments = communicator.segments();
  for (const ChosenSegments::Wanted& wanted : std::exchange(segments.wanted, {}))
    if (!segments.find(wanted.kind)) ask_for_segment(communicator, wanted);
}

/// Where all ranks wait for each other it is asked for, collective over the communicator; elsewhere
/// it is wanted. The same on all ranks.
Choice Engine::with_segment(Communicator& communicator, const Facts& facts, int root, Choice choice,
                            Waits waits) {
  if (choice.algorithm == nullptr || choice.params.segment != kOpenSegment) return choice;
  ChosenSegments& segments = communicator.segments();
  const auto kind = kind_of(facts, choice);
  std::optional<Count> known = segments.find(kind);
  const bool may_be_asked = may_ask(communicator, choice.params);
  if (facts.bytes > 0 && !known && may_be_asked) {
    const ChosenSegments::Wanted wanted{kind,
                                        {facts.collective, facts.size, facts.nodes, facts.bytes,
                                         root, facts.commutative, communicator.priced_topology()}};
    if (waits == Waits::for_all)
      ask_for_segment(communicator, wanted);
    else if (segments.want(wanted))
      communicator.take_long_way();
    known = segments.find(kind);
  }
  if (known.value_or(0) > 0)
    choice.params.segment = *known;
  else
    choice.params = with_standard_segment(*choice.algorithm, choice.params);
  const bool is_asked = known || !may_be_asked;
  choice.segment = facts.bytes == 0        ? kNoLength
                   : !is_asked             ? kNotYet
                   : known.value_or(0) > 0 ? kByModel
                                           : kStandard;
  return choice;
}

}  // namespace unisono
