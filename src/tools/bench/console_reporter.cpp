#include <fmt/format.h>

#include <algorithm>

#include "base/size.h"
#include "tools/bench/reporter.h"

namespace unisono::bench {

namespace {

constexpr int kSizeWidth = 10, kTimeWidth = 14, kIntervalWidth = 22, kRatioWidth = 8,
              kRatioIntervalWidth = 14;
constexpr int kGap = 2;
constexpr std::size_t kMostBeside = 4;  // arms: of more, each has a line

// As many digits as OSU prints, and more where two of them would say nothing.
std::string microseconds(double us) { return fmt::format("{:.{}f}", us, us < 10 ? 3 : 2); }

std::string interval(const MedianEstimate& e) {
  return fmt::format("[{}, {}]", microseconds(e.low), microseconds(e.high));
}

std::string_view told_of(CallPattern pattern) {
  switch (pattern) {
    case CallPattern::barrier: break;
    case CallPattern::loop:
      return "In a loop: calls back to back, every rank the root in its turn.";
    case CallPattern::sleep:
      return "After sleep: before every call all ranks sleep. Latency: last entry to last exit.";
    case CallPattern::compute:
      return "After computing: before every call each rank computes for a time of its own and "
             "writes "
             "its input.\n# Latency: last entry to last exit.";
  }
  return {};
}

class ConsoleReporter : public Reporter {
 public:
  void begin(const Machine& machine, const Options& options) override {
    fmt::print("# Unisono {} bench, {}\n", machine.unisono_version, machine.platform.library);
    fmt::print("# {} ranks on {} node{}, up to {} on a node, {} cores there\n", machine.ranks,
               machine.nodes, machine.nodes == 1 ? "" : "s", machine.most_ranks_on_a_node,
               machine.cores);
    for (const auto& [variable, value] : machine.environment)
      fmt::print("# {}={}\n", variable, value);
    fmt::print(
        "# Latency: median over the blocks of the {} over the ranks, 95 % interval of the "
        "median.\n",
        options.measure.mean_over_ranks ? "mean" : "maximum");
    fmt::print(
        "# Ratio: time / native's time, median over pairs within a block; below 1 is faster "
        "than native.\n");
    fmt::print("# *: handed to the MPI library.   n/a: the arm cannot serve the call.\n");
    if (const std::string_view told = told_of(options.measure.pattern); !told.empty())
      fmt::print("# {}\n", told);
    if (options.measure.drain > 0)
      fmt::print("# Drained: every rank sends {} bytes before what is timed.\n",
                 options.measure.drain);
    if (options.measure.race)
      fmt::print("# -: left the race, n/a as well where there was no time to try.\n");
  }

  void begin_table(const Table& table) override {
    has_size_ = !table.sized.empty();
    fmt::print("\n# MPI {}", name(table.collective));
    if (has_size_) fmt::print(", size of the {}, {}", table.sized, table.type);
    if (!table.op.empty()) fmt::print(", op {}", table.op);
    if (table.root >= 0) fmt::print(", root {}", table.root);
    fmt::print("{}\n", table.in_place ? ", in place" : "");
    if (!table.absent.empty())
      fmt::print("# no such algorithm for {}: {}\n", name(table.collective),
                 fmt::join(table.absent, ", "));
    const std::vector<Arm>& arms = table.arms;
    with_ratio_ =
        std::any_of(arms.begin(), arms.end(), [](const Arm& arm) { return arm.is_library; });
    arm_width_ = 0;
    if (arms.size() > kMostBeside)
      for (const Arm& arm : arms) arm_width_ = std::max(arm_width_, arm.label().size() + kGap);
    arm_width_ == 0 ? begin_columns(arms) : begin_lines();
    std::fflush(stdout);
  }

  void cell(const CellResult& result) override {
    std::string line = has_size_ ? fmt::format("{:<{}}", result.bytes, kSizeWidth) : " ";
    if (result.obstacle) {
      fmt::print("# {}: left out: {}\n", format_size(result.bytes), *result.obstacle);
      return;
    }
    const std::string head = line;
    for (const ArmResult& arm : result.arms) {
      if (arm_width_ != 0)
        print_line(head + fmt::format("{:<{}}", arm.arm, arm_width_) + figures(arm));
      else
        line += std::string(kGap, ' ') + figures(arm);
    }
    if (arm_width_ == 0) print_line(line);
    std::fflush(stdout);
  }

  void end() override {}

 private:
  bool has_ratio(bool is_library) const { return with_ratio_ && !is_library; }

  std::string column_names(bool ratio) const {
    std::string names =
        fmt::format("{:>{}}{:>{}}", "Latency(us) ", kTimeWidth, "[95 % CI]", kIntervalWidth);
    if (ratio)
      names += fmt::format("{:>{}}{:>{}}", "Ratio", kRatioWidth, "[95 % CI]", kRatioIntervalWidth);
    return names;
  }

  /// The arms beside each other.
  void begin_columns(const std::vector<Arm>& arms) const {
    std::string groups = fmt::format("{:<{}}", "#", has_size_ ? kSizeWidth : 1);
    std::string columns =
        fmt::format("{:<{}}", has_size_ ? "# Size" : "#", has_size_ ? kSizeWidth : 1);
    for (const Arm& arm : arms) {
      const bool ratio = has_ratio(arm.is_library);
      const int width =
          kTimeWidth + kIntervalWidth + (ratio ? kRatioWidth + kRatioIntervalWidth : 0);
      groups += fmt::format("{:>{}}{:^{}}", "|", kGap, arm.label(), width);
      columns += fmt::format("{:>{}}{}", "|", kGap, column_names(ratio));
    }
    fmt::print("{}\n{}\n", groups, columns);
  }

  /// An arm a line.
  void begin_lines() const {
    fmt::print("{:<{}}{:<{}}{}\n", has_size_ ? "# Size" : "#", has_size_ ? kSizeWidth : 1, "Arm",
               arm_width_, column_names(with_ratio_));
  }

  std::string figures(const ArmResult& arm) const {
    const bool ratio = has_ratio(arm.arm == "native");
    if (!arm.available || !arm.correct)
      return fmt::format("{:>{}}{:>{}}", arm.correct ? "n/a " : "WRONG ", kTimeWidth, "",
                         kIntervalWidth) +
             (ratio ? std::string(kRatioWidth + kRatioIntervalWidth, ' ') : "");
    const char* mark = arm.passed_on ? "*" : arm.left ? "-" : " ";
    std::string text = fmt::format("{:>{}}{:>{}}", microseconds(arm.time_us.median) + mark,
                                   kTimeWidth, interval(arm.time_us), kIntervalWidth);
    if (arm.ratio)
      text += fmt::format("{:>{}.2f}{:>{}}", arm.ratio->median, kRatioWidth,
                          fmt::format("[{:.2f}, {:.2f}]", arm.ratio->low, arm.ratio->high),
                          kRatioIntervalWidth);
    return text;
  }

  static void print_line(std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::print("{}\n", line);
  }

  bool has_size_ = true;
  bool with_ratio_ = false;
  std::size_t arm_width_ = 0;  // 0: the arms of a cell stand beside each other
};

}  // namespace

std::unique_ptr<Reporter> make_console_reporter() { return std::make_unique<ConsoleReporter>(); }

}  // namespace unisono::bench
