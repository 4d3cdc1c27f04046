// Where results go. Rank 0 only.
#pragma once
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "tools/bench/machine.h"
#include "tools/bench/measure.h"
#include "tools/bench/options.h"

namespace unisono::bench {

/// What the cells of one collective have in common.
struct Table {
  Collective collective = Collective::barrier;
  std::string sized;  ///< what the sizes are sizes of; empty: there are none (barrier)
  std::string type;
  std::string op;  ///< empty: no reduction
  int root = -1;   ///< -1: has none
  bool in_place = false;
  std::vector<Arm> arms;            ///< column groups
  std::vector<std::string> absent;  ///< arms that the collective does not have
};

class Reporter {
 public:
  virtual ~Reporter() = default;
  virtual void begin(const Machine& machine, const Options& options) = 0;
  virtual void begin_table(const Table& table) = 0;
  virtual void cell(const CellResult& result) = 0;
  virtual void end() = 0;
};

/// Columns as OSU's users know them.
std::unique_ptr<Reporter> make_console_reporter();

/// docs/reference/bench.md describes the file. It is opened at once, so that a wrong path is found
/// before the measurement: then nothing is returned.
std::unique_ptr<Reporter> make_json_reporter(const std::string& path, bool raw);

}  // namespace unisono::bench
