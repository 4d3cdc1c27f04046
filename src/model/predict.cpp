#include "model/predict.h"

#include <algorithm>
#include <utility>

#include "model/walk.h"

namespace unisono {

namespace {

/// Nothing: the machine has times for such messages.
std::optional<Error> lacks_memory(const Machine& machine, TransportKind transport) {
  if (transport != TransportKind::shm || machine.node_memory) return std::nullopt;
  return Error{
      "the machine file has no times for messages through the memory of a node: calibrate with "
      "two ranks on one"};
}

}  // namespace

std::vector<int> block_placement(int ranks, int nodes) {
  const int per_node = (ranks + nodes - 1) / nodes;
  std::vector<int> node_of_rank(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) node_of_rank[static_cast<std::size_t>(r)] = r / per_node;
  return node_of_rank;
}

Result<double> predict(std::span<const Schedule> schedules, Count unit_bytes,
                       const Machine& machine, std::span<const int> node_of_rank,
                       std::span<const double> late, double most, TransportKind transport,
                       const TorusPlacement* torus) {
  if (auto error = lacks_memory(machine, transport)) return *error;
  const bool in_memory = transport == TransportKind::shm;
  return Walk(schedules, unit_bytes, machine, node_of_rank, in_memory, torus).go(late, most);
}

Result<double> predict(const Algorithm& algorithm, const Problem& problem, const Machine& machine,
                       std::span<const int> node_of_rank) {
  const ArgsOfRanks ranks(problem);
  return predict(build_all(algorithm, ranks.args()), problem.unit_bytes, machine, node_of_rank, {},
                 kNoLimit, problem.params.transport,
                 problem.topology != nullptr ? problem.topology->torus() : nullptr);
}

CallSequence::CallSequence(const Machine& machine, std::span<const int> node_of_rank,
                           TransportKind transport, const TorusPlacement* torus)
    : machine_(machine),
      node_of_rank_(node_of_rank),
      transport_(transport),
      torus_(torus),
      left_(new LeftOver{.ports = {}, .random = {}, .cores = SharedCores(machine.shared_cores)}) {}

CallSequence::~CallSequence() = default;

Result<std::vector<double>> CallSequence::next(std::span<const Schedule> schedules,
                                               Count unit_bytes, std::span<const double> arrivals,
                                               std::span<const double> computing,
                                               std::span<const Traffic> before) {
  if (auto error = lacks_memory(machine_, transport_)) return *error;
  const bool in_memory = transport_ == TransportKind::shm;
  Walk walk(schedules, unit_bytes, machine_, node_of_rank_, in_memory, torus_);
  left_->cores.forget_before(*std::min_element(arrivals.begin(), arrivals.end()));
  walk.take_over(std::move(*left_), computing);
  for (const Traffic& each : before) walk.pass_before(each);
  const auto end = walk.go(arrivals, kNoLimit);
  if (!end) return Error{end.error()};
  *left_ = walk.leave_over();
  return walk.exits();
}

}  // namespace unisono
