// The commands of unisono-network. What is wrong with what the user wrote is thrown as CLI11 prints
// it.
#pragma once
#include <string>

#include "network/network.h"
#include "schedule/schedule.h"

namespace unisono {

/// Where the ranks are.
struct Place {
  std::string shape;
  std::string routing = "minimal";
  NetworkSpeeds speeds{0, 0, 1e9};
  std::string hosts;  ///< a file; empty: rank i on host i
  int root = 0;
};

struct Call {
  std::string collective, algorithm;
  Count bytes = 0;
  Count eager = -1;
  std::string memory = "4G";
  bool links = false;
};

/// {"collective", "bytes", "algorithm", and "seconds", ..., or "left_out": why there are none}
std::string times_line(const Place& place, const Call& call);

/// The same call in each of several groups of hosts at once, by an algorithm of the catalogue or
/// "cooperate": "seconds" until all are done, "seconds_of_group", "bandwidth": the sum of bytes by
/// seconds; "rate": of one link's bandwidth, what the trees alone let the slowest group expect.
/// `groups`: random:N:seed=S deals all hosts; or a file with a group a line, its root first.
std::string groups_line(const Place& place, const Call& call, const std::string& groups);

/// {"hosts", "flow": ..., "routes": ...}: flow_limit(), route_limit() in network/limits.h, or null
std::string limits_line(const Place& place);

}  // namespace unisono
