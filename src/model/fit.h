// From measured times to a machine. Robust: a message that waited for a TCP timeout takes a
// thousand times as long as the others and must not count, and neither must a size at which most of
// them did.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/machine.h"
#include "model/quantities.h"

namespace unisono {

/// Repeated measurements of one thing at one size.
struct Sample {
  Quantity quantity = Quantity::one_way;
  LevelId level = kWithinNode;  ///< one_way, gap and exchange
  Count bytes = 0;
  int active = 1;               ///< exchange: ranks that send at once, on one node or on all
  std::vector<double> seconds;  ///< one_way: a trip; gap: a message; exchange: a round; fence: a
                                ///< flag; else all bytes
};

struct Samples {
  std::string flavour;
  std::string library;
  std::vector<Sample> samples;
};

/// What unisono-calibrate prints: {"format": "unisono-samples", "version": 1, ...}. The error is
/// one line.
Result<Samples> read_samples(std::string_view text);

/// The error says what was not measured. What nobody need measure, the memory of a node and single
/// copies there, is left out.
Result<Machine> fit(const Samples& samples);

struct Point {
  double bytes = 0;
  double seconds = 0;
};

/// As few lines as possible, each through its points within 20 %, but for single points with
/// neighbours that fit. Each line is by weighted medians of slopes (Theil-Sen), with relative
/// errors. Precondition: not empty, ascending sizes.
Cost fit_cost(std::span<const Point> points);

}  // namespace unisono
