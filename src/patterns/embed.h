// A schedule as a part of another: the step from single algorithms to compositions.
#pragma once
#include <functional>

#include "schedule/builder.h"

namespace unisono {

/// Writes what this rank does in `part`, the schedule of a group of which it is a member, behind
/// what `b` holds already. Unit 0 of the part's input and output lie where `input` and `output`
/// begin; its scratch buffers become scratch buffers of the whole. Parts written one after the
/// other overlap where the data allow it, as single ops do. Linear in the part's ops.
///
/// `others` write what not everybody can run, given in terms of the whole: a collective of the MPI
/// library, and messages to and from all others of a group. Without one of them such an op stays
/// what it is.
struct OtherWriters {
  std::function<OpId(Builder&, const GroupCall&)> library;
  std::function<OpId(Builder&, const RankGroup&, Slice)> multicast;
  std::function<OpId(Builder&, int root, Slice)> recv_multicast;
};
void embed(Builder& b, const Schedule& part, const RankGroup& group, Slice input, Slice output,
           const OtherWriters& others = {});

}  // namespace unisono
