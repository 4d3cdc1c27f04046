// What Unisono chooses for the ranks of one node when the user says nothing: the MPI library's own
// algorithm, except in the cells of this table, each of which a measurement in docs/results/ has
// put there. Between nodes the cost model knows more than a table of any one network.
#pragma once
#include <span>
#include <string_view>

#include "schedule/collective.h"
#include "schedule/schedule.h"

namespace unisono {

/// Where the ranks of the job are.
enum class Place : std::uint8_t {
  undersubscribed,  ///< on one node, a core for every rank
  oversubscribed,   ///< on one node, more ranks than cores
  ethernet,         ///< on several nodes, with a network whose rate is known
  elsewhere         ///< on several nodes, with another one
};

/// In profiles and in the bench's results; as in Place.
inline constexpr std::string_view kPlaceNames[] = {"undersubscribed", "oversubscribed", "ethernet",
                                                   "elsewhere"};

constexpr std::string_view name(Place place) {
  return kPlaceNames[static_cast<std::size_t>(place)];
}

/// A cell: ranks and bytes are intervals with both ends in them. Bytes are those of Facts.
struct Default {
  std::string_view flavour;  ///< of the MPI library: mpich, intel, openmpi, abi
  Place place;
  Collective collective;
  int least_ranks, most_ranks;
  Count least_bytes, most_bytes;
  std::string_view spec;
};

/// The page that shows the measurements.
inline constexpr std::string_view kDefaultsPage = "docs/results/defaults.md";

std::span<const Default> defaults();

}  // namespace unisono
