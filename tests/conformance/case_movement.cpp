// Plans of the collectives that move data without computing on it.
#include <algorithm>
#include <numeric>

#include "case.h"

namespace conformance {

namespace {

long long sum(const std::vector<long long>& lengths) {
  long long total = 0;
  for (const long long n : lengths) total += n;
  return total;
}

std::vector<long long> times(const std::vector<long long>& lengths, long long factor) {
  std::vector<long long> scaled;
  for (const long long n : lengths) scaled.push_back(n * factor);
  return scaled;
}

}  // namespace

void Case::draw_unit(Rng& rng, std::initializer_list<long long> groups) {
  unit_ = random_unit(rng);
  group_ = static_cast<int>(rng.pick(groups));
  if (!simplified_.types) return;
  unit_ = {{&basic_named("int")}};
  group_ = 1;
}

long long Case::random_length() {
  if (simplified_.counts) return common_.below(3);
  switch (common_.below(7)) {
    case 0: return 0;
    case 1: return 1;
    case 2: return common_.between(2, 5);
    case 3: return size_ - 1 + common_.below(3);
    case 4:
    case 5: return common_.below(64);
    default: break;
  }
  // Past the eager limits, and long enough for several segments.
  return common_.below(most_groups(common_.chance(30) ? 60000 : 8000)) + 1;
}

/// How many groups make so many bytes, or fewer where the MPI library cannot send that many.
long long Case::most_groups(long long bytes) const {
  long long size = 0;
  for (const Basic* basic : unit_.parts) size += basic->size;
#ifdef MPICH_VERSION
  // MPICH 5.0.2 between processes of one node: messages of more than 8 KB are received wrongly when
  // their datatype is not contiguous and a basic element lies across the cut ("signature does not
  // match"). The blocks of v-collectives have up to twice the length.
  if (unit_.parts.size() > 1) bytes = std::min(bytes, 3900LL);
#endif
  return std::max(bytes / (size * group_), 1LL);
}

Case::Side Case::side(int direction, long long span) {
  Rng rng{seed_,
          number_,
          3,
          colour_,
          static_cast<std::uint64_t>(direction),
          same_types_ ? 0 : static_cast<std::uint64_t>(rank_) + 1};
  std::vector<int> divisors;
  for (int k = 1; k <= group_; ++k)
    if (group_ % k == 0) divisors.push_back(k);
  const int units = rng.pick(divisors);
  const long long per_group = group_ / units;
  if (simplified_.types || (is_intel_mpi() && own_expected() != true)) {
    types_.push_back(predefined(*unit_.parts.front()));
    return {&types_.back(), group_};
  }
  types_.push_back(random_type(rng, unit_, units, span * per_group, interleave_));
  if (broken_native_type(types_.back()) && own_expected() != true)
    types_.push_back(aligned_type(unit_, units));
  return {&types_.back(), per_group};
}

void Case::send_equal(long long length, int blocks) {
  const Side s = side(0, length * blocks);
  send_argument_ = Argument::buffer;
  in_.sendcount = length * s.per_group;
  in_.sendtype = s.type->handle();
  send_blocks_ = {{s.type, in_.sendcount * blocks, 0}};
}

void Case::recv_equal(long long length, int blocks) {
  const Side s = side(1, length * blocks);
  recv_argument_ = Argument::buffer;
  in_.recvcount = length * s.per_group;
  in_.recvtype = s.type->handle();
  recv_blocks_ = {{s.type, in_.recvcount * blocks, 0}};
}

std::vector<long long> Case::place(Rng& rng, const std::vector<long long>& lengths,
                                   long long* span) {
  std::vector<long long> at(lengths.size());
  const bool adjacent = rng.chance(40);
  const std::vector<int> order = rng.permutation(static_cast<int>(lengths.size()));
  const long long begin = adjacent ? 0 : rng.between(-3, 3);
  long long next = begin;
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    const std::size_t i = adjacent ? k : static_cast<std::size_t>(order[k]);
    if (!adjacent) next += rng.below(3);
    at[i] = next;
    next += lengths[i];
  }
  *span = next - begin;
  return at;
}

