#include "topology/link_check.h"

#include <algorithm>
#include <map>

#include "schedule/metrics.h"

namespace unisono {

namespace {

/// Calls use(link) for each link of a stream.
template <class Use>
void for_links(const Stream& stream, const TorusPlacement& placement, const TorusTrees* trees,
               Use&& use) {
  const TorusMembers& members = placement.members();
  if (stream.way < kFirstNamedRoute || trees == nullptr)
    return members.torus().route(stream.from, stream.to, Way::numbered(stream.way), use);
  const auto number = static_cast<std::size_t>(stream.way - kFirstNamedRoute);
  const bool out = number < trees->out.size();
  const TorusTree& tree = out ? trees->out[number] : trees->in[number - trees->out.size()];
  const int child = members.member(out ? stream.to : stream.from);
  for (const LinkId link : tree.route[static_cast<std::size_t>(child)]) use(link);
}

class Links {
 public:
  Links(const TorusPlacement& placement, const TorusTrees* trees)
      : placement_(placement), trees_(trees) {}

  void add(int from_rank, const Op& op) {
    const Stream stream{placement_.host_of(from_rank), placement_.host_of(op.peer), op.way};
    if (stream.from == stream.to) return;
    for_links(stream, placement_, trees_, [&](LinkId link) {
      std::vector<Stream>& known = streams_[link];
      if (std::find(known.begin(), known.end(), stream) == known.end()) known.push_back(stream);
    });
  }
  LinkReport worst() const {
    LinkReport report;
    for (const auto& [link, streams] : streams_)
      if (std::ssize(streams) > report.most()) report = {link, streams};
    return report;
  }

 private:
  const TorusPlacement& placement_;
  const TorusTrees* trees_;
  std::map<LinkId, std::vector<Stream>> streams_;
};

}  // namespace

std::string LinkReport::text(const Torus& torus) const {
  if (link < 0) return "no message leaves a host";
  std::string written = torus.text_of_link(link) + " carries";
  const char* separator = " ";
  for (const Stream& stream : streams) {
    written += separator + torus.text(stream.from) + " -> " + torus.text(stream.to);
    separator = " and ";
  }
  return written;
}

LinkReport check_links(std::span<const Schedule> schedules, const TorusPlacement& placement,
                       const TorusTrees* trees) {
  Links links(placement, trees);
  for (std::size_t rank = 0; rank < schedules.size(); ++rank)
    for (const Op& op : schedules[rank].ops())
      if (op.kind == OpKind::send) links.add(static_cast<int>(rank), op);
  return links.worst();
}

LinkReport check_links_by_rounds(std::span<const Schedule> schedules,
                                 const TorusPlacement& placement) {
  const Timeline timeline = one_ported(schedules);
  std::map<Count, Links> rounds;
  for (std::size_t rank = 0; rank < schedules.size(); ++rank)
    for (std::size_t id = 0; id < schedules[rank].ops().size(); ++id)
      if (const Op& op = schedules[rank].ops()[id]; op.kind == OpKind::send)
        rounds.try_emplace(timeline.round[rank][id], placement, nullptr)
            .first->second.add(static_cast<int>(rank), op);
  LinkReport worst;
  for (const auto& [round, links] : rounds)
    if (LinkReport report = links.worst(); report.most() > worst.most()) worst = std::move(report);
  return worst;
}

}  // namespace unisono
