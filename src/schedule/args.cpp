#include "schedule/args.h"

#include <algorithm>
#include <cassert>

namespace unisono {

std::optional<Collective> collective_named(std::string_view name) {
  const auto it = std::find(kCollectiveNames.begin(), kCollectiveNames.end(), name);
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
  assert(params.segment >= 0);  // whoever plans has closed an open one
  if (params.segment == 0) return std::max(length, Count{1});
  return std::max(
      {params.segment / unit_bytes, (length + kMaxSegments - 1) / kMaxSegments, Count{1}});
}

// What is reduced lies in the output where it is in place.
Slice Args::input() const {
  const Semantics& s = semantics(collective);
  if (s.measure == Measure::nothing) return {};
  if (has_one_buffer(s)) return output();
  const BufferId buffer = in_place ? kOutput : kInput;
  if (s.is_reducing()) return {buffer, 0, is_per_peer(s.send.shape) ? recv.total(0, size) : count};
  if (is_per_peer(s.send.shape) || !is_per_peer(s.receive.shape)) return {buffer, 0, count};
  if (in_place) return output_block(rank);
  if (neighbours != nullptr) return {kInput, 0, send.count};
  return {kInput, 0, s.rooted ? send.length(rank) : recv.length(rank)};
}

Slice Args::input_block(int i) const {
  const Semantics& s = semantics(collective);
  if (s.is_reducing() && is_per_peer(s.send.shape))
    return {in_place ? kOutput : kInput, recv.offset(i), recv.length(i)};
  if (in_place && is_per_peer(s.send.shape) && is_per_peer(s.receive.shape)) return output_block(i);
  return {kInput, send.offset(i), send.length(i)};
}

Slice Args::output() const {
  const Semantics& s = semantics(collective);
  if (s.measure == Measure::nothing) return {};
  const bool cuts = is_per_peer(s.send.shape), collects = is_per_peer(s.receive.shape);
  if (cuts && !collects) {
    if (in_place && s.in_place == InPlace::root_receive) return input_block(rank);
    return {kOutput, 0, recv.length(rank)};
  }
  if (collects && !cuts && !s.rooted) return {kOutput, 0, recv.total(0, size)};
  return {kOutput, 0, count};
}

int Args::input_blocks() const {
  return neighbours != nullptr ? static_cast<int>(neighbours->destinations.size()) : size;
}

int Args::output_blocks() const {
  return neighbours != nullptr ? static_cast<int>(neighbours->sources.size()) : size;
}

Slice Args::output_block(int i) const { return {kOutput, recv.offset(i), recv.length(i)}; }

}  // namespace unisono