void Case::send_lengths(const std::vector<long long>& lengths) {
  long long span = 0;
  const std::vector<long long> at = place(local_, lengths, &span);
  const Side s = side(0, span);
  send_argument_ = Argument::buffer;
  in_.sendcounts = times(lengths, s.per_group);
  in_.sdispls = times(at, s.per_group);
  in_.sendtype = s.type->handle();
  for (std::size_t i = 0; i < lengths.size(); ++i)
    send_blocks_.push_back({s.type, in_.sendcounts[i], in_.sdispls[i] * s.type->extent()});
}

void Case::recv_lengths(const std::vector<long long>& lengths) {
  long long span = 0;
  const std::vector<long long> at = place(local_, lengths, &span);
  const Side s = side(1, span);
  recv_argument_ = Argument::buffer;
  in_.recvcounts = times(lengths, s.per_group);
  in_.rdispls = times(at, s.per_group);
  in_.recvtype = s.type->handle();
  for (std::size_t i = 0; i < lengths.size(); ++i)
    recv_blocks_.push_back({s.type, in_.recvcounts[i], in_.rdispls[i] * s.type->extent()});
}

void Case::ignore_send() {
  send_argument_ = Argument::null;
  in_.sendcount = local_.chance(50) ? -7 : 0;
}

void Case::ignore_recv() {
  recv_argument_ = local_.chance(50) ? Argument::null : Argument::buffer;
  in_.recvcount = local_.chance(50) ? -7 : 0;
}

void Case::send_in_place() {
  in_place_ = true;
  send_argument_ = Argument::in_place;
  if (local_.chance(50)) return;
  in_.sendcount = in_.recvcount;
  in_.sendtype = in_.recvtype;
  in_.sendcounts = in_.recvcounts;
  in_.sdispls = in_.rdispls;
  in_.sendtypes = in_.recvtypes;
}

long long Case::matrix(int from, int to, int nth) const {
  // In place, i and j exchange what they have: the matrix is symmetric.
  const auto low = static_cast<std::uint64_t>(in_place_ ? std::min(from, to) : from);
  const auto high = static_cast<std::uint64_t>(in_place_ ? std::max(from, to) : to);
  Rng rng{seed_, number_, 4, colour_, low, high, static_cast<std::uint64_t>(nth)};
  if (rng.chance(30)) return 0;
  if (simplified_.counts) return rng.below(3);
  if (rng.chance(92)) return rng.below(12);
  long long most = most_groups(16000);
#ifdef MPICH_VERSION
  // MPICH 5.0.2 in place: fails when a datatype has more pieces than process_vm_readv takes.
  if (in_place_)
    most = std::min(most, 1000 / (group_ * static_cast<int>(unit_.parts.size())) + 0LL);
#endif
  return rng.below(most) + 1;
}

/// In some calls the MPI libraries themselves hang or fail. They are made when Unisono runs them.
///  - MPICH 5.0.2, MPI_Allgatherv: divides a number of bytes by the extent of the receive type to
///    cut the pipeline's segments; ranks with datatypes of other extents cut elsewhere.
///  - Open MPI 5.0.11, MPI_Allgatherv: multiplies the receive counts by the size of the SEND type
///  to
///    choose an algorithm: ranks that pass different datatypes of one signature choose differently
///    and hang.
///  - Open MPI 5.0.11, MPI_Gather and MPI_Scatter on four ranks or more: keep the blocks of other
///    ranks in temporary memory laid out by the rank's own datatype, where they overlap when its
///    instances interleave.
///  - Intel MPI 2021.19 on an AMD EPYC, MPI_Gather and MPI_Allgather at least: copies a rank's own
///    block wrongly, and writes behind the buffer, where the two datatypes are not the same.
bool Case::broken_native_movement() const {
  if (is_intel_mpi()) return true;
  if (in_.collective == Collective::allgatherv) return !same_types_;
#ifdef OPEN_MPI
  return in_.collective == Collective::gather || in_.collective == Collective::scatter;
#else
  return false;
#endif
}

