// Whether schedules between hosts, a rank on each, can fill a port of the network until it drops
// packets. A dropped packet at the end of a burst costs TCP a timeout of 200 ms, many times what
// most calls take. What counts as under way are messages that a rank has begun to send and their
// receiver has not taken completely, of all senders to a port together, whatever messages are late,
// in a call and in those which follow. A connection that has a port to itself may have any number
// of bytes under way: it fills the port no faster than the port drains.
// tests/algorithms/safe_test.cpp counts.
#pragma once
#include <optional>

#include "schedule/args.h"

namespace unisono {

struct Algorithm;

/// What a port surely holds, in bytes.
struct PortBounds {
  Count out = Count{64} << 10;
  Count in = Count{256} << 10;  ///< of a small switch
};

/// A call between hosts, as all of them know it.
struct HostsCall {
  Collective collective = Collective::barrier;
  int ranks = 1;
  Count bytes = 0;  ///< of the vector, or of a block; irregular: of the longest
  bool commutative = true;
  Count segment = 0;  ///< bytes, of pipelines; 0: the row's standard
};

/// How a row says what makes it safe. Nothing: no parameters do.
using SafeParams = std::optional<Params> (*)(const Algorithm&, const HostsCall&, const PortBounds&);

/// With which parameters the row's schedules never have more under way than that; nothing: with
/// none. Whether the row serves the call at all is another question (unmet_restriction).
std::optional<Params> safe_params(const Algorithm& algorithm, const HostsCall& call,
                                  const PortBounds& bounds = {});

/// For the rows of the catalogue.
namespace safe {

/// A port has one connection in and one out at any time, whatever the parameters: chains and rings.
std::optional<Params> one_connection(const Algorithm&, const HostsCall&, const PortBounds&);
/// The same if the operation commutes: otherwise the sum takes one more way.
std::optional<Params> one_connection_if_commutative(const Algorithm&, const HostsCall&,
                                                    const PortBounds&);
/// A rank knows of each segment whether it has come, and has those of `window` rounds under way,
/// one out and one in each. The operation must commute: otherwise the sum takes one more way.
std::optional<Params> credited_rounds(const Algorithm&, const HostsCall&, const PortBounds&);
/// No rank can end a call that another has not begun, so that no more than what a rank sends and
/// receives in two calls is under way: safe if that is little.
std::optional<Params> short_messages(const Algorithm&, const HostsCall&, const PortBounds&);
/// A rank knows of each segment whether it has come, and sends no more than a window of them.
std::optional<Params> credits(const Algorithm&, const HostsCall&, const PortBounds&);
/// The root knows of each segment whether it has come.
std::optional<Params> paced_from_root(const Algorithm&, const HostsCall&, const PortBounds&);
std::optional<Params> paced_to_root(const Algorithm&, const HostsCall&, const PortBounds&);

}  // namespace safe

}  // namespace unisono
