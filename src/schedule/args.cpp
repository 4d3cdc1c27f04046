#include "schedule/args.h"

#include <algorithm>

namespace unisono {

std::optional<Collective> collective_named(std::string_view wanted) {
  const auto it = std::find(kCollectiveNames.begin(), kCollectiveNames.end(), wanted);
  if (it == kCollectiveNames.end()) return std::nullopt;
  return static_cast<Collective>(it - kCollectiveNames.begin());
}

Count Layout::total(int first, int last) const {
  if (counts.empty()) return count * (last - first);
  Count sum = 0;
  for (int i = first; i < last; ++i) sum += counts[static_cast<std::size_t>(i)];
  return sum;
}

Count Layout::offset(int i) const {
  return displs.empty() ? total(0, i) : displs[static_cast<std::size_t>(i)];
}

Count Args::segment_of(Count length) const {
  constexpr Count kMaxSegments = 4096;
  if (params.segment == 0) return std::max(length, Count{1});
  return std::max(
      {params.segment / unit_bytes, (length + kMaxSegments - 1) / kMaxSegments, Count{1}});
}

Slice Args::input() const {
  switch (collective) {
    case Collective::bcast: return output();
    case Collective::gather:
    case Collective::gatherv:
      if (in_place) return output_block(rank);
      return {kInput, 0, send.length(rank)};
    case Collective::allgather:
    case Collective::allgatherv:
      if (in_place) return output_block(rank);
      return {kInput, 0, recv.length(rank)};
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_block:
      return {in_place ? kOutput : kInput, 0, recv.total(0, size)};
    case Collective::barrier: return {};
    default: return {in_place ? kOutput : kInput, 0, count};
  }
}

Slice Args::input_block(int i) const {
  switch (collective) {
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_block:
      return {in_place ? kOutput : kInput, recv.offset(i), recv.length(i)};
    case Collective::alltoall:
    case Collective::alltoallv:
    case Collective::alltoallw:
      if (in_place) return output_block(i);
      [[fallthrough]];
    default: return {kInput, send.offset(i), send.length(i)};
  }
}

Slice Args::output() const {
  switch (collective) {
    case Collective::scatter:
    case Collective::scatterv:
      if (in_place) return input_block(rank);
      [[fallthrough]];
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_block: return {kOutput, 0, recv.length(rank)};
    case Collective::allgather:
    case Collective::allgatherv: return {kOutput, 0, recv.total(0, size)};
    case Collective::barrier: return {};
    default: return {kOutput, 0, count};
  }
}

Slice Args::output_block(int i) const { return {kOutput, recv.offset(i), recv.length(i)}; }

}  // namespace unisono
