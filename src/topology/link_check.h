// Which messages of a collective share links of a torus.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "schedule/schedule.h"
#include "topology/torus_placement.h"

namespace unisono {

/// All messages from one host to another that take one way.
struct Stream {
  int from = 0, to = 0;  ///< hosts
  std::uint8_t way = 0;
  bool operator==(const Stream&) const = default;
};

struct LinkReport {
  LinkId link = -1;             ///< the one that most streams share; -1: nothing leaves a host
  std::vector<Stream> streams;  ///< over it

  int most() const { return static_cast<int>(streams.size()); }
  bool contention_free() const { return most() <= 1; }
  /// The counter-example, as coordinates: "(0,0) up in dimension 0 carries (0,0) -> (2,0) and ...".
  std::string text(const Torus& torus) const;
};

/// As if all messages of the schedules were under way at once, as those of a pipeline are.
/// `trees`: where messages ask for their explicit routes (kFirstNamedRoute).
LinkReport check_links(std::span<const Schedule> schedules, const TorusPlacement& placement,
                       const TorusTrees* trees = nullptr);

/// The worst round of one_ported(), in which only the messages of a round are under way at once.
LinkReport check_links_by_rounds(std::span<const Schedule> schedules,
                                 const TorusPlacement& placement);

}  // namespace unisono
