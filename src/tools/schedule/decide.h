// unisono-schedule decide: what would run a call, by the variables of this environment.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "select/platform.h"
#include "select/selector.h"

namespace unisono {

class DecideCommand {
 public:
  explicit DecideCommand(CLI::App& app);
  /// JSON; nothing where it was another command.
  std::string run() const;

 private:
  CLI::App* command_;
  std::string collective_, bytes_ = "0", flavour_, library_, place_ = "undersubscribed",
                           remembered_;
  double rate_ = 0;
  int ranks_ = 2, nodes_ = 1, cores_ = 1;
};

}  // namespace unisono
