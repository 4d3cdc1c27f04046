// unisono-schedule order: orders of messages in files.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace unisono {

/// make, show, check and times. What is wrong with a file is thrown as CLI11 prints it.
class OrderCommands {
 public:
  explicit OrderCommands(CLI::App& app);
  /// What the one that was given prints; nothing where it was another command.
  std::string run() const;

 private:
  std::string make() const;
  std::string show() const;
  std::string check() const;
  std::string times() const;

  CLI::App *make_, *show_, *check_, *times_;
  std::string matrix_, file_, rule_ = "token_list", threshold_ = "0";
  int rank_ = -1, ranks_ = -1;
};

}  // namespace unisono
