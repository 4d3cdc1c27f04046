// unisono-schedule trees: the trees that hosts of a torus would use, and what they ask of its
// links.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace unisono {

class TreesCommand {
 public:
  explicit TreesCommand(CLI::App& app);
  /// What it prints; nothing where it was another command. What is wrong with its options is thrown
  /// as CLI11 prints it.
  std::string run() const;

 private:
  CLI::App* command_;
  std::string torus_, wrap_, hosts_ = "all", trees_ = "auto", use_ = "broadcast";
  std::string routing_ = "minimal";
  int root_ = -1;
  bool json_ = false;
};

}  // namespace unisono
