// A collective of some of the ranks as a step of a composed algorithm.
#pragma once
#include <span>

#include "algorithms/composition.h"

namespace unisono {

/// Each function writes, behind what `whole` holds already, what this rank does when the group runs
/// that collective with the algorithm of `spec` (the MPI library's own, if it names none). This
/// rank is a member; roots are positions in the group. Blocks are adjacent and given by their
/// lengths, one per member. Slices that a member does not have in MPI may be anything. A
/// contribution that lies where MPI_IN_PLACE would have it is in place. `topology` is the group's,
/// for a composed algorithm of levels.
class SubCollective {
 public:
  SubCollective(Builder& whole, RankGroup group, const NestedSpec& spec,
                const Topology* topology = nullptr);

  void barrier();
  void bcast(int root, Slice vector);
  void gather(int root, std::span<const Count> lengths, Slice own, Slice all);
  void scatter(int root, std::span<const Count> lengths, Slice all, Slice own);
  void allgather(std::span<const Count> lengths, Slice own, Slice all);
  /// lengths[i * n + j] units go from member i to member j.
  void alltoall(std::span<const Count> lengths, Slice input, Slice output);
  void reduce(int root, Slice own, Slice sum);
  void allreduce(Slice own, Slice sum);
  void reduce_scatter(std::span<const Count> lengths, Slice vector, Slice own);
  void scan(Slice own, Slice sum);
  void exscan(Slice own, Slice sum);

  /// Any of them. The group of the call is this group.
  void run(GroupCall call);

 private:
  GroupCall on_vector(Collective collective, int root, Slice own, Slice sum) const;
  GroupCall on_blocks(Collective regular, int root, std::span<const Count> lengths) const;
  void run_alone(const GroupCall& call);

  Builder& whole_;
  RankGroup group_;
  NestedSpec spec_;
  const Topology* topology_;
  int position_ = 0;
};

/// Where block `i` lies in `all`.
Slice block_at(Slice all, std::span<const Count> lengths, int i);

}  // namespace unisono
