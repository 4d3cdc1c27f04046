#include "tools/bench/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <climits>
#include <iostream>
#include <limits>
#include <map>
#include <sstream>

#include "base/size.h"
#include "base/version.h"

namespace unisono::bench {

namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (;;) {
    const std::size_t at = text.find(separator);
    pieces.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return pieces;
    text.remove_prefix(at + 1);
  }
}

std::string usage() {
  return "Latency of MPI collectives: the MPI library's own against Unisono's, interleaved in one "
         "run,\nevery result verified. Columns as in the OSU benchmarks.\n\n"
         "  mpiexec -n 4 unisono-bench-mpich --collectives bcast,allreduce --sizes 8:1M \\\n"
         "    --arms native,default,chain:segment=32K\n";
}

std::vector<std::string_view> names_of(CollectiveSet set) {
  std::vector<std::string_view> names;
  for (const Semantics& row : kSemantics)
    if (contains(set, row.collective)) names.push_back(row.name);
  return names;
}

std::vector<Collective> parse_collectives(std::string_view text) {
  std::vector<Collective> result;
  for (const std::string_view piece : split(text, ',')) {
    const auto collective = collective_named(piece);
    if (!collective)
      throw CLI::ValidationError("--collectives",
                                 fmt::format("no collective '{}'; there are: {}", piece,
                                             fmt::join(names_of(kEveryCollective), ", ")));
    result.push_back(*collective);
  }
  return result;
}

CallPattern parse_pattern(const std::string& name) {
  const auto pattern = pattern_named(name);
  if (!pattern)
    throw CLI::ValidationError("--pattern", fmt::format("there are: {}", pattern_names()));
  return *pattern;
}

std::vector<Count> sizes_in(std::string_view text) {
  const auto sizes = parse_sizes(text);
  if (!sizes) throw CLI::ValidationError("--sizes", "wants 8:1M, 8:1M:4 or 8,1K,64K");
  return *sizes;
}

Count size_in(const char* option, std::string_view text, Count most) {
  const auto size = parse_size(text);
  if (!size) throw CLI::ValidationError(option, "wants a size such as 64K");
  if (*size > most)
    throw CLI::ValidationError(option, fmt::format("at most {}", format_size(most)));
  return *size;
}

/// The race is run against native, which comes first.
void native_first(Cells& cells) {
  const auto native = std::find(cells.arms.begin(), cells.arms.end(), "native");
  if (native == cells.arms.end())
    throw CLI::ValidationError("--race", "needs native among the --arms");
  std::rotate(cells.arms.begin(), native, native + 1);
}

void check_consistent(const Options& o, int ranks) {
  if (o.root < 0 || o.root >= ranks)
    throw CLI::ValidationError("--root", fmt::format("must be a rank, 0 to {}", ranks - 1));
  const bool loops = o.measure.pattern == CallPattern::loop;
  if (loops && o.in_place)
    throw CLI::ValidationError("--pattern loop", "in place, calls would work on their own results");
  if (loops && o.measure.race)
    throw CLI::ValidationError("--pattern loop", "its batches are too long for a --race");
  if (pauses(o.measure.pattern) && o.measure.mean_over_ranks)
    throw CLI::ValidationError(fmt::format("--pattern {}", pattern_name(o.measure.pattern)),
                               "is timed up to the last rank's exit: not with --time mean");
  const bool reduces = std::any_of(o.cells.begin(), o.cells.end(), [](const Cells& cells) {
    return std::any_of(cells.collectives.begin(), cells.collectives.end(), is_reducing);
  });
  if (!reduces) return;
  if (o.type != nullptr && !o.type->reducible)
    throw CLI::ValidationError("--type", "MPI has no reductions of char; use int8 or uint8");
  if (needs_integers(o.operation) && (o.type == nullptr || !o.type->integral))
    throw CLI::ValidationError("--op", "bitwise operations need an integer --type (int32, ...)");
}

/// A number alone is of seconds.
const std::map<std::string, double> kSeconds{{"s", 1}, {"m", 60}, {"h", 3600}};

void add_amounts(CLI::App& app, MeasureOptions& measure) {
  app.add_option("--budget", measure.budget_seconds, "per collective and size: 0.5s, 2m")
      ->transform(CLI::AsNumberWithUnit(kSeconds, CLI::AsNumberWithUnit::CASE_SENSITIVE, "TIME"))
      ->check(CLI::PositiveNumber);
  app.add_option("--max-blocks", measure.max_blocks, "repetitions of all arms, at most")
      ->check(CLI::PositiveNumber);
  app.add_option("--calls", measure.calls,
                 "calls in a repetition of an arm; 0: as many as fill some of the time")
      ->check(CLI::NonNegativeNumber);
}

}  // namespace

std::optional<std::vector<Count>> parse_sizes(std::string_view text) {
  std::vector<Count> sizes;
  for (const std::string_view piece : split(text, ',')) {
    const std::size_t colon = piece.find(':');
    const auto first = parse_size(piece.substr(0, colon));
    if (!first || *first == 0) return std::nullopt;
    if (colon == std::string_view::npos) {
      sizes.push_back(*first);
      continue;
    }
    const std::string_view rest = piece.substr(colon + 1);
    const std::size_t second = rest.find(':');
    const auto last = parse_size(rest.substr(0, second));
    const auto factor = second == std::string_view::npos ? std::optional<std::int64_t>(2)
                                                         : parse_size(rest.substr(second + 1));
    constexpr Count kLargest = Count{1} << 60;
    if (!last || *last < *first || *last > kLargest) return std::nullopt;
    if (!factor || *factor < 2 || *factor > kLargest) return std::nullopt;
    const Count end = *last;
    for (Count size = *first; size <= end; size *= *factor) {
      sizes.push_back(size);
      if (size > end / *factor) break;  // the next may not fit a Count
    }
  }
  return sizes;
}

