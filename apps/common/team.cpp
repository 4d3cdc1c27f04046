#include "apps/common/team.h"

#include <fmt/format.h>

#include <limits>

namespace apps {

namespace {

int as_count(std::size_t value) {
  if (value > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw UsageError(fmt::format("{} numbers are too many for one message: use more ranks", value));
  return static_cast<int>(value);
}

}  // namespace

Team team_of(const World& world, LoopTimer& timer) {
  Team team{static_cast<std::size_t>(world.size), static_cast<std::size_t>(world.rank), {}};
  team.all_to_all = [comm = world.comm, &timer](const double* send, double* receive,
                                                std::size_t block) {
    const int count = as_count(block);
    timer.collective(
        [&] { MPI_Alltoall(send, count, MPI_DOUBLE, receive, count, MPI_DOUBLE, comm); });
  };
  return team;
}

void demand_multiple(const World& world, const char* what, std::size_t value) {
  if (value % static_cast<std::size_t>(world.size) != 0)
    throw UsageError(
        fmt::format("{} {}: must be a multiple of the ranks, {}", what, value, world.size));
}

std::vector<double> collected(const World& world, const double* own, std::size_t count) {
  std::vector<double> all(world.rank == 0 ? count * static_cast<std::size_t>(world.size) : 0);
  MPI_Gather(own, as_count(count), MPI_DOUBLE, all.data(), as_count(count), MPI_DOUBLE, 0,
             world.comm);
  return all;
}

}  // namespace apps
