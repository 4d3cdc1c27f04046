// Plans on inter-communicators: Unisono hands them to the MPI library, and they must stay right.
#include <algorithm>

#include "case.h"

namespace conformance {

void Case::plan_inter() {
  // Those that say something on two groups of different sizes; scans are not defined there.
  constexpr Collective kInter[] = {
      Collective::barrier,   Collective::bcast,    Collective::gather,    Collective::scatter,
      Collective::allgather, Collective::alltoall, Collective::allreduce, Collective::reduce};
  in_.collective = kInter[static_cast<std::size_t>(in_.collective) % std::size(kInter)];
  in_.large =
      in_.large && has_function(in_.collective, Form::blocking, true, EntryPoint::interposed);

  // Which group this rank is in: the one with the lower ranks of MPI_COMM_WORLD is the root's.
  MPI_Group world, local;
  int first = 0;
  const int zero = 0;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Comm_group(in_.comm, &local);
  PMPI_Group_translate_ranks(local, 1, &zero, world, &first);
  PMPI_Group_free(&local);
  PMPI_Group_free(&world);
  const bool root_group = first == 0;
  const int root_group_size = root_group ? size_ : remote_size_;
  const int root = static_cast<int>(common_.below(root_group_size));
  const bool root_here = root_group && rank_ == root;
  if (root_group)
    in_.root = root_here ? MPI_ROOT : MPI_PROC_NULL;
  else
    in_.root = root;

  if (unisono::is_reducing(in_.collective)) {
    const Basic& basic = random_reducible(common_);
    reduction_ = random_builtin(common_, basic);
    types_.push_back(predefined(basic));
    const Block block = {&types_.back(), common_.below(200), 0};
    in_.recvcount = block.count;
    in_.recvtype = basic.handle;
    in_.op = reduction_->op;
    const bool all = in_.collective == Collective::allreduce;
    send_argument_ = recv_argument_ = Argument::buffer;
    if (all || !root_group) send_blocks_ = {block};
    if (all || root_here) recv_blocks_ = {block};
    return;
  }

  draw_unit(common_, {1, 2, 4});
  // MPICH 5.0.2 between processes of one node: a message of more than 8 KB is received wrongly when
  // its datatype is not contiguous and a basic element lies across the cut ("signature does not
  // match"); and around 2 KB the two groups of MPI_Gather choose different algorithms when their
  // sizes differ, and hang. Keep below.
  long long unit_bytes = 0;
  for (const Basic* basic : unit_.parts) unit_bytes += basic->size;
  const long long most = 2000 / (unit_bytes * group_ * (size_ + remote_size_));
  const long long length = common_.below(std::max(most, 2LL));
  switch (in_.collective) {
    case Collective::bcast:
      if (root_group && !root_here) {
        // Open MPI 5.0 looks at the datatype where MPI says that it is not significant.
        in_.recvtype = MPI_BYTE;
        return;
      }
      recv_equal(length, 1);
      if (root_here) recv_expect_ = Expect::untouched;
      return;
    case Collective::gather:
      if (!root_group) send_equal(length, 1);
      root_here ? recv_equal(length, remote_size_) : ignore_recv();
      return;
    case Collective::scatter:
      if (root_here) send_equal(length, remote_size_);
      if (!root_group) recv_equal(length, 1);
      return;
    case Collective::allgather:
      send_equal(length, 1);
      recv_equal(length, remote_size_);
      return;
    case Collective::alltoall:
      send_equal(length, remote_size_);
      recv_equal(length, remote_size_);
      return;
    default: return;
  }
}

}  // namespace conformance
