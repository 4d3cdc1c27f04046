#include "tools/bench/arms.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "algorithms/catalogue.h"
#include "unisono/unisono.h"

namespace unisono::bench {

namespace {

bool is_special(const std::string& spec) {
  return spec == "native" || spec == "default" || spec == "all";
}

std::string_view algorithm_of(std::string_view spec) { return spec.substr(0, spec.find(':')); }

bool has_algorithm(Collective collective, const std::string& spec) {
  return is_special(spec) || find_algorithm(collective, algorithm_of(spec)) != nullptr;
}

/// Where the node has no room, the algorithms for it are tried in vain, and the table says so.
Conditions conditions(const Setting& setting) {
  return {.size = setting.size,
          .commutative = is_commutative(setting.operation),
          .shared = setting.one_node,
          .graph = setting.graph != nullptr};
}

std::vector<std::string> all_specs(const Setting& setting) {
  std::vector<std::string> specs = {"native", "default"};
  for (const Algorithm& row : catalogue())
    if (contains(row.collectives, setting.collective) &&
        !unmet_restriction(row, conditions(setting)))
      specs.emplace_back(row.name);
  return specs;
}

}  // namespace

void check_arms(const std::vector<Collective>& collectives, const std::vector<std::string>& specs) {
  for (const std::string& spec : specs) {
    bool known = spec == "all";
    for (const Collective collective : collectives) {
      if (spec == "all" || !has_algorithm(collective, spec)) continue;
      known = true;
      const std::string_view of = name(collective);
      if (unisono_force(of.data(), spec.c_str()) != 0)
        throw std::runtime_error(fmt::format("--arms: {}", unisono_error()));
      unisono_force(of.data(), "default");
    }
    if (known) continue;
    std::vector<std::string_view> names = {"native", "default", "all"};
    for (const Algorithm& row : catalogue())
      if (std::any_of(collectives.begin(), collectives.end(),
                      [&](Collective c) { return contains(row.collectives, c); }) &&
          std::find(names.begin(), names.end(), row.name) == names.end())
        names.push_back(row.name);
    throw std::runtime_error(
        fmt::format("--arms: no algorithm '{}'; there are: {}", spec, fmt::join(names, ", ")));
  }
}

ArmList arms_for(const Setting& setting, const std::vector<std::string>& specs) {
  ArmList list;
  std::vector<std::string> wanted;
  for (const std::string& spec : specs)
    for (const std::string& each : spec == "all" ? all_specs(setting) : std::vector{spec})
      if (std::find(wanted.begin(), wanted.end(), each) == wanted.end()) wanted.push_back(each);
  for (const std::string& spec : wanted) {
    if (has_algorithm(setting.collective, spec))
      list.arms.push_back({spec, spec == "native", spec == "default"});
    else
      list.absent.push_back(spec);
  }
  return list;
}

}  // namespace unisono::bench
