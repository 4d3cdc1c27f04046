// Random values of UNISONO_<COLLECTIVE>, from the catalogue.
#pragma once
#include <string>

#include "algorithms/catalogue.h"
#include "random.h"

namespace conformance {

struct Spec {
  std::string text;  ///< as unisono_force takes it
  const unisono::Algorithm* algorithm = nullptr;
  unisono::Params params;
};

/// A file says that this job's ranks are on several nodes, which are on a torus.
bool places_ranks();

/// "native", "default", or a row that serves the collective, often with parameters.
Spec random_spec(Rng& rng, unisono::Collective collective);

/// The same, its messages over something else; as it is if it sends none.
Spec over_transport(unisono::Collective collective, const Spec& spec, const std::string& what);

/// The same from its text.
Spec spec_of(unisono::Collective collective, const std::string& text);

}  // namespace conformance
