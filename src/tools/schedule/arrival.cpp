// The table of docs/results/arrival.md: what is left to do when the last rank arrives.
#include <algorithm>
#include <array>
#include <cstdio>

#include "base/size.h"
#include "patterns/arrival.h"
#include "schedule/metrics.h"
#include "tools/schedule/commands.h"

namespace unisono {

namespace {

constexpr std::array kLateSizes = {8, 16, 17, 33};
constexpr Count kLateVector = Count{1} << 20;  // so that pipelines have their segments
constexpr Count kLateBlock = Count{1} << 16;
constexpr int kRoot = 0;

std::string decimals(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f", value);
  return text.data();
}

/// rounds | bytes through the busiest port | mean bytes that a rank receives
std::array<std::string, 3> cells(const Algorithm& row, Collective collective, int p, int late) {
  Problem problem{
      .collective = collective, .size = p, .root = kRoot, .params = default_params(row)};
  problem.count = collective == Collective::allgather ? kLateBlock : kLateVector;
  if ((row.restrictions & kPredicts) != 0) problem.params.late = intern({p / 2});
  const ArgsOfRanks ranks(problem);
  for (const Args& args : ranks.args())
    if (unmet_restriction(row, args)) return {"-", "-", "-"};
  const Remainder left = after_arrival(build_all(row, ranks.args(), late), std::array{late});
  const auto length = static_cast<double>(problem.count);
  return {std::to_string(left.rounds), decimals(static_cast<double>(left.units) / length),
          decimals(left.mean_received / length)};
}

std::string late_section(Collective collective) {
  const std::string unit = collective == Collective::allgather ? "b" : "m";
  std::string table = "| " + std::string(name(collective)) + " | rounds | bytes / " + unit +
                      " | mean / " + unit + " | wrong: rounds | wrong: bytes / " + unit +
                      " |\n|---|---|---|---|---|---|\n";
  for (const Algorithm& row : catalogue()) {
    // A grid is as its parts are, and the ports are a network's.
    const bool left_out = (row.restrictions & (kComposed | kOneNode)) != 0;
    if (!contains(row.collectives, collective) || left_out) continue;
    std::array<std::string, 5> columns;
    for (const int p : kLateSizes) {
      const auto right = cells(row, collective, p, p / 2);
      const auto wrong = cells(row, collective, p, p / 2 - 1);
      const std::array shown = {right[0], right[1], right[2], wrong[0], wrong[1]};
      for (std::size_t i = 0; i < columns.size(); ++i)
        columns[i] += (p == kLateSizes[0] ? "" : " / ") + shown[i];
    }
    table += "| `" + std::string(row.name) + "` |";
    for (const std::string& column : columns) table += " " + column + " |";
    table += "\n";
  }
  return table + "\n";
}

}  // namespace

std::string arrival_tables() {
  std::string sizes;
  for (const int p : kLateSizes) sizes += (sizes.empty() ? "" : " / ") + std::to_string(p);
  std::string out =
      "p = " + sizes + ", m = " + format_size(kLateVector) + ", b = " + format_size(kLateBlock) +
      ", default parameters, root " + std::to_string(kRoot) +
      ".\nRank p/2 arrives when all others have done what they can without it; where an algorithm\n"
      "predicts, that was predicted, or (wrong) rank p/2 - 1 is late instead.\n\n"
      "- **rounds**: one-ported, until the last rank is done;\n"
      "- **bytes** that go one way through the busiest port;\n"
      "- **mean**: bytes that a rank receives, mean over the ranks.\n\n";
  for (const Collective c :
       {Collective::bcast, Collective::reduce, Collective::allreduce, Collective::allgather})
    out += late_section(c);
  out.pop_back();
  return out;
}

}  // namespace unisono
