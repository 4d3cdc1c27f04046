// docs/algorithms.md: every number in it is counted from the schedules.
#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

#include "base/size.h"
#include "schedule/metrics.h"
#include "tools/schedule/commands.h"

namespace unisono {

namespace {

constexpr std::array kSizes = {8, 16, 17, 64};
constexpr int kOverviewSize = 17;
constexpr Count kVector = Count{128} * 1024;  // eight segments of the usual 16K
constexpr Count kBlock = 4096;
constexpr std::string_view kLateMeaning = "ranks predicted to arrive last, the very last one last";

bool has_vector(Collective c) { return semantics(c).measure == Measure::vector; }
bool has_data(Collective c) { return semantics(c).measure != Measure::nothing; }

struct Case {
  Metrics metrics;
  Count length = 0;  ///< m or b, in units
};

/// Nothing when a restriction is not met.
std::optional<Case> count(const Algorithm& row, Collective collective, int size) {
  const NeighbourGraph stencil = NamedGrid::parse("stencil:2", size)->graph();
  Problem problem{.collective = collective, .size = size, .params = default_params(row)};
  if (is_among_neighbours(collective)) problem.graph = &stencil;
  problem.count = has_vector(collective) ? kVector : kBlock;
  if (is_irregular(collective)) {
    // Equal counts, so that the figures can be compared with those of the regular form.
    const bool matrix = has_matrix(semantics(collective));
    const auto p = static_cast<std::size_t>(size);
    problem.counts.assign(problem.graph != nullptr ? stencil.edges().size()
                          : matrix                 ? p * p
                                                   : p,
                          kBlock);
  }
  const ArgsOfRanks ranks(problem);
  for (const Args& args : ranks.args())
    if (unmet_restriction(row, args)) return std::nullopt;
  return Case{measure(build_all(row, ranks.args())), problem.count};
}

Count busiest_port(const Metrics& metrics) { return std::max(metrics.sent, metrics.received); }

std::string ratio(Count units, Count length) {
  std::array<char, 32> text{};
  const double value = static_cast<double>(units) / static_cast<double>(length);
  std::snprintf(text.data(), text.size(), value < 9.995 ? "%.2f" : "%.1f", value);
  std::string shown(text.data());
  while (shown.find('.') != std::string::npos && (shown.back() == '0' || shown.back() == '.')) {
    const bool point = shown.back() == '.';
    shown.pop_back();
    if (point) break;
  }
  return shown;
}

std::string sizes_text() {
  std::string text;
  for (const int p : kSizes) text += (text.empty() ? "" : " / ") + std::to_string(p);
  return text;
}

std::string overview() {
  // The columns: one per collective; the v-forms cost what the regular ones cost.
  std::vector<Collective> columns;
  for (int c = 0; c < kCollectives; ++c)
    if (contains(kAmongAll & ~kIrregular, static_cast<Collective>(c)))
      columns.push_back(static_cast<Collective>(c));
  std::vector<std::string_view> names;
  for (const Algorithm& row : catalogue())
    if ((row.collectives & kAmongAll & ~kIrregular) != 0 &&
        std::find(names.begin(), names.end(), row.name) == names.end())
      names.push_back(row.name);

  std::string out = "| |";
  for (const Collective c : columns) out += " " + std::string(name(c)) + " |";
  out += "\n|---|";
  for (std::size_t i = 0; i < columns.size(); ++i) out += "---|";
  out += "\n";
  for (const std::string_view algorithm : names) {
    out += "| " + std::string(algorithm) + " |";
    for (const Collective c : columns) {
      const Algorithm* row = find_algorithm(c, algorithm);
      const auto counted = row != nullptr ? count(*row, c, kOverviewSize) : std::nullopt;
      std::string cell;
      if (row != nullptr) cell = "-";
      if (counted) {
        cell = std::to_string(counted->metrics.rounds);
        if (has_data(c)) cell += " · " + ratio(busiest_port(counted->metrics), counted->length);
      }
      out += " " + cell + " |";
    }
    out += "\n";
  }
  return out;
}

std::string parameters_text(const Algorithm& row) {
  if ((row.restrictions & kComposed) != 0) return "see [grids](reference/grids.md)";
  std::string text;
  for (const Parameter& parameter : row.parameters) {
    const auto value = [&](Count v) {
      if (!parameter.names.empty())
        return std::string(parameter.names[static_cast<std::size_t>(v - parameter.least)]);
      return parameter.is_size ? format_size(v) : std::to_string(v);
    };
    if (!text.empty()) text += "<br>";
    text += "`" + std::string(parameter.name) + "=" + value(parameter.default_value) + "` (";
    if (parameter.names.empty())
      text += value(parameter.least) + " to " + value(parameter.most);
    else
      for (Count v = parameter.least; v <= parameter.most; ++v)
        text += (v > parameter.least ? ", " : "") + value(v);
    text += "): " + std::string(parameter.meaning);
  }
  if ((row.restrictions & kPredicts) != 0)
    text += std::string(text.empty() ? "" : "<br>") +
            "`late=p-1` (a list: `5.7`): " + std::string(kLateMeaning);
  return text;
}

std::string order_text(const Algorithm& row) {
  std::string text(kOrderNames[static_cast<std::size_t>(row.combining.order)]);
  std::string_view separator = "; by ";
  for (const std::string_view what : order_depends_on(row)) {
    text += std::string(separator) + std::string(what);
    separator = ", ";
  }
  return text;
}

/// Of the reductions' tables: what order_text() says.
constexpr std::string_view kOrders = R"(## Orders

The **order** of a reduction says how contributions to an element are combined. The bits of a sum of floating-point numbers depend on it and on
nothing else. `left` is a fold in rank order, ((0 + 1) + 2) + 3; `right` a fold from the last rank down, 0 + (1 + (2 + 3)); `halves` cuts the ranks at
the largest power of two below their number, and each part likewise; `folded` adds ranks 0 and 1, 2 and 3, ... until a power of two is left, then
neighbours level by level, as recursive doubling in MPICH does; `far` does the same, but adds each to the one half as many further on; `own` is none of these. What stands behind
`by` changes the order, apart from the number of ranks: the root (a named order is that of root 0), the element's place in the vector and the
vector's length, the segment, the radix, the kind of trees, the ranks predicted to be late, the placement on the torus, the shape of the grid and what it is
composed of. In all other ways the order is the same for each element and in each call: windows, transports and the times at which ranks arrive do not change it. Tests interpret all
schedules ([which](../tests/algorithms/sum_order_test.cpp)), and run the kernels of the node with ranks that are late.

)";

std::string section(Collective collective) {
  const bool blocks = !has_vector(collective) && has_data(collective);
  const std::string unit = blocks ? "b" : "m";
  std::string table = "| algorithm | rounds | depth | messages | bytes / " + unit +
                      " | reduced / " + unit + " | cost | needs | " +
                      (is_reducing(collective) ? "order | " : "") +
                      "parameters | source |\n|---|---|---|---|---|" +
                      (is_reducing(collective) ? "---|" : "") + "---|---|---|---|---|\n";
  bool any = false;
  for (const Algorithm& row : catalogue()) {
    if (!contains(row.collectives, collective)) continue;
    any = true;
    std::array<std::string, 5> cells;
    for (const int p : kSizes) {
      const auto counted = count(row, collective, p);
      const std::string separator = p == kSizes[0] ? "" : " / ";
      const auto value = [&](Count n) { return counted ? std::to_string(n) : "-"; };
      const auto share = [&](Count n) { return counted ? ratio(n, counted->length) : "-"; };
      const Metrics m = counted ? counted->metrics : Metrics{};
      cells[0] += separator + value(m.rounds);
      cells[1] += separator + value(m.depth);
      cells[2] += separator + value(m.messages);
      if (has_data(collective)) cells[3] += separator + share(busiest_port(m));
      if (is_reducing(collective)) cells[4] += separator + share(m.reduced);
    }
    table += "| `" + std::string(row.name) + "` |";
    for (const std::string& cell : cells) table += " " + cell + " |";
    table += " " + std::string(row.cost) + " | " + restrictions_text(row.restrictions) + " | " +
             (is_reducing(collective) ? order_text(row) + " | " : "") + parameters_text(row) +
             " | " + std::string(row.source) + " |\n";
  }
  const std::string title = "## " + std::string(name(collective)) + "\n\n";
  return any ? title + table + "\n" : title + "Only the MPI library's own so far.\n\n";
}

}  // namespace

