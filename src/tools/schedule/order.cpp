#include "tools/schedule/order.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/printable.h"
#include "base/size.h"
#include "files/file.h"
#include "select/stored_order.h"

namespace unisono {

namespace {

template <class Read>
auto read_whole(const std::string& path, Read read) {
  const auto text = read_file(path);
  if (!text) throw CLI::ValidationError(line_about(path, text.error()));
  auto result = read(*text);
  if (!result) throw CLI::ValidationError(line_about(path, result.error()));
  return std::move(*result);
}

StoredOrder order_in(const std::string& path) { return read_whole(path, read_order); }
CountMatrix matrix_in(const std::string& path) { return read_whole(path, read_matrix); }

std::string times_text(Count time, Count least) {
  char text[32] = "1";
  if (least > 0)
    std::snprintf(text, sizeof text, "%.3f",
                  static_cast<double>(time) / static_cast<double>(least));
  return text;
}

/// "16 ranks, greedy: 240 messages of 10500000 B in 17 phases; ..."
std::string summary(const StoredOrder& order) {
  Count bytes = 0;
  for (const auto& m : order.list.messages) bytes += order.matrix.at(m.from, m.to);
  const Count least = busiest_port(order.matrix), time = makespan(order.list, order.matrix);
  const std::string phases = order.list.phases == 0
                                 ? " without phases"
                                 : " in " + std::to_string(order.list.phases) + " phases";
  return std::to_string(order.list.size) + " ranks, " + std::string(name(order.rule)) + ": " +
         std::to_string(order.list.messages.size()) + " messages of " + std::to_string(bytes) +
         " B" + phases + "; the busiest port has " + std::to_string(least) +
         " B, all takes as long as " + std::to_string(time) + " B: " + times_text(time, least) +
         " times that\n";
}

/// What a rank does: phase by phase, or in its order.
std::string rank_text(const StoredOrder& order, int rank) {
  std::string text = "rank " + std::to_string(rank) + "\n";
  int phase = -1;
  for (const MessageOrder::Step& step : order_of(order.list, rank).steps) {
    if (order.list.phases > 0 && step.phase != phase)
      text += "  phase " + std::to_string(step.phase) + "\n";
    phase = step.phase;
    const Count bytes =
        step.sends ? order.matrix.at(rank, step.peer) : order.matrix.at(step.peer, rank);
    text += std::string(step.sends ? "    to   " : "    from ") + std::to_string(step.peer) + "  " +
            std::to_string(bytes) + " B\n";
  }
  return text;
}

}  // namespace

OrderCommands::OrderCommands(CLI::App& app) {
  auto* order = app.add_subcommand("order", "orders of the messages of an alltoallv, in files");
  order->require_subcommand(1);
  make_ = order->add_subcommand("make", "from counts");
  make_->add_option("--matrix", matrix_, "file of p rows of p counts in bytes")->required();
  make_->add_option("--rule", rule_, "token_list, greedy, all_to_all_based or edge_colouring");
  make_->add_option("--threshold", threshold_, "bytes; shorter messages may share a phase (0)");
  show_ = order->add_subcommand("show", "what each rank does");
  check_ = order->add_subcommand("check", "whether it is whole, and fits");
  times_ = order->add_subcommand("times", "when each message is sent, as JSON");
  for (CLI::App* command : {show_, check_, times_})
    command->add_option("--file", file_, "the order")->required();
  show_->add_option("--rank", rank_, "only this one")->check(CLI::NonNegativeNumber);
  check_->add_option("--ranks", ranks_, "it must be for so many");
  check_->add_option("--matrix", matrix_, "it must hold every message of these counts");
}

std::string OrderCommands::make() const {
  const auto rule = message_rule_named(rule_);
  if (!rule)
    throw CLI::ValidationError("--rule " + rule_ + ": valid are token_list, greedy, " +
                               "all_to_all_based and edge_colouring");
  const auto threshold = parse_size(threshold_);
  if (!threshold) throw CLI::ValidationError("--threshold " + threshold_ + " is no size");
  std::string text = write_order(make_order(matrix_in(matrix_), *rule, *threshold));
  // What nobody would read again, such as an order of no ranks, replaces no file.
  if (const auto again = read_order(text); !again)
    throw CLI::ValidationError(line_about(matrix_, again.error()));
  return text;
}

std::string OrderCommands::show() const {
  const StoredOrder order = order_in(file_);
  if (rank_ >= order.list.size)
    throw CLI::ValidationError("--rank " + std::to_string(rank_) + ": there are " +
                               std::to_string(order.list.size) + " ranks");
  std::string text = summary(order);
  for (int rank = 0; rank < order.list.size; ++rank)
    if (rank_ < 0 || rank == rank_) text += rank_text(order, rank);
  return text;
}

std::string OrderCommands::check() const {
  const StoredOrder order = order_in(file_);
  if (ranks_ >= 0 && ranks_ != order.list.size)
    throw CLI::ValidationError(file_ + ": it is for " + std::to_string(order.list.size) +
                               " ranks, not for " + std::to_string(ranks_));
  if (matrix_.empty()) return summary(order);
  const CountMatrix matrix = matrix_in(matrix_);
  if (const auto lack = lacks(order.list, matrix)) throw CLI::ValidationError(file_ + ": " + *lack);
  const Count least = busiest_port(matrix), time = makespan(order.list, matrix);
  return summary(order) + "with the counts of " + matrix_ + ": as long as " + std::to_string(time) +
         " B, " + times_text(time, least) + " times what their busiest " + "port has\n";
}

std::string OrderCommands::times() const {
  const StoredOrder order = order_in(file_);
  nlohmann::ordered_json messages = nlohmann::ordered_json::array();
  for (const TimedMessage& m : timeline(order.list, order.matrix))
    messages.push_back({m.from, m.to, m.phase, m.begin, m.end});
  return nlohmann::ordered_json{{"ranks", order.list.size},
                                {"phases", order.list.phases},
                                {"summary", summary(order)},
                                {"messages", messages}}
             .dump() +
         "\n";
}

std::string OrderCommands::run() const {
  if (*make_) return make();
  if (*show_) return show();
  if (*check_) return check();
  if (*times_) return times();
  return {};
}

}  // namespace unisono
