// In place of src/calls/fast_path.h: no call is of a known kind.
#pragma once
#include "calls/call_info.h"

namespace unisono {

inline bool may_have_devices() { return false; }

template <Collective>
bool ran_beside_devices(const Call&, const CallInfo&) {
  return false;
}
template <Collective kCollective>
bool ran_on_fast_path(const Call&, const CallInfo&) {
  return false;
}

}  // namespace unisono
