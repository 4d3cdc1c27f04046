// A machine as a part of a document, such as what jobs keep for each other.
#pragma once
#include "files/json.h"
#include "model/machine.h"

namespace unisono {

Json json(const Machine& machine);

/// Throws Bad.
Machine machine_from(const Json& file);

}  // namespace unisono
