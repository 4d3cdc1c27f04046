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

std::optional<Params> one_connection(const Algorithm& algorithm, const HostsCall&,
                                     const PortBounds&) {
  return default_params(algorithm);
}

std::optional<Params> one_connection_if_commutative(const Algorithm& algorithm,
                                                    const HostsCall& call, const PortBounds&) {
  return call.commutative ? std::optional(default_params(algorithm)) : std::nullopt;
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
  if (is_irregular(call.collective)) return std::nullopt;  // a sender may be asked by all for much
  const Count others = std::max(1, call.ranks - 1);
  const Count under_way = std::min(bounds.out, bounds.in);
  Params params = default_params(algorithm);
  params.segment = std::min(params.segment, under_way / others);
  if (params.segment < 1) return std::nullopt;
  params.window = under_way / params.segment / others * others;
  return params;
}

namespace {

std::optional<Params> blocks_within(const Algorithm& algorithm, Count block, Count under_way) {
  Params params = default_params(algorithm);
  params.window = std::clamp<Count>(under_way / std::max<Count>(1, block), 1, 64);
  return params.window * block <= under_way ? std::optional(params) : std::nullopt;
}

}  // namespace

std::optional<Params> paced_from_root(const Algorithm& algorithm, const HostsCall& call,
                                      const PortBounds& bounds) {
  return blocks_within(algorithm, call.bytes, bounds.out);
}

std::optional<Params> paced_to_root(const Algorithm& algorithm, const HostsCall& call,
                                    const PortBounds& bounds) {
  // A rank whose block has left may be asked by the root of the next call, too.
  return blocks_within(algorithm, call.bytes, std::min(bounds.out / 3, bounds.in));
}

}  // namespace safe

}  // namespace unisono
