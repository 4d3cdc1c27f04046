#include "apps/common/team.h"

#include "apps/common/persistent.h"

#include <fmt/format.h>

#include <limits>
#include <map>
#include <memory>
#include <tuple>

namespace apps {

namespace {

int as_count(std::size_t value) {
  if (value > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw UsageError(fmt::format("{} numbers are too many for one message: use more ranks", value));
  return static_cast<int>(value);
}

class PersistentExchanges {
 public:
  explicit PersistentExchanges(MPI_Comm comm) : comm_(comm) {}
  ~PersistentExchanges() {
    for (auto& [key, request] : requests_) MPI_Request_free(&request);
  }
  PersistentExchanges(const PersistentExchanges&) = delete;
  PersistentExchanges& operator=(const PersistentExchanges&) = delete;

  MPI_Request& of(const double* send, double* receive, int count) {
    const auto [at, is_new] = requests_.try_emplace({send, receive, count}, MPI_REQUEST_NULL);
    if (is_new)
      persistent::kAlltoall(send, count, MPI_DOUBLE, receive, count, MPI_DOUBLE, comm_,
                            MPI_INFO_NULL, &at->second);
    return at->second;
  }

 private:
  MPI_Comm comm_;
  std::map<std::tuple<const double*, double*, int>, MPI_Request> requests_;
};

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

Team persistent_team_of(const World& world, LoopTimer& timer) {
  Team team{static_cast<std::size_t>(world.size), static_cast<std::size_t>(world.rank), {}};
  team.all_to_all = [own = std::make_shared<PersistentExchanges>(world.comm), &timer](
                        const double* send, double* receive, std::size_t block) {
    const int count = as_count(block);
    timer.collective([&] {
      MPI_Request& request = own->of(send, receive, count);
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    });
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
