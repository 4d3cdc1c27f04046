#include "tools/model/commands.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <type_traits>

#include "files/json.h"
#include "model/fit.h"
#include "model/grids.h"
#include "model/predict.h"
#include "model/price.h"
#include "model/segment.h"
#include "select/offers/offers.h"
#include "select/offers/proposals.h"
#include "select/spec.h"
#include "topology/topology.h"

namespace unisono {

namespace {

constexpr int kMostRanks = 4096;
constexpr double kLongest = 1e9;  // seconds

template <class T>
T value_of(const Result<T>& result) {
  if (!result) throw CLI::ValidationError(result.error());
  return *result;
}

/// By call and rank.
struct Followed {
  std::vector<std::vector<double>> arrivals, exits;
};

struct Priced {
  std::string spec;
  std::optional<double> seconds;
  std::string unmet;
  std::string chosen;  // with the segment in place of segment=auto
  Followed calls;      // if the job has several
};

/// One rank on each node, unless the job says otherwise.
int nodes_of(const Job& job) { return job.nodes == 0 ? job.ranks : job.nodes; }

Problem problem_of(const Job& job, Collective collective) {
  if (job.ranks < 1 || job.ranks > kMostRanks)
    throw CLI::ValidationError("ranks: from 1 to " + std::to_string(kMostRanks));
  if (job.nodes < 0 || job.nodes > job.ranks)
    throw CLI::ValidationError("nodes: at least 1 and at most as many as ranks");
  if (job.root < 0 || job.root >= job.ranks)
    throw CLI::ValidationError("root: not one of the ranks");
  if (job.bytes < 0) throw CLI::ValidationError("bytes: not negative");
  const auto ranks = static_cast<std::size_t>(job.ranks);
  for (const auto& away : job.delays)
    if (away.size() != ranks || *std::min_element(away.begin(), away.end()) < 0)
      throw CLI::ValidationError("delays: lists of a time for each rank, none negative");
  if (!job.computing.empty() && job.computing.size() != job.delays.size())
    throw CLI::ValidationError("computing: a list for each of delays");
  for (const auto& computing : job.computing)
    if (computing.size() != ranks)
      throw CLI::ValidationError("computing: lists of a time for each rank");
  if (!job.waits.empty() && job.waits.size() != job.delays.size())
    throw CLI::ValidationError("waits: a list for each of delays");
  if (!job.traffic.empty() && job.traffic.size() != job.delays.size())
    throw CLI::ValidationError("traffic: a list for each of delays");
  for (const auto& traffic : job.traffic)
    for (const Meanwhile& each : traffic)
      if (each.rank < 0 || each.rank >= job.ranks)
        throw CLI::ValidationError("traffic: not one of the ranks");
  for (const auto& waits : job.waits)
    for (const Wait& wait : waits)
      if (std::min(wait.rank, wait.other) < 0 || std::max(wait.rank, wait.other) >= job.ranks)
        throw CLI::ValidationError("waits: not one of the ranks");
  if (!job.node_of_rank.empty() && job.node_of_rank.size() != ranks)
    throw CLI::ValidationError("node_of_rank: a node for each rank");
  for (const int node : job.node_of_rank)
    if (node < 0 || node >= job.ranks)
      throw CLI::ValidationError("node_of_rank: nodes are numbered from 0, and no more than ranks");
  return unisono::problem_of({.collective = collective,
                              .ranks = job.ranks,
                              .nodes = job.nodes,
                              .bytes = job.bytes,
                              .root = job.root});
}

std::vector<int> placement_of(const Job& job) {
  return job.node_of_rank.empty() ? block_placement(job.ranks, nodes_of(job)) : job.node_of_rank;
}

/// One that binds its peers does so as if the last to arrive came when all others have been served.
std::vector<Schedule> schedules_of(const Algorithm& algorithm, const ArgsOfRanks& ranks,
                                   const std::vector<double>& arrivals) {
  const auto last = std::max_element(arrivals.begin(), arrivals.end());
  const bool differs = (algorithm.restrictions & kBindsPeers) != 0 &&
                       *last > *std::min_element(arrivals.begin(), arrivals.end());
  return build_all(algorithm, ranks.args(),
                   differs ? static_cast<int>(last - arrivals.begin()) : -1);
}

/// When ranks that have left a call arrive at the job's next one.
std::vector<double> next_arrivals(const Job& job, std::size_t call,
                                  const std::vector<double>& left) {
  std::vector<double> at(left.size());
  std::transform(left.begin(), left.end(), job.delays[call].begin(), at.begin(), std::plus());
  if (job.waits.empty()) return at;
  for (const Wait& wait : job.waits[call]) {
    double& own = at[static_cast<std::size_t>(wait.rank)];
    own = std::max(own, left[static_cast<std::size_t>(wait.other)] + wait.seconds);
  }
  return at;
}

/// On the clock of the calls, in the order of time.
std::vector<Traffic> traffic_before(const Job& job, std::size_t call,
                                    const std::vector<double>& arrivals) {
  std::vector<Traffic> all;
  if (job.traffic.empty()) return all;
  for (const Meanwhile& each : job.traffic[call])
    all.push_back(
        {each.rank, each.out, each.in, arrivals[static_cast<std::size_t>(each.rank)] - each.ago});
  std::ranges::sort(all, {}, &Traffic::begin);
  return all;
}

/// Without calls where there is no prediction.
Followed follow(const Algorithm& algorithm, const Problem& problem, const Job& job,
                const Machine& machine) {
  const ArgsOfRanks ranks(problem);
  const auto node_of_rank = placement_of(job);
  CallSequence calls(machine, node_of_rank, problem.params.transport);
  Followed all;
  std::vector<double> left(static_cast<std::size_t>(job.ranks));
  std::vector<Schedule> schedules;
  for (std::size_t call = 0; call < job.delays.size(); ++call) {
    const auto& at = all.arrivals.emplace_back(next_arrivals(job, call, left));
    if (schedules.empty() || (algorithm.restrictions & kBindsPeers) != 0)
      schedules = schedules_of(algorithm, ranks, at);
    auto exits = calls.next(
        schedules, problem.unit_bytes, at,
        job.computing.empty() ? std::span<const double>() : std::span(job.computing[call]),
        traffic_before(job, call, at));
    if (!exits) return {};
    left = all.exits.emplace_back(std::move(*exits));
  }
  return all;
}

/// Of a field that has a list of rows for each call: what `made` makes of each row.
template <class Made>
auto by_call(const Json& job, const char* name, Made made) {
  std::vector<std::vector<std::invoke_result_t<Made, const Json&>>> all;
  if (field_if_any(job, name) == nullptr) return all;
  for (const Json& call : list(job, name)) {
    if (!call.is_array()) throw Bad{std::string(name) + " is not a list of lists"};
    auto& own = all.emplace_back();
    for (const Json& row : call) own.push_back(made(row));
  }
  return all;
}

double seconds_of(const Json& value) { return number(value, "a time", -kLongest, kLongest); }

/// Element i of a row, a rank.
int rank_of(const Json& row, std::size_t i) {
  return static_cast<int>(integer(row.at(i), "a rank", 0, kMostRanks - 1));
}

void need_length(const Json& row, std::size_t length) {
  if (!row.is_array() || row.size() != length)
    throw Bad{"a row has " + std::to_string(length) + " numbers, unlike " + shown(row)};
}

Wait wait_of(const Json& row) {
  need_length(row, 3);
  return {rank_of(row, 0), rank_of(row, 1), seconds_of(row[2])};
}

Meanwhile traffic_of(const Json& row) {
  constexpr Count kMostBytes = Count{1} << 50;
  need_length(row, 4);
  return {rank_of(row, 0), integer(row[1], "bytes", 0, kMostBytes),
          integer(row[2], "bytes", 0, kMostBytes), seconds_of(row[3])};
}

Job job_of(const Json& row) {
  Job job;
  job.collective = word(row, "collective");
  job.ranks = whole(row, "ranks", 1);
  job.nodes = whole_or(0, row, "nodes", 0);
  job.bytes = integer(field(row, "bytes"), "bytes", 0, std::numeric_limits<Count>::max());
  job.root = whole_or(0, row, "root", 0);
  for (const Json& spec : list(row, "specs")) {
    if (!spec.is_string()) throw Bad{"specs is not a list of texts"};
    job.specs.push_back(spec.get<std::string>());
  }
  job.delays = by_call(row, "delays", seconds_of);
  job.waits = by_call(row, "waits", wait_of);
  job.computing = by_call(row, "computing", seconds_of);
  job.traffic = by_call(row, "traffic", traffic_of);
  if (field_if_any(row, "node_of_rank") != nullptr)
    for (const Json& node : list(row, "node_of_rank"))
      job.node_of_rank.push_back(static_cast<int>(integer(node, "a node", 0, kMostRanks - 1)));
  return job;
}

Priced price(const std::string& written, const Job& job, Problem problem, const Machine& machine) {
  Spec spec = value_of(parse_spec(problem.collective, written));
  if (spec.algorithm == nullptr) return {written, std::nullopt, "", "", {}};
  std::string chosen;
  if (spec.params.segment == kOpenSegment) {
    const PricedCall call{problem.collective, job.ranks, nodes_of(job), job.bytes, job.root};
    const auto segment = best_segment(*spec.algorithm, spec.params, call, machine);
    spec.params = with_standard_segment(*spec.algorithm, spec.params);
    spec.params.segment = segment.value_or(spec.params.segment);
    chosen = text(spec);
  }
  problem.params = spec.params;
  if ((spec.algorithm->restrictions & kOneNode) != 0)
    return {written, std::nullopt, "", chosen, {}};
  const Conditions conditions{.size = problem.size,
                              .commutative = problem.commutative,
                              .messages = nodes_of(job) == 1,
                              .topology = problem.topology};
  if (const auto unmet = unmet_restriction(*spec.algorithm, conditions, problem.params))
    return {written, std::nullopt, std::string(*unmet), chosen, {}};
  if (spec.params.transport == TransportKind::shm && !machine.node_memory)
    return {written, std::nullopt, "", chosen, {}};
  if (!job.delays.empty()) {
    Followed calls = follow(*spec.algorithm, problem, job, machine);
    if (calls.exits.empty()) return {written, std::nullopt, "", chosen, {}};
    const auto& last = calls.exits.back();
    const double seconds = *std::max_element(last.begin(), last.end());
    return {written, seconds, "", chosen, std::move(calls)};
  }
  const auto seconds = predict(*spec.algorithm, problem, machine, placement_of(job));
  return {written, value_of(seconds), "", chosen, {}};
}

}  // namespace

std::string fit_samples(std::string_view samples) {
  return write_machine(value_of(fit(value_of(read_samples(samples)))));
}

std::vector<Job> read_jobs(std::string_view text) {
  const auto jobs = result_of([&] {
    const Json rows = parse_json(text, kLargeJson);
    if (!rows.is_array()) throw Bad{"it is no list of calls"};
    std::vector<Job> all;
    for (const Json& row : rows) all.push_back(job_of(row));
    return all;
  });
  if (!jobs) throw CLI::ValidationError("jobs: " + jobs.error());
  return *jobs;
}

std::string predict_job(const Job& job, const Machine& machine) {
  const auto collective = collective_named(job.collective);
  if (!collective) throw CLI::ValidationError("no collective '" + job.collective + "'");
  Problem problem = problem_of(job, *collective);
  std::optional<const Topology> topology;
  if (!job.node_of_rank.empty()) {
    TopologyLabels labels;
    labels.at(Level::node) = job.node_of_rank;
    problem.topology = &topology.emplace(job.ranks, labels);
  }
  std::vector<Priced> all;
  for (const std::string& spec : job.specs) all.push_back(price(spec, job, problem, machine));
  std::stable_sort(all.begin(), all.end(), [](const Priced& a, const Priced& b) {
    return a.seconds && (!b.seconds || *a.seconds < *b.seconds);
  });
  Json rows = Json::array();
  for (const Priced& each : all) {
    Json& row = rows.emplace_back(Json{{"spec", each.spec}, {"seconds", nullptr}});
    if (each.seconds) row["seconds"] = *each.seconds;
    if (!each.unmet.empty()) row["unmet"] = each.unmet;
    if (!each.chosen.empty()) row["chosen"] = each.chosen;
    if (each.calls.exits.empty()) continue;
    row["arrivals_s"] = each.calls.arrivals;
    row["exits_s"] = each.calls.exits;
  }
  return rows.dump();
}

std::string offers(const Job& job, const Machine& machine, double seconds) {
  const auto collective = collective_named(job.collective);
  if (!collective) throw CLI::ValidationError("no collective '" + job.collective + "'");
  if (job.ranks < 1 || job.root < 0 || job.root >= job.ranks || job.bytes < 0)
    throw CLI::ValidationError("ranks: at least 1; root: one of them; bytes: not negative");
  const Facts facts{
      .collective = *collective, .size = job.ranks, .bytes = job.bytes, .nodes = job.ranks};
  const auto begin = std::chrono::steady_clock::now();
  Pricing pricing(proposals(facts), facts, job.root, machine);
  const auto best = pricing.best(seconds);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  Json rows = Json::array();
  for (const Offer& offer : best)
    rows.push_back(
        {{"spec", text(pricing.spec_of(offer))}, {"seconds", offer.seconds}, {"risk", offer.risk}});
  return Json{{"offers", rows}, {"proposals", pricing.proposals().size()}, {"took", took.count()}}
      .dump();
}

std::string shapes(int ranks, int dimensions) {
  auto all = factorisations(ranks, dimensions);
  for (Shape& shape : ragged_shapes(ranks)) all.push_back(std::move(shape));
  return Json(all).dump() + "\n";
}

}  // namespace unisono
