// A call with wrong arguments, alike on all ranks: what MPI_ returns must be of the class that
// PMPI_ returns, and the communicator's error handler is called as often.
#pragma once
#include <optional>
#include <string>

#include "comms.h"
#include "random.h"

namespace conformance {

struct WrongCall {
  std::string text;
  bool refused = false;              ///< by the MPI library; else MPI_ was not called
  std::optional<std::string> wrong;  ///< what is wrong with Unisono's answer
};

/// `doing`: of this thread, to be told with what is called.
WrongCall make_wrong_call(Rng& rng, const Communicator& comm, const std::string& doing);

}  // namespace conformance
