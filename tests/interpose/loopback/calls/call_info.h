// In place of src/calls/call_info.h: no call is left.
#pragma once
#include "calls/call.h"

namespace unisono {

struct CallInfo {
  explicit operator bool() const { return true; }
};

inline CallInfo info_of(const Call&) { return {}; }
inline bool is_left(const Call&, const CallInfo&) { return false; }

}  // namespace unisono
