// In place of src/runtime/watch.h: nobody looks.
#pragma once
#include "runtime/call.h"

namespace unisono {

struct Watch {
  Watch(const Call&, const void*) {}
};

}  // namespace unisono
