#include "select/online/settings.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>

#include "schedule/semantics.h"
#include "select/online/shuffle.h"

namespace unisono {

namespace {

constexpr std::string_view kValid =
    "valid: auto, off, star[:calls=10,threshold=1.1], shuffle[:seed=1,turn=64]";

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct Option {
  std::string_view name;
  double least, most;
};

constexpr Option kCalls{"calls", 1, 1000}, kThreshold{"threshold", 1, 100}, kSeed{"seed", 0, 1e6},
    kTurn{"turn", 1, 1024};

std::string plain(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

bool is(const Option& option, std::string_view name, double value) {
  return name == option.name && value >= option.least && value <= option.most;
}

bool take(StarSettings& settings, std::string_view name, double value) {
  if (is(kCalls, name, value) && value == static_cast<int>(value))
    settings.calls = static_cast<int>(value);
  else if (is(kThreshold, name, value))
    settings.threshold = value;
  else
    return false;
  return true;
}

bool take(ShuffleSettings& settings, std::string_view name, double value) {
  if (value != std::floor(value)) return false;
  if (is(kSeed, name, value))
    settings.seed = static_cast<unsigned>(value);
  else if (is(kTurn, name, value))
    settings.turn = static_cast<int>(value);
  else
    return false;
  return true;
}

template <class Settings>
Result<OnlineSettings> read_options(std::string_view options) {
  Settings settings;
  while (!options.empty()) {
    const std::string_view item = options.substr(0, options.find(','));
    options.remove_prefix(std::min(options.size(), item.size() + 1));
    const std::size_t equals = item.find('=');
    const auto value =
        equals == std::string_view::npos ? std::nullopt : number(item.substr(equals + 1));
    if (!value || !take(settings, item.substr(0, equals), *value))
      return Error{"'" + std::string(item) + "' is no option or out of range; " +
                   std::string(kValid)};
  }
  return OnlineSettings{settings};
}

}  // namespace

Result<OnlineSettings> parse_online(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const std::string_view options =
      colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  if (kind == "star") return read_options<StarSettings>(options);
  if (kind == "shuffle") return read_options<ShuffleSettings>(options);
  if (text == "auto") return OnlineSettings{AutoSettings{}};
  if (text.empty() || text == "off") return OnlineSettings{};
  return Error{"no such rule '" + std::string(kind) + "'; " + std::string(kValid)};
}

LeftOnline left_online_by(const OnlineSettings& settings, bool checks) {
  return {.collectives = is_star(settings) ? kEveryCollective : 0,
          .in_node = checks ? kEveryCollective : 0,
          .checks_between = checks};
}

std::string text(const OnlineSettings& settings) {
  if (const auto* star = std::get_if<StarSettings>(&settings))
    return "star:calls=" + plain(star->calls) + ",threshold=" + plain(star->threshold);
  if (const auto* shuffle = std::get_if<ShuffleSettings>(&settings))
    return "shuffle:seed=" + std::to_string(shuffle->seed) +
           ",turn=" + std::to_string(shuffle->turn);
  return is_auto(settings) ? "auto" : "off";
}

int first_calls(const Facts& facts) {
  constexpr Count kBytesPerCall = 2 << 10, kCalls = 16, kWeight = 8;
  const Count blocks = semantics(facts.collective).measure == Measure::block ? facts.size : 1;
  const Count weight = 1 + blocks * facts.bytes / kBytesPerCall;
  return weight >= kWeight ? 2 : static_cast<int>(std::max<Count>(2, kCalls / weight));
}

bool is_worth_learning(const OnlineSettings& settings, const Facts& facts) {
  const bool unknown = semantics(facts.collective).knows_bytes != Who::all;
  // A duel may not be about calls of several lengths.
  if (is_of_two_ways(settings)) return !unknown;
  if (unknown) return true;
  return facts.bytes >=
         (facts.collective == Collective::bcast ? kStarLeastBcastBytes : kStarLeastBytes);
}

std::unique_ptr<Policy> make_policy(const OnlineSettings& settings, int arms) {
  if (const auto* shuffle = std::get_if<ShuffleSettings>(&settings))
    return std::make_unique<Shuffle>(shuffle->seed, shuffle->turn);
  const auto* star = std::get_if<StarSettings>(&settings);
  return star != nullptr ? std::make_unique<Star>(arms, *star) : nullptr;
}

}  // namespace unisono
