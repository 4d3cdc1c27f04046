#include "runtime/settings_hash.h"

#include <cstdint>
#include <string_view>

#include "base/config.h"
#include "base/hash.h"
#include "comm/placement.h"
#include "mpi/rank_lost.h"
#include "runtime/wrappers.h"

namespace unisono {

namespace {

/// Over all variables that must be the same on all ranks.
unsigned long long environment_hash() {
  std::uint64_t hash = kHashStart;
  for (const Variable& v : kVariables) {
    if (v.name == "UNISONO_LOG" || v.name == "UNISONO_WAIT" || v.name == "UNISONO_PROGRESS" ||
        v.name == "UNISONO_PLAN_CACHE")
      continue;                                     // a rank's own affair
    if (v.name == "UNISONO_ONLINE_SAVE") continue;  // rank 0's
    // What is in these files counts, see file_hash().
    if (v.name == "UNISONO_PROFILE" || v.name == "UNISONO_TOPOLOGY") continue;
    hash = fnv1a(std::string(v.name) + "=" + variable(v.name) + "\n", hash);
  }
  return handles_failures() ? fnv1a("failures", hash) : hash;
}

/// Of what this rank read; a file that is not there, or not named, is not like any that is.
unsigned long long file_hash(std::string_view name, const Result<std::string>& text) {
  return text ? fnv1a(*text) : fnv1a(variable(name).empty() ? "none" : "unreadable");
}

}  // namespace

OwnSettings own_settings(const Result<std::string>& profile, const Result<std::string>& topology) {
  return {.variables = environment_hash(),
          .profile = file_hash("UNISONO_PROFILE", profile),
          .topology = file_hash("UNISONO_TOPOLOGY", topology),
          .wrapped = wrapped_collectives(),
          .can_run = true,
          .place = own_place()};
}

}  // namespace unisono
