// What a row of the catalogue asks for, and the schedules that it makes.
#include <bit>

#include "algorithms/catalogue.h"
#include "algorithms/composition.h"
#include "schedule/resolve.h"
#include "topology/topology.h"

namespace unisono {

std::optional<std::string_view> unmet_restriction(const Algorithm& algorithm,
                                                  const Conditions& conditions,
                                                  const Params& params) {
  const unsigned r = algorithm.restrictions;
  const int size = conditions.size;
  const bool power_of_two = (size & (size - 1)) == 0;
  if ((r & kCommutative) && !conditions.commutative) return "needs a commutative operation";
  if ((r & kEvenSize) && size % 2 != 0 && size != 1) return "needs an even number of ranks";
  if ((r & kPowerOfTwo) && !power_of_two) return "needs a power of two of ranks";
  if ((r & kOneNode) && !conditions.shared)
    return (algorithm.collectives & kReducing) == 0
               ? "needs all ranks on one node, with room in its shared memory"
               : "needs all ranks on one node, with room in its shared memory, and a predefined "
                 "datatype";
  if ((r & kTorus) && (conditions.topology == nullptr || conditions.topology->torus() == nullptr))
    return "needs to know where the ranks are on a torus";
  if ((r & kGraph) && !conditions.graph) return "needs to know who is whose neighbour";
  if ((r & kMulticast) && !conditions.multicast) return "needs multicast between the hosts";
  if ((r & kMulticast) && conditions.nodes != size)
    return "needs one rank on each node; of several one can receive for all: "
           "grid:shape=nodes,columns=multicast";
  if (params.transport == TransportKind::shm && !conditions.messages)
    return "needs all ranks on one node, with shared memory to send messages over";
  if ((r & kComposed) == 0) return std::nullopt;
  const auto served = static_cast<Collective>(std::countr_zero(algorithm.collectives));
  return unmet_composition(composition_of(params, served), served, conditions);
}

std::optional<std::string_view> unmet_restriction(const Algorithm& algorithm, const Args& args) {
  const Conditions conditions{args.size,     args.commutative,      true,      true,
                              args.topology, args.graph != nullptr, args.size, true};
  Algorithm anywhere = algorithm;
  anywhere.restrictions &= ~unsigned{kTorus};
  if (const auto unmet = unmet_restriction(anywhere, conditions, args.params)) return unmet;
  const unsigned r = algorithm.restrictions;
  if ((r & kAllCounts) && is_irregular(args.collective) && !args.all_counts_known)
    return "needs the counts of all ranks";
  if ((r & kMatrix) && is_irregular(args.collective) && args.matrix == nullptr &&
      args.edge_counts.empty())
    return "needs the count matrix";
  if ((r & kOrder) && is_irregular(args.collective) && args.matrix == nullptr &&
      args.order == nullptr)
    return "needs a count matrix, or an order of messages";
  return std::nullopt;
}

MessageList schedule_messages(const Algorithm& algorithm, const Args& args,
                              const CountMatrix& matrix) {
  return schedule_messages(algorithm.rule, matrix, args.params.threshold / args.unit_bytes);
}

Schedule build(const Algorithm& algorithm, const Args& args) {
  Builder builder(args);
  if (args.size > 1 || args.collective != Collective::barrier) algorithm.build(builder);
  return std::move(builder).finish();
}

std::vector<Schedule> build_all(const Algorithm& algorithm, std::span<const Args> args, int late) {
  // Each rank would make the same list.
  std::vector<MessageOrder> orders;
  if (const Args& any = args[0];
      (algorithm.restrictions & kOrder) != 0 && any.order == nullptr && any.matrix != nullptr)
    orders = orders_of(schedule_messages(algorithm, any, *any.matrix));
  std::vector<Schedule> schedules;
  schedules.reserve(args.size());
  for (Args own : args) {
    if (!orders.empty()) own.order = &orders[static_cast<std::size_t>(own.rank)];
    schedules.push_back(expand(build(algorithm, own), own));
  }
  if ((algorithm.restrictions & kBindsPeers) == 0) return schedules;
  return resolve(std::move(schedules), all_waiting(args[0].size, args[0].root, late));
}

}  // namespace unisono
