// What must be the same on all ranks, as numbers that they compare in MPI_Init.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"

namespace unisono {

/// Over all variables that must be the same on all ranks.
unsigned long long environment_hash();

/// Of what this rank read; a file that is not there, or not named, is not like any that is.
unsigned long long file_hash(std::string_view name, const Result<std::string>& text);

}  // namespace unisono
