#include "apps/adams/forms.h"

#include <fmt/format.h>

#include <vector>

namespace apps::adams {

namespace {

/// Ranks of `world` with the same colour, in their order.
World split(const World& world, int colour) {
  World group;
  MPI_Comm_split(world.comm, colour, world.rank, &group.comm);
  MPI_Comm_rank(group.comm, &group.rank);
  MPI_Comm_size(group.comm, &group.size);
  return group;
}

/// Consecutive parts of a vector, as the v-collectives want them.
struct Parts {
  std::vector<int> counts, offsets;
  void append(std::size_t begin, std::size_t count) {
    offsets.push_back(static_cast<int>(begin));
    counts.push_back(static_cast<int>(count));
  }
};

/// The part of each of so many ranks in a vector of u and v at so many points, from `begin` on.
void append_shares(std::size_t points, int ranks, std::size_t begin, Parts& parts) {
  for (int rank = 0; rank < ranks; ++rank) {
    const Range range = share(points, ranks, rank);
    parts.append(begin + 2 * range.first, 2 * range.count());
  }
}

void allgather_in_place(double* whole, const Parts& parts, MPI_Comm comm) {
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, whole, parts.counts.data(),
                 parts.offsets.data(), MPI_DOUBLE, comm);
}

Gather flat_gather(std::size_t points, const World& world, LoopTimer& timer) {
  Parts parts;
  append_shares(points, world.size, 0, parts);
  return [parts, comm = world.comm, &timer](double* whole) {
    timer.collective([&] { allgather_in_place(whole, parts, comm); });
  };
}

/// In two phases on the most square grid of the ranks: in the rows, then the rows' parts in the
/// columns.
Gather grid_gather(std::size_t points, const World& world, LoopTimer& timer) {
  int rows = 1;
  for (int r = 1; r * r <= world.size; ++r)
    if (world.size % r == 0) rows = r;
  const int columns = world.size / rows, my_row = world.rank / columns;
  const World row = split(world, my_row), column = split(world, world.rank % columns);
  Parts in_row, in_column;
  for (int r = 0; r < rows; ++r) {
    const std::size_t begin = share(points, world.size, r * columns).first;
    const std::size_t end = share(points, world.size, (r + 1) * columns - 1).last;
    in_column.append(2 * begin, 2 * (end - begin));
  }
  for (int c = 0; c < columns; ++c) {
    const Range range = share(points, world.size, my_row * columns + c);
    in_row.append(2 * range.first, 2 * range.count());
  }
  return [=, &timer](double* whole) {
    timer.collective([&] {
      allgather_in_place(whole, in_row, row.comm);
      allgather_in_place(whole, in_column, column.comm);
    });
  };
}

/// K groups of p / K adjacent ranks, a stage each.
std::unique_ptr<Solver> task_parallel(bool orthogonal, const Problem& problem, const World& world,
                                      LoopTimer& timer) {
  const int stages = static_cast<int>(problem.method.stages);
  if (world.size % stages != 0)
    throw UsageError(
        fmt::format("--form tp and tp-orthogonal want a multiple of --stages ({}) ranks, a group "
                    "for each stage; there are {}",
                    stages, world.size));
  const std::size_t points = problem.equations.points();
  const int group_size = world.size / stages, stage = world.rank / group_size;
  const World group = split(world, stage);
  const Range own = share(points, group.size, group.rank);
  const int count = static_cast<int>(2 * own.count());

  TaskParallel::Exchange exchange;
  TaskParallel::Layout layout{};
  if (orthogonal) {
    // Who has the same part in the other groups.
    const World peers = split(world, group.rank);
    exchange = [=, &timer](const double* mine, double* all) {
      timer.collective(
          [&] { MPI_Allgather(mine, count, MPI_DOUBLE, all, count, MPI_DOUBLE, peers.comm); });
    };
    layout = {2 * own.count(), 0};
  } else {
    Parts parts;
    for (int s = 0; s < stages; ++s)
      append_shares(points, group_size, static_cast<std::size_t>(s) * 2 * points, parts);
    exchange = [=, &timer](const double* mine, double* all) {
      timer.collective([&] {
        MPI_Allgatherv(mine, count, MPI_DOUBLE, all, parts.counts.data(), parts.offsets.data(),
                       MPI_DOUBLE, world.comm);
      });
    };
    layout = {2 * points, 2 * own.first};
  }
  return std::make_unique<TaskParallel>(problem, own, flat_gather(points, group, timer),
                                        static_cast<std::size_t>(stage), exchange, layout);
}

}  // namespace

std::unique_ptr<Solver> make_solver(FormName name, const Problem& problem, const World& world,
                                    LoopTimer& timer) {
  const std::size_t points = problem.equations.points();
  const Range own = share(points, world.size, world.rank);
  switch (name) {
    case FormName::dp:
      return std::make_unique<DataParallel>(problem, own, flat_gather(points, world, timer));
    case FormName::dp_orthogonal:
      return std::make_unique<DataParallel>(problem, own, grid_gather(points, world, timer));
    case FormName::tp: return task_parallel(false, problem, world, timer);
    case FormName::tp_orthogonal: return task_parallel(true, problem, world, timer);
  }
  return nullptr;
}

}  // namespace apps::adams