/// The call with all data packed by the test's own type maps and sent as MPI_BYTE.
void Case::invoke_plain_movement(Buffer& expected) {
  std::vector<std::uint8_t> sent, received;
  sent.reserve(1), received.reserve(1);  // MPICH wants an address without neighbours, too
  const auto pack = [](const Buffer& buffer, const std::vector<Block>& blocks,
                       std::vector<std::uint8_t>& to, std::vector<long long>& counts,
                       std::vector<long long>& displs) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const auto before = static_cast<long long>(to.size());
      buffer.pack(blocks[i], to);
      if (counts.empty()) continue;  // equal blocks for all ranks, as one here
      counts[i] = static_cast<long long>(to.size()) - before;
      displs[i] = before;
    }
  };
  // Also without blocks: Open MPI compares what is sent with what is received.
  const auto size = [](MPI_Datatype type) {
    int bytes = 0;
    if (type != MPI_DATATYPE_NULL) PMPI_Type_size(type, &bytes);
    return bytes;
  };
  Invocation in = in_;
  in.sendcount *= size(in.sendtype);
  in.recvcount *= size(in.recvtype);
  pack(send_, send_blocks_, sent, in.sendcounts, in.sdispls);
  pack(expected, recv_blocks_, received, in.recvcounts, in.rdispls);
  in.sendtype = in.recvtype = MPI_BYTE;
  in.sendtypes.assign(in.sendtypes.size(), MPI_BYTE);
  in.recvtypes.assign(in.recvtypes.size(), MPI_BYTE);
  if (send_argument_ != Argument::in_place) in.sendbuf = sent.data();
  in.recvbuf = recv_argument_ == Argument::in_place ? MPI_IN_PLACE : received.data();
  invoke(in, EntryPoint::native);
  const std::uint8_t* next = received.data();
  for (const Block& b : recv_blocks_) next = expected.unpack(b, next);
}

void Case::avoid_native_defects() {
  plain_reference_ = broken_native_movement();
  if (!plain_reference_ || own_expected() == true) return;
  plain_reference_ = interleave_ = false;
  same_types_ = true;
  if (is_intel_mpi()) unit_ = {{unit_.parts.front()}};
}

void Case::plan_movement() {
  draw_unit(common_, {1, 1, 2, 3, 4, 6});
  avoid_native_defects();
  const bool in_place = common_.chance(25) && !simplified_.in_place;
  const long long length = random_length();
  std::vector<long long> lengths;
  for (int i = 0; i < size_; ++i)
    lengths.push_back(common_.chance(20) ? 0 : common_.below(std::max<long long>(2 * length, 3)));
  const long long mine = lengths[static_cast<std::size_t>(rank_)];

  switch (in_.collective) {
    case Collective::bcast:
      recv_equal(length, 1);
      if (is_root()) recv_expect_ = Expect::untouched;
      break;
    case Collective::gather:
    case Collective::gatherv: {
      const bool irregular = in_.collective == Collective::gatherv;
      if (!is_root()) {
        ignore_recv();
        send_equal(irregular ? mine : length, 1);
        break;
      }
      irregular ? recv_lengths(lengths) : recv_equal(length, size_);
      in_place ? send_in_place() : send_equal(irregular ? mine : length, 1);
      break;
    }
    case Collective::scatter:
    case Collective::scatterv: {
      const bool irregular = in_.collective == Collective::scatterv;
      if (is_root())
        irregular ? send_lengths(lengths) : send_equal(length, size_);
      else
        ignore_send();
      if (is_root() && in_place) {
        in_place_ = true;
        recv_argument_ = Argument::in_place;
      } else {
        recv_equal(irregular ? mine : length, 1);
      }
      break;
    }
    case Collective::allgather:
      recv_equal(length, size_);
      in_place ? send_in_place() : send_equal(length, 1);
      break;
    case Collective::allgatherv:
      recv_lengths(lengths);
      in_place ? send_in_place() : send_equal(mine, 1);
      break;
    case Collective::alltoall:
      recv_equal(length, size_);
      in_place ? send_in_place() : send_equal(length, size_);
      break;
    case Collective::alltoallv: {
      in_place_ = in_place;
      std::vector<long long> to, from;
      for (int i = 0; i < size_; ++i) {
        to.push_back(matrix(rank_, i));
        from.push_back(matrix(i, rank_));
      }
      recv_lengths(from);
      in_place ? send_in_place() : send_lengths(to);
      break;
    }
    default: break;
  }
  // With nothing to send or receive, an address is not needed either.
  if (sum(in_.sendcounts) == 0 && in_.sendcount == 0 && send_argument_ == Argument::buffer &&
      local_.chance(30))
    send_argument_ = Argument::null;
  if (sum(in_.recvcounts) == 0 && in_.recvcount == 0 && recv_argument_ == Argument::buffer &&
      local_.chance(30))
    recv_argument_ = Argument::null;
}

