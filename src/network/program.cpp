#include "network/program.h"

#include <numeric>

#include "schedule/flow_control.h"

namespace unisono {

std::size_t Program::bytes() const {
  return steps.capacity() * sizeof(Step) +
         (first_follower.capacity() + followers.capacity()) * sizeof(std::uint32_t);
}

Result<Program> program_of(Schedule given, Count unit_bytes, Count sends_under_way) {
  const Schedule schedule = limit_sends(std::move(given), sends_under_way);
  const auto ops = schedule.ops();
  Program program;
  program.steps.reserve(ops.size());
  program.first_follower.assign(ops.size() + 1, 0);
  for (OpId id = 0; id < ops.size(); ++id) {
    const Op& op = ops[id];
    if (op.is_bound() || op.kind > OpKind::join)
      return Error{"what depends on who arrives, or on the MPI library, has no time here"};
    const auto before = schedule.dependencies(id);
    Step step{.bytes = op.length * unit_bytes,
              .waits_for = static_cast<std::uint32_t>(before.size()),
              .kind = op.kind};
    if (op.is_message()) {
      step.peer = op.peer;
      step.position = static_cast<std::uint32_t>(op.position());
      step.way = op.way;
    }
    program.steps.push_back(step);
    for (const OpId on : before) ++program.first_follower[on + 1];
  }
  std::partial_sum(program.first_follower.begin(), program.first_follower.end(),
                   program.first_follower.begin());
  program.followers.resize(program.first_follower.back());
  std::vector<std::uint32_t> next(program.first_follower.begin(), program.first_follower.end() - 1);
  for (OpId id = 0; id < ops.size(); ++id)
    for (const OpId on : schedule.dependencies(id)) program.followers[next[on]++] = id;
  return program;
}

Result<std::vector<Program>> programs_of(const Algorithm& algorithm, const Problem& problem,
                                         Count sends_under_way) {
  const ArgsOfRanks ranks(problem);
  std::vector<Schedule> together;
  if ((algorithm.restrictions & (kComposed | kBindsPeers | kMulticast)) != 0)
    together = build_all(algorithm, ranks.args());
  std::vector<Program> programs;
  for (int rank = 0; rank < problem.size; ++rank) {
    Schedule own = together.empty() ? build(algorithm, ranks[rank])
                                    : std::move(together[static_cast<std::size_t>(rank)]);
    auto program = program_of(std::move(own), problem.unit_bytes, sends_under_way);
    if (!program) return Error{program.error()};
    programs.push_back(std::move(*program));
  }
  return programs;
}

}  // namespace unisono
