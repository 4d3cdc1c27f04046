#include "algorithms/safety.h"

#include <algorithm>

#include "algorithms/catalogue.h"
#include "schedule/metrics.h"
#include "schedule/problem.h"

namespace unisono {

std::optional<Params> safe_params(const Algorithm& algorithm, const HostsCall& call,
                                  const PortBounds& bounds) {
  if (algorithm.safe == nullptr) return std::nullopt;
  return algorithm.safe(algorithm, call, bounds);
}

namespace safe {

std::optional<Params> one_connection(const Algorithm& algorithm, const HostsCall& call,
                                     const PortBounds&) {
  Params params = default_params(algorithm);
  if (call.segment > 0) params.segment = call.segment;
  return params;
}

std::optional<Params> one_connection_if_commutative(const Algorithm& algorithm,
                                                    const HostsCall& call,
                                                    const PortBounds& bounds) {
  return call.commutative ? one_connection(algorithm, call, bounds) : std::nullopt;
}

std::optional<Params> short_messages(const Algorithm& algorithm, const HostsCall& call,
                                     const PortBounds& bounds) {
  // Empty messages are not sent, and then nobody waits for whoever would have sent them.
  if (is_irregular(call.collective)) return std::nullopt;
  // A rank's messages are no longer than all of them: no schedules need to be made of long ones.
  if (2 * call.bytes > std::min(bounds.out, bounds.in)) return std::nullopt;
  const Params params = default_params(algorithm);
  const ArgsOfRanks ranks({.collective = call.collective,
                           .size = call.ranks,
                           .count = call.bytes,
                           .commutative = call.commutative,
                           .params = params});
  if (unmet_restriction(algorithm, ranks[0])) return std::nullopt;
  const Metrics in_a_call = measure(build_all(algorithm, ranks.args()));
  if (2 * in_a_call.sent > bounds.out || 2 * in_a_call.received > bounds.in) return std::nullopt;
  return params;
}

std::optional<Params> credits(const Algorithm& algorithm, const HostsCall& call,
                              const PortBounds& bounds) {
  Params params = default_params(algorithm);
  // A segment of each sender at least; else twice as much in as out, as the algorithm has it.
  params.segment = std::min(params.segment, bounds.in / std::max(1, call.ranks - 1));
  if (params.segment < 1) return std::nullopt;
  params.window = std::clamp<Count>(std::min(bounds.out, bounds.in / 2) / params.segment, 1, 64);
  return params;
}

std::optional<Params> credited_rounds(const Algorithm& algorithm, const HostsCall& call,
                                      const PortBounds& bounds) {
  if (!call.commutative) return std::nullopt;
  Params params = default_params(algorithm);
  params.segment =
      std::clamp<Count>(call.segment > 0 ? call.segment : params.segment, 1, bounds.out / 2);
  params.window = std::clamp<Count>(bounds.out / params.segment, 2, 64);
  return params;
}

std::optional<Params> paced_from_root(const Algorithm& algorithm, const HostsCall&,
                                      const PortBounds& bounds) {
  Params params = default_params(algorithm);
  // On its way to a port there may be as much of each of four roots, one call behind the other.
  const Count under_way = std::min(bounds.out, bounds.in / 4);
  params.segment = std::clamp<Count>(params.segment, 1, under_way);
  params.window = std::clamp<Count>(under_way / params.segment, 1, 64);
  return params;
}

std::optional<Params> paced_to_root(const Algorithm& algorithm, const HostsCall&,
                                    const PortBounds& bounds) {
  Params params = default_params(algorithm);
  // Whoever sends more than a segment sends to one root at a time; of segments there may be four.
  params.segment = std::clamp<Count>(params.segment, 1, bounds.out / 4);
  params.window = std::clamp<Count>(bounds.in / 2 / params.segment, 1, 64);
  return params;
}

}  // namespace safe

}  // namespace unisono
