// How people name an algorithm: "ring", "chain:segment=64K", "knomial:radix=4", "native" (the MPI
// library's own) or "default" (what Unisono chooses itself).
#pragma once
#include <string>
#include <string_view>

#include "algorithms/catalogue.h"
#include "base/result.h"

namespace unisono {

struct Spec {
  const Algorithm* algorithm = nullptr;  ///< nullptr: native, or default
  bool is_default = false;
  Params params;  ///< complete: what was not given has its standard value

  bool is_native() const { return algorithm == nullptr && !is_default; }
};

/// The error is one line that names what is valid instead.
Result<Spec> parse_spec(Collective collective, std::string_view text);

/// The spec as it could have been written, with every parameter of the algorithm.
std::string text(const Spec& spec);

/// Without segment=auto, where nobody knows the machine: the row's standard segment.
Params with_standard_segment(const Algorithm& algorithm, Params params);

/// "native" and "default" and the names of the algorithms for this collective, by commas.
std::string valid_algorithms(Collective collective);

}  // namespace unisono
