// What a machine costs: the parameters of the cost model, fitted from measurements (model/fit.h)
// and kept in a file. Everything in seconds and bytes.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "schedule/schedule.h"

namespace unisono {

/// Seconds of a message of so many bytes: alpha + beta * bytes, with an alpha and a beta for each
/// interval of sizes, because MPI libraries change their protocol with the size.
struct Cost {
  struct Piece {
    double from = 0;   ///< bytes; the piece holds up to the next one
    double alpha = 0;  ///< seconds
    double beta = 0;   ///< seconds per byte
  };
  std::vector<Piece> pieces;  ///< ascending; empty: costs nothing

  /// At least 0, also where a line is continued to sizes that nobody measured.
  double operator()(Count bytes) const;
};

/// Where the two ranks of a message are.
enum LevelId : int { kWithinNode = 0, kBetweenNodes = 1, kLevels = 2 };

struct Level {
  Cost one_way;    ///< from the begin of a send to the end of its receive, with nobody else sending
  Cost gap;        ///< how long it keeps a port: the time between the messages of a stream
  Cost exchange;   ///< a round in which `active` ranks send to their neighbours, all at once
  int active = 1;  ///< on a node (within nodes), or altogether

  /// How long a message keeps what the ranks share: cores, memory, a switch. As much as makes a
  /// round of all longer than a message of one. Nothing where only one was measured.
  double shared(Count bytes) const;
};

/// Hockney's model: a message takes alpha + beta * bytes, and its ports as long; nothing is shared.
Level hockney(double alpha, double beta);

struct Machine {
  std::string flavour;  ///< mpich, openmpi or abi
  std::string library;  ///< the first line of MPI_Get_library_version
  std::array<std::optional<Level>, kLevels> levels;
  double gamma = 0;  ///< seconds per byte reduced
  double copy = 0;   ///< seconds per byte copied
};

/// {"format": "unisono-machine", "version": 1, ...}; docs/reference/model.md shows one.
std::string write_machine(const Machine& machine);

/// The error is one line.
Result<Machine> read_machine(std::string_view text);

}  // namespace unisono
