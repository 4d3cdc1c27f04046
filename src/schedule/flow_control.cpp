#include "schedule/flow_control.h"

#include <algorithm>
#include <cassert>
#include <unordered_map>
#include <utility>

namespace unisono {

Schedule limit_sends(Schedule schedule, Count sends) {
  assert(sends >= 1);
  if (sends >= kChannelDepth) return schedule;  // the builder allows no more
  std::vector<std::uint32_t> first_dep{0};
  std::vector<OpId> deps;
  std::unordered_map<std::int64_t, std::vector<OpId>> sent;  // by peer and way, in order
  const auto ops = schedule.ops();
  for (OpId id = 0; id < ops.size(); ++id) {
    const auto own = schedule.dependencies(id);
    deps.insert(deps.end(), own.begin(), own.end());
    if (ops[id].kind == OpKind::send) {
      std::vector<OpId>& earlier = sent[std::int64_t{ops[id].peer} * 256 + ops[id].way];
      if (std::cmp_greater_equal(earlier.size(), sends)) {
        const OpId before = earlier[earlier.size() - static_cast<std::size_t>(sends)];
        const auto begin = deps.begin() + first_dep.back();
        const auto at = std::lower_bound(begin, deps.end(), before);
        if (at == deps.end() || *at != before) deps.insert(at, before);
      }
      earlier.push_back(id);
    }
    first_dep.push_back(static_cast<std::uint32_t>(deps.size()));
  }
  return {{ops.begin(), ops.end()},
          std::move(first_dep),
          std::move(deps),
          {schedule.scratch().begin(), schedule.scratch().end()},
          {schedule.group_calls().begin(), schedule.group_calls().end()},
          schedule.slots(),
          {schedule.groups().begin(), schedule.groups().end()}};
}

}  // namespace unisono
