// What a rank brings to the meeting in MPI_Init: what must be the same on all ranks, as hashes, and
// where it runs.
#pragma once
#include <string>

#include "base/result.h"
#include "runtime/meeting.h"

namespace unisono {

/// `profile`, `topology`: the files that variables name, as this rank read them.
OwnSettings own_settings(const Result<std::string>& profile, const Result<std::string>& topology);

}  // namespace unisono
