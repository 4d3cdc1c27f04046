#include "select/online/learned.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <tuple>
#include <utility>

#include "base/size.h"
#include "base/version.h"
#include "files/json.h"

namespace unisono {

namespace {

auto shape(const Learned& learned) { return std::pair(learned.ranks, learned.nodes); }

Json ratio_of(const Spec& spec, const MedianEstimate& ratio) {
  if (spec.is_native() || ratio.coverage <= 0) return nullptr;
  return {{"median", ratio.median},
          {"low", ratio.low},
          {"high", ratio.high},
          {"coverage", ratio.coverage}};
}

Json cell_of(const Learned& learned) {
  const auto [least, most] = bytes_of_class(learned.key.size_class);
  Json arms = Json::array();
  for (const auto& [spec, times] : learned.arms)
    arms.push_back({{"spec", text(spec)},
                    {"median_s", times.seconds.median},
                    {"low_s", times.seconds.low},
                    {"high_s", times.seconds.high},
                    {"blocks", times.calls},
                    {"ratio_to_native", ratio_of(spec, times.ratio)}});
  return {{"collective", name(learned.key.collective)},
          {"bytes", {least, most}},
          {"choice", text(learned.choice)},
          {"measured", Json::array({{{"bytes", learned.bytes}, {"arms", std::move(arms)}}})}};
}

std::string milliseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g ms", seconds * 1e3);
  return text;
}

/// What each way has taken.
std::string times_of(const Learned& learned) {
  std::string list;
  for (const auto& [spec, times] : learned.arms)
    list.append(list.empty() ? "; " : ", ")
        .append(text(spec))
        .append(" took " + milliseconds(times.seconds.median));
  return list;
}

/// Of calls that are counted to the end of the job, a loss is a share. Where counting ends with the
/// verdict, the calls that follow are not known, and the job's time is what it can be compared
/// with.
std::string cost_of(const Learned& learned, double job_seconds) {
  const Account& account = learned.account;
  const auto calls = static_cast<double>(std::max(account.calls, 1LL));
  char share[80], text[240];
  if (learned.is_judged)
    std::snprintf(share, sizeof share, "%.3g ms, %.2g %% of the time since MPI_Init",
                  account.lost_seconds * 1e3, 100 * account.lost_seconds / job_seconds);
  else
    std::snprintf(share, sizeof share, "%.1f %%", 100 * account.lost / calls);
  std::snprintf(
      text, sizeof text,
      "%lld calls%s, %.1f %% of them to explore; lost to exploring: the time of %.1f native "
      "calls (%s); reopened %d time%s",
      account.calls, learned.is_judged ? " watched" : "",
      100 * static_cast<double>(account.explored) / calls, account.lost, share, account.reopened,
      account.reopened == 1 ? "" : "s");
  return text;
}

}  // namespace

void Ledger::add(Learned learned) {
  const auto same = std::find_if(all_.begin(), all_.end(), [&](const Learned& old) {
    return old.key == learned.key && shape(old) == shape(learned);
  });
  if (same == all_.end()) {
    most_calls_.push_back(learned.account.calls);
    all_.push_back(std::move(learned));
    return;
  }
  const Account one = learned.account;
  const Account sum{same->account.calls + one.calls, same->account.explored + one.explored,
                    same->account.lost + one.lost, same->account.reopened + one.reopened,
                    same->account.lost_seconds + one.lost_seconds};
  long long& most = most_calls_[static_cast<std::size_t>(same - all_.begin())];
  if (one.calls >= most) {
    most = one.calls;
    *same = std::move(learned);
  }
  same->account = sum;
}

std::string line_of(const Learned& learned, double job_seconds) {
  const auto [least, most] = bytes_of_class(learned.key.size_class);
  const auto size = [](Count bytes) { return format_size(bytes) + "B"; };
  std::string line = std::string(name(learned.key.collective)) + " of " + size(least);
  if (most > least) line += " to " + size(most);
  return line + " on " + std::to_string(learned.ranks) + " ranks" +
         (learned.key.root_is_first ? "" : ", root not 0") +
         (learned.key.commutative ? "" : ", not commutative") + ": " + text(learned.choice) + "; " +
         cost_of(learned, job_seconds) + times_of(learned);
}

std::string profile_text(const Ledger& ledger, const Platform& here, const std::string& created) {
  std::map<std::tuple<int, int, Collective, int>, const Learned*> cells;
  for (const Learned& learned : ledger.all()) {
    if (!learned.decided) continue;
    const Learned*& cell =
        cells[{learned.ranks, learned.nodes, learned.key.collective, learned.key.size_class}];
    if (cell == nullptr || cell->account.calls < learned.account.calls) cell = &learned;
  }
  Json environments = Json::array();
  const Learned* last = nullptr;
  for (const auto& [place, learned] : cells) {
    if (last == nullptr || shape(*last) != shape(*learned))
      environments.push_back({{"mpi", {{"flavour", here.flavour}, {"library", here.library}}},
                              {"machine",
                               {{"place", name(here.place)},
                                {"network_rate", here.network_rate},
                                {"cores", here.cores}}},
                              {"shape", {{"ranks", learned->ranks}, {"nodes", learned->nodes}}},
                              {"cells", Json::array()}});
    environments.back()["cells"].push_back(cell_of(*learned));
    last = learned;
  }
  const Json document{{"schema", "unisono.profile"},
                      {"schema_version", 1},
                      {"unisono_version", UNISONO_VERSION},
                      {"created", created},
                      {"environments", std::move(environments)}};
  return document.dump(1) + "\n";
}

}  // namespace unisono