std::string documentation() {
  std::string out =
      "# Algorithms\n\n"
      "<!-- Written by `make generate`: counted from the schedules of the catalogue. -->\n\n"
      "p ranks, m the bytes of the vector, b those of one block, q = ceil(log2 p), n segments.\n"
      "Counted with the default parameters, m = " +
      format_size(kVector) + ", b = " + format_size(kBlock) +
      ", equal counts in the v-forms, and among\n"
      "neighbours a stencil of two dimensions (8 neighbours), with a node for each rank:\n\n"
      "- **rounds**: when every rank sends at most one and receives at most one message per round\n"
      "  (one port, full duplex), in program order where both agree on it;\n"
      "- **depth**: the longest chain of messages that wait for each other (with as many ports as\n"
      "  one likes);\n"
      "- **messages** sent by the rank that sends most of them, **bytes** that go one way through\n"
      "  the busiest port, bytes **reduced** by the rank that combines most.\n\n"
      "`shm` sends no messages: what is counted is what goes from rank to rank through the "
      "memory of\n"
      "a node. All others also take `transport=shm`: their messages go [that "
      "way](guide/within-a-node.md)"
      "\n"
      "instead of through the MPI library. `-`: the algorithm needs something that p ranks do not "
      "have. In formulas, cost is "
      "what the\n"
      "literature gives; the counts are what is built. `unisono show` prints and draws any of "
      "them.\n\n"
      "## Overview: rounds · bytes, p = " +
      std::to_string(kOverviewSize) +
      "\n\nBytes in units of m (bcast, reduce, allreduce, scan, exscan) or of b (the others).\n\n" +
      overview() +
      "\nIn the tables below, four figures in a cell are those of p = " + sizes_text() + ".\n\n" +
      std::string(kOrders);
  for (int c = 0; c < kCollectives; ++c) out += section(static_cast<Collective>(c));
  out.pop_back();
  return out;
}

}  // namespace unisono
