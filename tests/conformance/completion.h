// Each function that completes requests, on a mixture of them.
#pragma once
#include <mpi.h>

#include <vector>

namespace conformance {

constexpr int kWays = 8;
constexpr int kWait = 1;

void complete_all(std::vector<MPI_Request>& requests, int way);

}  // namespace conformance
