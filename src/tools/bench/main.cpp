// unisono-bench: see docs/reference/bench.md.
#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/size.h"
#include "comm/placement.h"
#include "tools/bench/arms.h"
#include "tools/bench/neighbourhoods.h"
#include "tools/bench/reporter.h"
#include "unisono/unisono.h"

namespace unisono::bench {

namespace {

/// "left": the result is the left operand; associative, and not commutative.
// The signature is MPI_User_function's. NOLINTNEXTLINE(readability-non-const-parameter)
void keep_left(void* in, void* inout, int* count, MPI_Datatype* type) {
  int bytes = 0;
  PMPI_Type_size(*type, &bytes);
  std::memcpy(inout, in, static_cast<std::size_t>(bytes) * static_cast<std::size_t>(*count));
}

/// The MPI handle of an operation; a user-defined one lives until MPI_Finalize.
MPI_Op handle_of(Operation operation) {
  switch (operation) {
    case Operation::sum: return MPI_SUM;
    case Operation::prod: return MPI_PROD;
    case Operation::min: return MPI_MIN;
    case Operation::max: return MPI_MAX;
    case Operation::band: return MPI_BAND;
    case Operation::bor: return MPI_BOR;
    case Operation::bxor: return MPI_BXOR;
    case Operation::left: break;
  }
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(keep_left, 0, &op);
  return op;
}

class Run {
 public:
  Run(const Options& options, Sideband& sideband, bool one_node,
      std::vector<std::unique_ptr<Reporter>> reporters)
      : options_(options),
        sideband_(sideband),
        one_node_(one_node),
        reporters_(std::move(reporters)),
        measurer_(sideband, options.measure, options.seed),
        neighbourhoods_(options.neighbours),
        op_(handle_of(options.operation)) {}

  /// Whether all results were right.
  bool all() {
    const bool correct =
        std::all_of(options_.cells.begin(), options_.cells.end(), [this](const Cells& cells) {
          return std::all_of(cells.collectives.begin(), cells.collectives.end(),
                             [&](Collective c) { return measure_all_sizes(c, cells); });
        });
    for (const auto& reporter : reporters_) reporter->end();
    return correct;
  }

 private:
  Setting setting_of(Collective collective, Count bytes) const {
    Setting s;
    s.collective = collective;
    s.bytes = bytes;
    s.type = options_.type != nullptr ? options_.type
                                      : type_named(is_reducing(collective) ? "float" : "char");
    s.operation = options_.operation;
    s.op = op_;
    s.root = options_.root;
    s.in_turn = options_.measure.pattern == CallPattern::loop;
    s.in_place = options_.in_place && call_of(collective).has_in_place;
    s.comm = MPI_COMM_WORLD;
    s.rank = sideband_.rank();
    s.size = sideband_.size();
    s.one_node = one_node_;
    if (is_among_neighbours(collective)) {
      s.comm = neighbourhoods_.comm();
      s.graph = &neighbourhoods_.graph();
    }
    return s;
  }

  Table table_of(Collective c, const ArmList& list) const {
    const Setting setting = setting_of(c, 1);
    Table table;
    table.collective = c;
    table.type = setting.type->name;
    table.sized = sized(semantics(c).measure);
    if (is_reducing(c)) table.op = operation_name(options_.operation);
    if (is_rooted(c)) table.root = options_.root;
    table.in_place = setting.in_place;
    table.arms = list.arms;
    table.absent = list.absent;
    return table;
  }

  bool measure_all_sizes(Collective collective, const Cells& cells) {
    const std::vector<Count> sizes =
        call_of(collective).output == Part::none ? std::vector<Count>{0} : cells.sizes;
    const ArmList list = arms_for(setting_of(collective, sizes.front()), cells.arms);
    for (const auto& reporter : reporters_) reporter->begin_table(table_of(collective, list));
    for (const Count bytes : sizes) {
      show_progress(collective, bytes);
      const Setting setting = setting_of(collective, bytes);
      CellResult result{collective, bytes, Cell::obstacle(setting, options_.memory), {}, 0, true};
      if (!result.obstacle) result = measurer_.measure(setting, list.arms);
      show_progress(collective, std::nullopt);
      for (const auto& reporter : reporters_) reporter->cell(result);
      if (!result.correct) return false;
    }
    unisono_force(name(collective).data(), "default");
    return true;
  }

  /// A line that is overwritten, when someone looks; nothing: it is wiped.
  void show_progress(Collective collective, std::optional<Count> bytes) const {
    if (sideband_.rank() != 0 || isatty(STDERR_FILENO) == 0) return;
    const std::string text =
        bytes ? fmt::format("measuring {} {} ...", name(collective), format_size(*bytes)) : "";
    fmt::print(stderr, "\r\x1b[K{}", text);
    std::fflush(stderr);
  }

  const Options& options_;
  Sideband& sideband_;
  bool one_node_;
  std::vector<std::unique_ptr<Reporter>> reporters_;
  Measurer measurer_;
  Neighbourhoods neighbourhoods_;
  MPI_Op op_;
};

/// A line for each job: an mpiexec of another library starts as many jobs of one rank.
void show_library(const Sideband& sideband) {
  if (sideband.rank() != 0) return;
  const nlohmann::ordered_json told = {{"mpi_library", library_line()},
                                       {"mpi_library_path", library_path()},
                                       {"ranks", sideband.size()}};
  fmt::print("{}\n", told.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

int run(int argc, char** argv) {
  Sideband sideband(MPI_COMM_WORLD);
  const bool speaks = sideband.rank() == 0;
  int exit_code = 0;
  const auto options = parse_command_line(argc, argv, sideband.size(), speaks, exit_code);
  if (!options) return exit_code;
  if (options->which_library) {
    show_library(sideband);
    return 0;
  }
  for (const Cells& cells : options->cells) check_arms(cells.collectives, cells.arms);

  const Machine machine = describe_machine(MPI_COMM_WORLD);
  if (machine.nodes == 1 && machine.ranks > machine.cores) sideband.meet_in_memory();
  std::vector<std::unique_ptr<Reporter>> reporters;
  double file_failed[] = {0};
  if (speaks) {
    reporters.push_back(make_console_reporter());
    if (!options->json.empty())
      reporters.push_back(make_json_reporter(options->json, options->raw));
    file_failed[0] = reporters.back() == nullptr ? 1 : 0;
  }
  sideband.agree(file_failed);
  if (file_failed[0] != 0)
    throw std::runtime_error(fmt::format("--json: cannot write {}", options->json));

  for (const auto& reporter : reporters) reporter->begin(machine, *options);
  return Run(*options, sideband, machine.nodes == 1, std::move(reporters)).all() ? 0 : 1;
}

}  // namespace

}  // namespace unisono::bench

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int exit_code = 1;
  try {
    exit_code = unisono::bench::run(argc, argv);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "unisono-bench: rank {} has no memory left; see --memory\n", rank);
    MPI_Abort(MPI_COMM_WORLD, 1);
  } catch (const std::exception& error) {
    // What is thrown, is thrown alike on all ranks.
    if (rank == 0) fmt::print(stderr, "unisono-bench: {}\n", error.what());
  }
  MPI_Finalize();
  return exit_code;
}
