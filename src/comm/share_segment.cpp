#include "comm/share_segment.h"

#include <cstring>
#include <optional>
#include <utility>

#include "mpi/comm.h"
#include "mpi/patience.h"
#include "node/handover.h"

namespace unisono {

namespace {

/// Rank 0's bytes, on all ranks.
template <class T>
void tell(MPI_Comm comm, T& what) {
  tell_patiently(&what, static_cast<int>(sizeof what), comm);
}

/// Rank 0 hands it to all others, who may have it already. Collective.
void hand_over(MPI_Comm comm, const node::SegmentPlace& place,
               std::optional<Result<node::Segment>>& segment) {
  node::HandoverName name{};
  const bool gives = rank_in(comm) == 0;
  node::OwnFile socket = gives ? node::offer(name) : node::OwnFile();
  tell(comm, name);
  if (name[0] == '\0') return;
  node::OwnFile called = gives ? node::OwnFile() : node::call_giver(name);
  if (!all_agree_patiently(comm, gives || called))
    return;  // all are in the queue, or nobody takes anything
  if (gives) return node::give(socket, (**segment).file());
  const int file = node::take(called);
  if (file >= 0) segment.emplace(node::Segment::adopt(file, place));
}

Result<node::Segment> make(std::size_t bytes, const PrepareSegment& prepare) {
  if (bytes == 0) return Error{""};
  Result<node::Segment> segment = node::Segment::create(bytes);
  if (!segment || !prepare) return segment;
  const Result<bool> prepared = prepare(*segment);
  return prepared ? std::move(segment) : Error{prepared.error()};
}

}  // namespace

Result<node::Segment> share_segment(MPI_Comm comm, std::size_t bytes, const PrepareSegment& prepare,
                                    const EnterSegment& enter) {
  node::SegmentPlace place;
  std::optional<Result<node::Segment>> segment;
  if (rank_in(comm) == 0) {
    segment.emplace(make(bytes, prepare));
    if (*segment) place = (**segment).place();
    if (*segment && place.bytes == 0)
      segment.emplace(Error{"other ranks cannot find this node's shared memory"});
  }
  tell(comm, place);
  if (place.bytes == 0) return segment ? std::move(*segment) : Result<node::Segment>(Error{""});
  if (!segment) segment.emplace(node::Segment::open(place));
  const auto has_it = [&] { return *segment && (!enter || enter(**segment)); };
  bool all_have_it = all_agree_patiently(comm, has_it());
  if (!all_have_it) {
    hand_over(comm, place, segment);
    all_have_it = all_agree_patiently(comm, has_it());
  }
  if (*segment) (**segment).close_file();
  if (*segment && !all_have_it) return Error{""};
  return std::move(*segment);
}

}  // namespace unisono
