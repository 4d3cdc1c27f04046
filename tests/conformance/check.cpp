#include "check.h"

#include "algorithms/catalogue.h"

namespace conformance {

namespace {

/// With transport=CONFORMANCE_TRANSPORT, if that is set and messages are sent.
std::string over_what_is_wanted(const std::string& spec) {
  const char* transport = std::getenv("CONFORMANCE_TRANSPORT");
  if (transport == nullptr || spec == "shm" || spec == "native" || spec == "default") return spec;
  return spec + (spec.find(':') == std::string::npos ? ":" : ",") + "transport=" + transport;
}

}  // namespace

void check(bool good, const char* what, const char* file, int line) {
  if (good) return;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr, "%s:%d: rank %d: %s\n", file, line, rank, what);
  std::fflush(stderr);
  PMPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

void force(const char* collective, const std::string& spec) {
  if (has_unisono()) CHECK(unisono_force(collective, over_what_is_wanted(spec).c_str()) == 0);
}

std::vector<std::string> algorithms_of(unisono::Collective collective, int size, bool commutative) {
  std::vector<std::string> names;
  for (const unisono::Algorithm& row : unisono::catalogue())
    if (unisono::contains(row.collectives, collective) &&
        !unisono::unmet_restriction(row, {size, commutative}))
      names.emplace_back(row.name);
  return names;
}

void force_all() {
  const char* wanted = std::getenv("CONFORMANCE_ALGORITHM");
  for (int c = 0; c < unisono::kCollectives; ++c) {
    const auto collective = static_cast<unisono::Collective>(c);
    if (!unisono::contains(unisono::kAmongAll, collective)) continue;
    const std::vector<std::string> names = algorithms_of(collective, 3, false);
    CHECK(!names.empty());
    force(unisono::name(collective).data(), wanted != nullptr ? wanted : names.front());
  }
}

void passed(const char* program, unsigned long long min_own, unsigned long long max_own) {
  if (rank_in(MPI_COMM_WORLD) != 0) return;
  const unsigned long long own = own_calls();
  std::printf("%s: %llu collectives of rank 0 in Unisono\n", program, own);
  std::fflush(stdout);
  if (std::getenv("CONFORMANCE_NATIVE") != nullptr) {
    CHECK(!has_unisono());
  } else {
    CHECK(own >= min_own);
    CHECK(own <= max_own);
  }
  std::printf("%s: passed\n", program);
}

}  // namespace conformance
