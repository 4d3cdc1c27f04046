// segment=auto: which segment a call gets. Rank 0 asks the model and tells the others, at the first
// blocking or persistent call of a kind; then it is known.
#include "model/segment.h"
#include "mpi/patience.h"
#include "runtime/engine.h"
#include "runtime/online_job.h"
#include "select/online/key.h"

namespace unisono {

namespace {

// As for what is selected online.
constexpr double kMostSeconds = 0.25;

constexpr std::string_view kByModel = "segment=auto by the model",
                           kStandard = "segment=auto without a model: the standard one",
                           kNotYet = "segment=auto not known yet: the standard one";

ChosenSegments::Kind kind_of(const Facts& facts, const Choice& choice) {
  return {facts.collective, size_class(facts.bytes), choice.algorithm, choice.params.window,
          choice.params.transport};
}

}  // namespace

/// Of ranks that a file places on several nodes, or of one node where the model is asked for by
/// name, the messages are those that online selection has measured.
void Engine::know_machine(const Machine& network) {
  const bool is_known = network.levels[kBetweenNodes] || network.levels[kWithinNode];
  machine_ = is_known ? network : online_job().machine;
  knows_machine_ = machine_.levels[kBetweenNodes] || machine_.levels[kWithinNode];
}

/// Collective over the communicator: 0 is the row's standard one. All ranks would walk through the
/// same schedules, on cores that they may share, and not round alike where their libraries differ.
Count Engine::ask_for_segment(Communicator& communicator, const ChosenSegments::Wanted& wanted) {
  if (!knows_machine_ || communicator.own() == MPI_COMM_NULL) return 0;
  Count bytes = 0;
  if (communicator.rank() == 0)
    bytes = best_segment(*wanted.algorithm, wanted.params, wanted.call, machine_, kMostSeconds)
                .value_or(0);
  tell_patiently(&bytes, sizeof bytes, communicator.own());
  return bytes;
}

/// Those that nonblocking calls have wanted. Collective over the communicator.
void Engine::find_segments(Communicator& communicator) {
  ChosenSegments& segments = communicator.segments();
  for (const ChosenSegments::Wanted& wanted : std::exchange(segments.wanted, {}))
    if (!segments.known.contains(wanted.kind))
      segments.known[wanted.kind] = ask_for_segment(communicator, wanted);
}

/// Where all ranks wait for each other it is asked for, collective over the communicator; elsewhere
/// it is wanted. The same on all ranks.
Choice Engine::with_segment(Communicator& communicator, const Facts& facts, int root, Choice choice,
                            Waits waits) {
  if (choice.algorithm == nullptr || choice.params.segment != kOpenSegment) return choice;
  ChosenSegments& segments = communicator.segments();
  const auto kind = kind_of(facts, choice);
  auto known = segments.known.find(kind);
  if (known == segments.known.end()) {
    const ChosenSegments::Wanted wanted{
        kind,
        choice.algorithm,
        choice.params,
        {facts.collective, facts.size, facts.nodes, facts.bytes, root, facts.commutative,
         communicator.has_levels() ? &communicator.topology() : nullptr}};
    if (waits == Waits::for_all) {
      known = segments.known.emplace(kind, ask_for_segment(communicator, wanted)).first;
    } else if (knows_machine_) {
      if (segments.want(wanted)) communicator.take_long_way();
    }
  }
  const bool is_known = known != segments.known.end();
  const Count bytes = is_known ? known->second : 0;
  if (bytes > 0)
    choice.params.segment = bytes;
  else
    choice.params = with_standard_segment(*choice.algorithm, choice.params);
  choice.segment = bytes > 0 ? kByModel : is_known || !knows_machine_ ? kStandard : kNotYet;
  return choice;
}

}  // namespace unisono
