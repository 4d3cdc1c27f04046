#include "select/profile.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "base/printable.h"
#include "files/json.h"

namespace unisono {

namespace {

constexpr Count kProfileVersion = 1;

// Two measurements of one network differ; two networks differ more.
constexpr double kRateTolerance = 1.5;

/// Calls read(element) for each; what is wrong with one is told with its number.
template <class Read>
void read_list(const Json& object, const char* name, Read read) {
  const Json& all = list(object, name);
  for (std::size_t i = 0; i < all.size(); ++i) {
    try {
      read(all[i]);
    } catch (const Bad& bad) {
      throw Bad{std::string(name) + "[" + std::to_string(i) + "]: " + bad.what};
    }
  }
}

Place read_place(const Json& machine) {
  const std::string place = word(machine, "place");
  const auto* found = std::find(std::begin(kPlaceNames), std::end(kPlaceNames), place);
  if (found == std::end(kPlaceNames))
    throw Bad{"no place " + in_quotes(place) +
              "; valid: undersubscribed, oversubscribed, ethernet, elsewhere"};
  return static_cast<Place>(found - std::begin(kPlaceNames));
}

Platform read_platform(const Json& environment) {
  const Json &mpi = field(environment, "mpi"), &machine = field(environment, "machine");
  constexpr double kMostRate = 1e18;  // bit/s
  return {word(mpi, "flavour"), word(mpi, "library"), read_place(machine),
          number(field(machine, "network_rate"), "network_rate", 0, kMostRate),
          whole(machine, "cores", 1)};
}

ProfileCell read_cell(const Json& object, int ranks, int nodes) {
  const std::string collective = word(object, "collective"), choice = word(object, "choice");
  const auto known = collective_named(collective);
  if (!known) throw Bad{"no collective " + in_quotes(collective)};
  const auto spec = parse_spec(*known, choice);
  if (!spec) throw Bad{spec.error()};
  if (spec->is_default) throw Bad{"'default' is no choice"};
  const Json& bytes = field(object, "bytes");
  if (!bytes.is_array() || bytes.size() != 2) throw Bad{"bytes is not [least, most]"};
  constexpr Count kMost = std::numeric_limits<Count>::max();
  const Count least = integer(bytes[0], "least of bytes", 0, kMost);
  return {*known, ranks, nodes, least, integer(bytes[1], "most of bytes", least, kMost), *spec};
}

std::string interval(const ProfileCell& cell) {
  return "[" + std::to_string(cell.least_bytes) + ", " + std::to_string(cell.most_bytes) + "]";
}

void refuse_overlap(std::vector<ProfileCell> cells) {
  const auto order = [](const ProfileCell& c) { return std::pair(c.collective, c.least_bytes); };
  std::sort(cells.begin(), cells.end(),
            [&](const auto& a, const auto& b) { return order(a) < order(b); });
  const auto overlap =
      std::adjacent_find(cells.begin(), cells.end(), [](const auto& a, const auto& b) {
        return a.collective == b.collective && b.least_bytes <= a.most_bytes;
      });
  if (overlap != cells.end())
    throw Bad{std::string(name(overlap->collective)) + " has two choices where " +
              interval(*overlap) + " and " + interval(*std::next(overlap)) + " bytes overlap"};
}

ProfileEnvironment read_environment(const Json& object) {
  const Json& shape = field(object, "shape");
  const int ranks = whole(shape, "ranks", 1), nodes = whole(shape, "nodes", 1, ranks);
  ProfileEnvironment environment{read_platform(object), {}};
  read_list(object, "cells",
            [&](const Json& cell) { environment.cells.push_back(read_cell(cell, ranks, nodes)); });
  refuse_overlap(environment.cells);
  return environment;
}

Profile read(const Json& document) {
  // Profiles of 0.1 have "format" and "version" in place of the envelope that all documents have.
  const bool former = document.is_object() && document.value("format", Json()) == "unisono-profile";
  if (!document.is_object() || (!former && document.value("schema", Json()) != kProfileMark))
    throw Bad{"it is no profile of Unisono ('schema' is not 'unisono.profile')"};
  const char* const key = former ? "version" : "schema_version";
  const Count version = integer(field(document, key), key, 1, std::numeric_limits<Count>::max());
  if (version > kProfileVersion)
    throw Bad{"it was made by a newer Unisono (version " + std::to_string(version) +
              " of the format, here " + std::to_string(kProfileVersion) + ")"};
  Profile profile;
  read_list(document, "environments",
            [&](const Json& object) { profile.push_back(read_environment(object)); });
  return profile;
}

std::string megabits(double rate) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g Mb/s", rate / 1e6);
  return text;
}

/// How far apart two rates are, as a factor of at least 1.
double factor(double a, double b) {
  if (a <= 0 || b <= 0) return a <= 0 && b <= 0 ? 1 : std::numeric_limits<double>::infinity();
  return std::max(a / b, b / a);
}

std::vector<std::string> differences(const Platform& there, const Platform& here) {
  std::vector<std::string> list;
  const auto compare = [&](const std::string& what, const std::string& a, const std::string& b) {
    if (a != b) list.push_back(what + " " + a + " (here " + b + ")");
  };
  // The flavour stands last, and a library's words are long.
  const auto library = [](const Platform& platform) {
    constexpr std::size_t kMost = 60;
    return "'" + printable(platform.library, kMost) + "', " + platform.flavour;
  };
  if (there.library != here.library || there.flavour != here.flavour)
    list.push_back("MPI library " + library(there) + " (here " + library(here) + ")");
  compare("place", std::string(name(there.place)), std::string(name(here.place)));
  compare("cores of a node", std::to_string(there.cores), std::to_string(here.cores));
  const bool both_known = there.network_rate > 0 && here.network_rate > 0;
  if (both_known && factor(there.network_rate, here.network_rate) > kRateTolerance)
    list.push_back("network " + megabits(there.network_rate) + " (here " +
                   megabits(here.network_rate) + ")");
  return list;
}

}  // namespace

Result<Profile> read_profile(std::string_view text) {
  constexpr JsonLimits kLimits{std::size_t{2} << 20, std::size_t{1} << 17};
  return result_of([&] { return read(parse_json(text, kLimits)); });
}

Result<std::vector<ProfileCell>> cells_for(const Profile& profile, const Platform& here) {
  std::vector<const ProfileEnvironment*> fitting;
  std::vector<std::string> least_different;
  for (const ProfileEnvironment& environment : profile) {
    auto different = differences(environment.platform, here);
    if (different.empty())
      fitting.push_back(&environment);
    else if (least_different.empty() || different.size() < least_different.size())
      least_different = std::move(different);
  }
  if (fitting.empty()) {
    if (profile.empty()) return Error{"it holds no measurements"};
    std::string text = "it was made elsewhere: ";
    for (const std::string& one : least_different)
      text += (&one == least_different.data() ? "" : ", ") + one;
    return Error{text};
  }
  // Where several networks of nearly this rate were measured, the nearest counts.
  std::stable_sort(fitting.begin(), fitting.end(), [&](const auto* a, const auto* b) {
    return factor(a->platform.network_rate, here.network_rate) <
           factor(b->platform.network_rate, here.network_rate);
  });
  std::vector<ProfileCell> cells;
  std::set<std::pair<int, int>> shapes;
  for (const ProfileEnvironment* environment : fitting) {
    if (environment->cells.empty()) continue;
    const ProfileCell& first = environment->cells.front();
    if (!shapes.emplace(first.ranks, first.nodes).second) continue;
    cells.insert(cells.end(), environment->cells.begin(), environment->cells.end());
  }
  return cells;
}

}  // namespace unisono
