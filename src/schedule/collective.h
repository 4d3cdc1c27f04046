// The collectives of MPI, as plain data. No MPI handles here.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace unisono {

enum class Collective : std::uint8_t {
  barrier,
  bcast,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  alltoallw,
  reduce,
  allreduce,
  reduce_scatter_block,
  reduce_scatter,
  scan,
  exscan,
};

inline constexpr int kCollectives = 17;

/// Names in the order of the enumerators, as users write them: "reduce_scatter_block".
inline constexpr std::array<std::string_view, kCollectives> kCollectiveNames = {
    "barrier",        "bcast",
    "gather",         "gatherv",
    "scatter",        "scatterv",
    "allgather",      "allgatherv",
    "alltoall",       "alltoallv",
    "alltoallw",      "reduce",
    "allreduce",      "reduce_scatter_block",
    "reduce_scatter", "scan",
    "exscan"};

constexpr std::string_view name(Collective c) {
  return kCollectiveNames[static_cast<std::size_t>(c)];
}

std::optional<Collective> collective_named(std::string_view name);

/// One bit per collective, for catalogue rows that serve several (allgather and allgatherv).
using CollectiveSet = std::uint32_t;
constexpr CollectiveSet set_of(Collective c) { return 1U << static_cast<unsigned>(c); }
template <class... C>
constexpr CollectiveSet set_of(Collective first, C... rest) {
  return (set_of(first) | ... | set_of(rest));
}
constexpr bool contains(CollectiveSet set, Collective c) { return (set & set_of(c)) != 0; }

inline constexpr CollectiveSet kRooted =
    set_of(Collective::bcast, Collective::gather, Collective::gatherv, Collective::scatter,
           Collective::scatterv, Collective::reduce);
inline constexpr CollectiveSet kReducing =
    set_of(Collective::reduce, Collective::allreduce, Collective::reduce_scatter_block,
           Collective::reduce_scatter, Collective::scan, Collective::exscan);
/// Collectives whose blocks may differ in length.
inline constexpr CollectiveSet kIrregular =
    set_of(Collective::gatherv, Collective::scatterv, Collective::allgatherv, Collective::alltoallv,
           Collective::alltoallw, Collective::reduce_scatter);

constexpr bool is_rooted(Collective c) { return contains(kRooted, c); }
constexpr bool is_reducing(Collective c) { return contains(kReducing, c); }
constexpr bool is_irregular(Collective c) { return contains(kIrregular, c); }

}  // namespace unisono
