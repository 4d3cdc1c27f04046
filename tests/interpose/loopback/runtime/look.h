// In place of src/runtime/look.h: no call is left.
#pragma once
#include "runtime/call.h"

namespace unisono {

struct Look {
  explicit operator bool() const { return true; }
};

inline Look look_at(const Call&) { return {}; }

}  // namespace unisono
