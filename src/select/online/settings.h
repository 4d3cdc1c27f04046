// What UNISONO_ONLINE says: "auto", "off", "star:calls=10,threshold=1.1" or
// "shuffle:seed=1,turn=64".
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "select/online/star.h"
#include "select/selector.h"

namespace unisono {

/// The MPI library's own algorithm against one other way: safe arms between hosts, kernels within.
struct AutoSettings {};

/// The same two ways in random turns: nothing is learned, jobs are recorded (tests/gym).
struct ShuffleSettings {
  unsigned seed = 1;
  int turn = 64;  ///< calls of the longest turn
};

using OnlineSettings = std::variant<std::monostate, StarSettings, AutoSettings, ShuffleSettings>;

constexpr bool is_auto(const OnlineSettings& settings) {
  return std::holds_alternative<AutoSettings>(settings);
}
constexpr bool is_star(const OnlineSettings& settings) {
  return std::holds_alternative<StarSettings>(settings);
}

/// Whether calls are compared in the MPI library's own way and one other.
constexpr bool is_of_two_ways(const OnlineSettings& settings) {
  return is_auto(settings) || std::holds_alternative<ShuffleSettings>(settings);
}

/// "off" and "" are no online selection. The error is one line that names what is valid.
Result<OnlineSettings> parse_online(std::string_view text);

/// What these leave online; `checks`: whether calls are timed in two ways here.
LeftOnline left_online_by(const OnlineSettings& settings, bool checks);

/// Complete, as it could have been written.
std::string text(const OnlineSettings& settings);

/// STAR-MPI does not tune short messages (those of which no rank knows all counts it does).
bool is_worth_learning(const OnlineSettings& settings, const Facts& facts);
/// Calls of such a kind before the ranks tell each other anything: 2 of 14 KiB and more, 16 short
/// ones.
int first_calls(const Facts& facts);

/// Of star and shuffle, which know nothing of what an arm is; nullptr without.
std::unique_ptr<Policy> make_policy(const OnlineSettings& settings, int arms);

}  // namespace unisono
