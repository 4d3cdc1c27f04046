// What Unisono chooses when the user says nothing: the MPI library's own algorithm, except in the
// cells of this table, each of which a measurement in docs/results/ has put there.
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
  ethernet,         ///< on several nodes, with a network like the measured one
  elsewhere         ///< on several nodes with another network, of which nothing is known
};

/// In profiles and in the bench's results; as in Place.
inline constexpr std::string_view kPlaceNames[] = {"undersubscribed", "oversubscribed", "ethernet",
                                                   "elsewhere"};

constexpr std::string_view name(Place place) {
  return kPlaceNames[static_cast<std::size_t>(place)];
}

/// The ethernet of the table has 100 Mb/s. Pipelines that win there may lose where latency counts
/// for more: at another rate the rows say nothing. `rate` in bit/s; 0: not known.
constexpr bool is_like_measured_ethernet(double rate) {
  return rate > 100e6 / 4 && rate < 100e6 * 4;
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
