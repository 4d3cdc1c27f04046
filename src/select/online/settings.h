// What UNISONO_ONLINE says: "star", "bandit", "bandit:budget=5%,regret=20", or nothing.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "select/online/bandit.h"
#include "select/online/model_first.h"
#include "select/online/star.h"
#include "select/selector.h"

namespace unisono {

using OnlineSettings = std::variant<std::monostate, StarSettings, BanditSettings, ModelSettings>;

/// "off" and "" are no online selection; "auto" is the model where nothing has been measured. The
/// error is one line that names what is valid.
Result<OnlineSettings> parse_online(std::string_view text);

/// What these leave online; `judges_nodes`: also which way is faster within one.
LeftOnline left_online_by(const OnlineSettings& settings, bool judges_nodes);

/// Complete, as it could have been written.
std::string text(const OnlineSettings& settings);

/// STAR-MPI does not tune short messages (those of which no rank knows all counts it does).
bool is_worth_learning(const OnlineSettings& settings, const Facts& facts);
/// Native calls of such a kind before the model is asked: 2 of 64 KiB and more that go over the
/// network, 64 short ones.
int first_calls(const Facts& facts);
/// Native calls before any is timed: of short rooted kinds 4096. Some of their ranks never wait for
/// others and run ahead by hundreds of calls; an exchange of times ends that, and where ranks share
/// cores calls of 6 us then take 20 us from there on.
int calls_before_timing(const Facts& facts);

/// Of star and bandit. `seed` must be the same on all ranks. nullptr without online selection.
std::unique_ptr<Policy> make_policy(const OnlineSettings& settings, int arms, std::uint64_t seed);

}  // namespace unisono
