// The command line.
#pragma once
#include <mpi.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/bench/measure.h"
#include "tools/bench/values.h"

namespace unisono::bench {

/// Every one of these collectives at every one of these sizes.
struct Cells {
  std::vector<Collective> collectives;
  std::vector<Count> sizes;
  std::vector<std::string> arms;  ///< specs; one "all": every algorithm that can serve the call
};

struct Options {
  std::vector<Cells> cells;
  const ElementType* type = nullptr;  ///< nullptr: char, and float in reductions
  Operation operation = Operation::sum;
  int root = 0;
  std::string neighbours;  ///< as Neighbourhoods take it
  bool in_place = false;
  MeasureOptions measure;
  std::uint64_t seed = 1;
  Count memory = 0;            ///< bytes of buffers on a rank, at most
  std::string json;            ///< file; empty: none
  bool which_library = false;  ///< say which MPI library this is, and measure nothing
  bool raw = false;            ///< every block's times into the JSON file
};

/// "8:1M" (each twice the one before), "8:1M:4" (four times), "8,1K,64K", or all of it mixed.
/// Nothing when it is neither.
std::optional<std::vector<Count>> parse_sizes(std::string_view text);

/// "native,chain:segment=32K,depth=4,ring" -> three specs: a piece that only assigns a parameter
/// belongs to the algorithm before it.
std::vector<std::string> parse_arms(std::string_view text);

/// "bcast 4096 native,shm; gather 64 all": the collective, its sizes, its arms. What is wrong with
/// it is thrown as a CLI::ValidationError.
std::vector<Cells> parse_cells(std::string_view text);

/// Parses alike on all ranks; `speaks` (rank 0) prints help and errors. Nothing: leave with
/// `exit_code`.
std::optional<Options> parse_command_line(int argc, char** argv, int ranks, bool speaks,
                                          int& exit_code);

}  // namespace unisono::bench