std::vector<std::string> parse_arms(std::string_view text) {
  std::vector<std::string> arms;
  for (const std::string_view piece : split(text, ',')) {
    const bool continues = !arms.empty() && piece.find('=') < piece.find(':');
    if (continues)
      arms.back() += fmt::format(",{}", piece);
    else
      arms.emplace_back(piece);
  }
  // Not before: "ring,chain:depth=4,ring,window=2" has three arms, the last one with a window.
  std::vector<std::string> different;
  for (const std::string& arm : arms)
    if (std::find(different.begin(), different.end(), arm) == different.end())
      different.push_back(arm);
  return different;
}

std::vector<Cells> parse_cells(std::string_view text) {
  std::vector<Cells> all;
  for (const std::string_view piece : split(text, ';')) {
    std::istringstream words{std::string(piece)};
    std::string collectives, sizes, arms, more;
    if (!(words >> collectives >> sizes >> arms) || words >> more)
      throw CLI::ValidationError("--cells", "wants COLLECTIVE SIZES ARMS; COLLECTIVE SIZES ARMS");
    all.push_back({parse_collectives(collectives), sizes_in(sizes), parse_arms(arms)});
  }
  return all;
}

std::optional<Options> parse_command_line(int argc, char** argv, int ranks, bool speaks,
                                          int& exit_code) {
  Options o;
  o.neighbours = "stencil:2";
  std::string collectives = fmt::format("{}", fmt::join(names_of(kAmongAll), ","));
  std::string sizes = "8:1M", arms = "native,default", type, operation = "sum", memory = "512M";
  std::string time = "max", drain = "0", pattern = "barrier", cells;

  CLI::App app(usage());
  app.set_version_flag("--version", "unisono-bench " UNISONO_VERSION);
  app.option_defaults()->always_capture_default();
  auto* const of_all = app.add_option("--collectives", collectives, "comma-separated names");
  auto* const of_sizes = app.add_option(
      "--sizes", sizes,
      "bytes: 8:1M (doubling), 8:1M:4 (times 4), or a list. Of the whole vector (bcast, reduce, "
      "allreduce, scan, exscan, reduce_scatter*), else of one block");
  auto* const of_arms =
      app.add_option("--arms", arms,
                     "native (PMPI), default (what Unisono chooses), an algorithm as in "
                     "UNISONO_<COLLECTIVE>, or all");
  app.add_option("--cells", cells,
                 "instead of these three, where cells have arms of their own: "
                 "'bcast 4K native,shm; gather 64:1K native,flat'")
      ->excludes(of_all)
      ->excludes(of_sizes)
      ->excludes(of_arms);
  add_amounts(app, o.measure);
  app.add_flag("--race", o.measure.race,
               "arms that are surely not the fastest leave; ends when nothing is left to be told, "
               "and never later than --budget (needs native among the arms)");
  app.add_option("--time", time, "of the ranks' times: max, or mean as OSU prints")
      ->check(CLI::IsMember({"max", "mean"}));
  app.add_option(
         "--drain", drain,
         "bytes that every rank sends before what is timed, so that a traffic shaper has no "
         "credit left; the lab sets it")
      ->envname("UNISONO_BENCH_DRAIN");
  app.add_option(
      "--pattern", pattern,
      "what ranks do before a call: barrier; loop (nothing: calls back to back for 20 ms, "
      "every rank the root in its turn); sleep; compute (each for a time of its own, its "
      "input written anew)");
  app.add_option("--neighbours", o.neighbours, "torus:N or stencil:N of N dimensions (neighbor_*)");
  app.add_option("--root", o.root, "of bcast, gather, scatter, reduce");
  app.add_option(
      "--type", type,
      fmt::format("of an element: {}. Without: char, and float in reductions", type_names()));
  app.add_option("--op", operation,
                 fmt::format("of the reductions: {} (left: user-defined, not commutative)",
                             operation_names()));
  app.add_flag("--in-place", o.in_place, "with MPI_IN_PLACE");
  app.add_option("--memory", memory, "of buffers on a rank; larger cells are left out");
  app.add_option("--seed", o.seed, "of the order of the arms");
  app.add_option("--json", o.json, "also write the results to this file");
  app.add_flag("--which-library", o.which_library,
               "say which MPI library the job has, as JSON, and measure nothing");
  app.add_flag("--raw", o.raw, "with the times of every block, in the JSON file");

  try {
    app.parse(argc, argv);
    if (cells.empty())
      o.cells = {{parse_collectives(collectives), sizes_in(sizes), parse_arms(arms)}};
    else
      o.cells = parse_cells(cells);
    o.measure.mean_over_ranks = time == "mean";
    o.memory = size_in("--memory", memory, std::numeric_limits<Count>::max());
    o.measure.drain = size_in("--drain", drain, INT_MAX);
    if (!type.empty()) o.type = type_named(type);
    if (!type.empty() && o.type == nullptr)
      throw CLI::ValidationError("--type", "there are: " + type_names());
    const auto parsed_operation = operation_named(operation);
    if (!parsed_operation) throw CLI::ValidationError("--op", "there are: " + operation_names());
    o.operation = *parsed_operation;
    if (o.measure.race) std::for_each(o.cells.begin(), o.cells.end(), native_first);
    o.measure.pattern = parse_pattern(pattern);
    check_consistent(o, ranks);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out, err;
    exit_code = app.exit(error, out, err);
    if (speaks) {
      std::cout << out.str() << std::flush;
      std::cerr << err.str() << std::flush;
    }
    return std::nullopt;
  }
  return o;
}

}  // namespace unisono::bench
