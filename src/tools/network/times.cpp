#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/size.h"
#include "model/price.h"
#include "network/flows.h"
#include "tools/network/call.h"

namespace unisono {

namespace {

using Json = nlohmann::ordered_json;

/// As large as those of rank 0, all ranks together.
Count schedule_bytes(const Algorithm& algorithm, const Problem& problem) {
  const ArgsOfRanks ranks(problem);
  const auto one = program_of(build(algorithm, ranks[problem.root]), problem.unit_bytes, 2);
  return one ? static_cast<Count>(one->bytes()) * problem.size : 0;
}

Json loads(const Network& network, const FlowTimes& times, bool all) {
  const auto busiest = std::max_element(times.bytes_over.begin(), times.bytes_over.end());
  const auto link = [&](std::size_t i) {
    return Json{{"link", network.text_of_link(static_cast<int>(i))},
                {"bytes", times.bytes_over[i]},
                {"messages", times.messages_over[i]}};
  };
  Json found;
  found["busiest_link"] = link(static_cast<std::size_t>(busiest - times.bytes_over.begin()));
  if (!all) return found;
  for (std::size_t i = 0; i < times.bytes_over.size(); ++i)
    if (network.links()[i].exists()) found["links"].push_back(link(i));
  return found;
}

}  // namespace

std::string times_line(const Place& place, const Call& call) {
  const Placed where = placed(place);
  const Collective collective = collective_of(call);
  const Spec spec = spec_of(call, collective);
  const auto memory = parse_size(call.memory);
  if (!memory) throw CLI::ValidationError("--memory " + call.memory + " is no size");

  const Topology topology(where.ranks(), labels_of(where, where.host_of_rank));
  const Problem problem = problem_of(
      {.collective = collective, .ranks = where.ranks(), .bytes = call.bytes, .root = where.root},
      spec.params, &topology);
  Json line{{"collective", call.collective}, {"bytes", call.bytes}, {"algorithm", call.algorithm}};
  auto why = obstacle(problem, spec, call.bytes);
  const bool composed = (spec.algorithm->restrictions & kComposed) != 0;
  if (!why && !composed && schedule_bytes(*spec.algorithm, problem) > *memory)
    why = "its schedules need more memory (--memory)";
  if (why) {
    line["left_out"] = *why;
    return line.dump();
  }
  name_routes(where, *spec.algorithm, problem);
  auto programs = programs_of(*spec.algorithm, problem, 2);
  if (!programs) throw CLI::ValidationError(call.algorithm + ": " + programs.error());
  const auto times = simulate_flows(std::move(*programs), *where.network, where.host_of_rank,
                                    {.eager = call.eager, .element_bytes = problem.unit_bytes});
  if (!times) throw CLI::ValidationError(call.algorithm + ": " + times.error());
  line["seconds"] = times->seconds;
  line["messages"] = times->messages;
  line["sent"] = times->bytes;
  line["slowed"] = times->slowed;
  line.update(loads(*where.network, *times, call.links));
  if (call.links) line["seconds_of_rank"] = times->seconds_of_rank;
  return line.dump();
}

}  // namespace unisono
