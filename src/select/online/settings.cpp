#include "select/online/settings.h"

#include <charconv>
#include <cstdio>
#include <optional>

#include "schedule/semantics.h"

namespace unisono {

namespace {

constexpr std::string_view kValid =
    "valid: auto, off, model[:budget=2%,regret=8], star[:calls=10,threshold=1.1], "
    "bandit[:budget=5%,regret=20]";

/// A number, in percent where a % follows.
std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  const std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (rest == "%") return value / 100;
  return rest.empty() ? std::optional(value) : std::nullopt;
}

constexpr int kShortCalls = 64;  // before the model is asked

struct Option {
  std::string_view name;
  double least, most;
};

constexpr Option kCalls{"calls", 1, 1000}, kThreshold{"threshold", 1, 100};
constexpr Option kBudget{"budget", 0, 1}, kRegret{"regret", 0, 1e6};

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

template <class Settings>
bool take(Settings& settings, std::string_view name, double value) {
  if (is(kBudget, name, value))
    settings.budget = value;
  else if (is(kRegret, name, value))
    settings.regret = value;
  else
    return false;
  return true;
}

template <class Settings>
Result<OnlineSettings> read(std::string_view options) {
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
  if (kind == "star") return read<StarSettings>(options);
  if (kind == "bandit") return read<BanditSettings>(options);
  if (kind == "model") return read<ModelSettings>(options);
  if (text == "auto") return OnlineSettings{ModelSettings{.is_auto = true}};
  if (text.empty() || text == "off") return OnlineSettings{};
  return Error{"no such rule '" + std::string(kind) + "'; " + std::string(kValid)};
}

LeftOnline left_online_by(const OnlineSettings& settings, bool judges_nodes) {
  const auto* model = std::get_if<ModelSettings>(&settings);
  return {std::holds_alternative<std::monostate>(settings) ? 0 : kEveryCollective,
          judges_nodes ? kEveryCollective : 0, model != nullptr && model->is_auto};
}

std::string text(const OnlineSettings& settings) {
  if (const auto* star = std::get_if<StarSettings>(&settings))
    return "star:calls=" + plain(star->calls) + ",threshold=" + plain(star->threshold);
  if (const auto* bandit = std::get_if<BanditSettings>(&settings))
    return "bandit:budget=" + plain(bandit->budget * 100) + "%,regret=" + plain(bandit->regret);
  if (const auto* model = std::get_if<ModelSettings>(&settings))
    return model->is_auto
               ? "auto"
               : "model:budget=" + plain(model->budget * 100) + "%,regret=" + plain(model->regret);
  return "off";
}

int calls_before_timing(const Facts& facts) {
  constexpr int kRunningAhead = 4096;
  return is_rooted(facts.collective) && first_calls(facts) == kShortCalls ? kRunningAhead : 0;
}

int first_calls(const Facts& facts) {
  constexpr Count kBytesPerCall = 2 << 10, kCalls = kShortCalls, kWeight = 32;
  const Count blocks = semantics(facts.collective).measure == Measure::block ? facts.size : 1;
  const Count weight = 1 + blocks * facts.bytes / kBytesPerCall;
  return weight >= kWeight ? 2 : static_cast<int>(std::max<Count>(2, kCalls / weight));
}

bool is_worth_learning(const OnlineSettings& settings, const Facts& facts) {
  const bool unknown = semantics(facts.collective).knows_bytes != Who::all;
  // What has no bytes has no price.
  if (std::holds_alternative<ModelSettings>(settings)) return !unknown;
  if (!std::holds_alternative<StarSettings>(settings) || unknown) return true;
  return facts.bytes >=
         (facts.collective == Collective::bcast ? kStarLeastBcastBytes : kStarLeastBytes);
}

std::unique_ptr<Policy> make_policy(const OnlineSettings& settings, int arms, std::uint64_t seed) {
  if (const auto* star = std::get_if<StarSettings>(&settings))
    return std::make_unique<Star>(arms, *star);
  if (const auto* bandit = std::get_if<BanditSettings>(&settings))
    return std::make_unique<Bandit>(arms, seed, *bandit);
  return nullptr;
}

}  // namespace unisono