/// Every pair of ranks has a signature of its own. Blocks stand in random order with gaps.
void Case::plan_blocks(bool sending, const std::vector<int>& peers) {
  auto& counts = sending ? in_.sendcounts : in_.recvcounts;
  auto& displs = sending ? in_.sdispls : in_.rdispls;
  auto& types = sending ? in_.sendtypes : in_.recvtypes;
  auto& blocks = sending ? send_blocks_ : recv_blocks_;
  counts.resize(peers.size()), displs.resize(peers.size());
  types.resize(peers.size()), blocks.resize(peers.size());
#ifdef OPEN_MPI
  // Open MPI 5.0.11, communicators of one rank: MPI_Alltoallw multiplies the displacements, which
  // are in bytes, by the extents.
  const bool displaced = size_ > 1 || in_.collective != Collective::alltoallw;
#else
  const bool displaced = true;
#endif
  MPI_Aint next = 64 * local_.between(-4, 2);
  for (const int block : local_.permutation(static_cast<int>(peers.size()))) {
    const auto i = static_cast<std::size_t>(block);
    const int peer = peers[i], nth = nth_edge(peers, i);
    const int from = sending ? rank_ : peer, to = sending ? peer : rank_;
    const auto low = static_cast<std::uint64_t>(in_place_ ? std::min(from, to) : from);
    const auto high = static_cast<std::uint64_t>(in_place_ ? std::max(from, to) : to);
    Rng rng{seed_, number_, 5, colour_, low, high, static_cast<std::uint64_t>(nth)};
    draw_unit(rng, {1, 2, 3, 4});
    if (is_intel_mpi() && own_expected() != true) unit_ = {{unit_.parts.front()}};
    const long long length = matrix(from, to, nth);
    const Side s = side(sending ? 100 + block : 10000 + block, length);
    counts[i] = length * s.per_group;
    types[i] = s.type->handle();
    blocks[i] = {s.type, counts[i], 0};
    const MPI_Aint begin = s.type->first();
    const MPI_Aint end = s.type->last() + std::max<MPI_Aint>(counts[i] - 1, 0) * s.type->extent();
    next += 16 * local_.below(4);
    displs[i] = displaced ? next + (-begin + 15) / 16 * 16 : 0;
    blocks[i].at = displs[i];
    next = (displs[i] + end + 15) / 16 * 16;
  }
}

void Case::plan_alltoallw() {
  in_place_ = common_.chance(25) && !simplified_.in_place;
  std::vector<int> all(static_cast<std::size_t>(size_));
  std::iota(all.begin(), all.end(), 0);
  recv_argument_ = Argument::buffer;
  plan_blocks(false, all);
  if (in_place_) {
    send_in_place();
    return;
  }
  send_argument_ = Argument::buffer;
  plan_blocks(true, all);
}

}  // namespace conformance
