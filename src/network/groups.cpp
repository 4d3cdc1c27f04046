#include "network/groups.h"

namespace unisono {

namespace {

/// A rank without steps.
Program idle() {
  Program program;
  program.first_follower.assign(1, 0);
  return program;
}

}  // namespace

Result<std::vector<Program>> programs_apart(const Algorithm& algorithm,
                                            std::span<const Problem> problems,
                                            std::span<const TorusGroup> groups, int ranks,
                                            Count sends_under_way) {
  std::vector<Program> all(static_cast<std::size_t>(ranks), idle());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    auto programs = programs_of(algorithm, problems[g], sends_under_way);
    if (!programs) return Error{programs.error()};
    const std::vector<int>& hosts = groups[g].hosts;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      Program& own = (*programs)[i];
      for (Step& step : own.steps)
        if (step.peer >= 0) step.peer = hosts[static_cast<std::size_t>(step.peer)];
      all[static_cast<std::size_t>(hosts[i])] = std::move(own);
    }
  }
  return all;
}

Result<std::vector<Program>> programs_together(const Cooperation& cooperation,
                                               const Problem& problem,
                                               std::span<const TorusGroup> groups,
                                               Count sends_under_way) {
  const ArgsOfRanks args(problem);
  std::vector<Program> all;
  for (int rank = 0; rank < problem.size; ++rank) {
    Builder b(args[rank]);
    cooperate(b, cooperation, groups);
    auto program = program_of(std::move(b).finish(), problem.unit_bytes, sends_under_way);
    if (!program) return Error{program.error()};
    all.push_back(std::move(*program));
  }
  return all;
}

}  // namespace unisono
