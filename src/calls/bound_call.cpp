#include "calls/bound_call.h"

#include <algorithm>

#include "calls/sides.h"
#include "exec/kernel_reduction.h"

namespace unisono {

BoundCall::BoundCall(const Call& call, int rank, int size, bool commutative) {
  args.collective = call.collective;
  args.rank = rank;
  args.size = size;
  args.root = is_rooted(call.collective) ? call.root : 0;
  args.commutative = commutative;
  args.in_place = is_in_place(call, rank);
  if (is_reducing(call.collective))
    prepare_reduction(call);
  else if (call.neighbours != nullptr)
    prepare_neighbours(call);
  else if (semantics(call.collective).measure != Measure::nothing)
    prepare_movement(call);
}

void BoundCall::prepare_reduction(const Call& call) {
  binding.type = call.recvtype;
  binding.unit = facts_of(call.recvtype);
  binding.op = call.op;
  // What lies between elements is the program's.
  if (binding.unit.dense)
    binding.built_in = built_in_reduction(call.op, call.recvtype, binding.unit);
  binding.input = static_cast<std::byte*>(const_cast<void*>(call.sendbuf));
  binding.output = static_cast<std::byte*>(call.recvbuf);
  args.unit_bytes = std::max<Count>(1, binding.unit.size);
  args.count = args.recv.count = args.send.count = call.recvcount;
  if (!is_irregular(call.collective)) return;
  Count at = 0;
  for (int i = 0; i < args.size; ++i) {
    recv_.counts.push_back(call.recvcounts[i]);
    recv_.displs.push_back(at);
    at += call.recvcounts[i];
  }
  args.recv.counts = recv_.counts;
  args.recv.displs = recv_.displs;
}

void BoundCall::one_block(Side& side, const void* buffer, Count count, MPI_Datatype type) {
  side.blocks.push_back({static_cast<std::byte*>(const_cast<void*>(buffer)), count, type,
                         count > 0 ? facts_of(type) : kByteFacts});
}

template <class CountOf, class PlaceOf>
void BoundCall::block_per_peer(Side& side, const void* buffer, int blocks, const CountOf& count_of,
                               const PlaceOf& place_of, MPI_Datatype type,
                               const MPI_Datatype* types) {
  auto* base = static_cast<std::byte*>(const_cast<void*>(buffer));
  for (int i = 0; i < blocks; ++i) {
    one_block(side, base, count_of(i), types != nullptr ? types[i] : type);
    // MPI_Alltoallw gives displacements in bytes; an empty block may have any.
    Block& block = side.blocks.back();
    if (block.count > 0) block.address += place_of(i) * (types != nullptr ? 1 : block.facts.extent);
  }
}

// Decides where the bytes of a side are: in the user's memory, or packed into our own.
void BoundCall::settle(Side& side, Layout& layout, bool irregular, Count padded) {
  if (side.blocks.empty()) return;
  const auto first_byte = [](const Block& b) { return b.address + b.facts.true_lb; };
  side.staged = padded > side.blocks[0].bytes() ||
                std::any_of(side.blocks.begin(), side.blocks.end(),
                            [](const Block& b) { return b.count > 0 && !b.facts.dense; });
  if (!side.staged && !irregular) {
    side.unit0 = first_byte(side.blocks[0]);
    return;
  }
  Count total = 0;
  for (const Block& block : side.blocks) {
    side.counts.push_back(block.bytes());
    side.displs.push_back(total);
    total += block.bytes();
  }
  if (side.staged) {
    const Count room = std::max(total, padded);
    side.packed = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(room));
    std::fill(side.packed.get() + total, side.packed.get() + room, std::byte{0});
    side.unit0 = side.packed.get();
  } else {
    // Displacements are relative to the first block that has anything in it.
    const auto full = std::find_if(side.blocks.begin(), side.blocks.end(),
                                   [](const Block& b) { return b.count > 0; });
    if (full != side.blocks.end()) side.unit0 = first_byte(*full);
    for (std::size_t i = 0; i < side.blocks.size(); ++i)
      if (side.blocks[i].count > 0) side.displs[i] = first_byte(side.blocks[i]) - side.unit0;
  }
  if (!irregular) return;
  layout.counts = side.counts;
  layout.displs = side.displs;
}

void BoundCall::prepare_movement(const Call& call) {
  const Collective c = call.collective;
  const int p = args.size;
  const bool many_sent = sends_blocks(call, args.rank);
  const bool many_received = receives_blocks(call, args.rank);
  const bool has_send = has_send_side(call, args.rank);
  const bool has_recv = has_receive_side(call, args.rank);
  const auto fill = [&](Side& side, bool many, const void* buffer, Count count,
                        const IntegerArray& counts, const IntegerArray& displs, MPI_Datatype type,
                        const MPI_Datatype* types) {
    if (many && is_irregular(c))
      block_per_peer(
          side, buffer, p, [&](int i) { return counts[i]; }, [&](int i) { return displs[i]; }, type,
          types);
    else
      one_block(side, buffer, many ? count * p : count, type);
  };
  if (has_send)
    fill(send_, many_sent, call.sendbuf, call.sendcount, call.sendcounts, call.sdispls,
         call.sendtype, call.sendtypes);
  if (has_recv)
    fill(recv_, many_received, call.recvbuf, call.recvcount, call.recvcounts, call.rdispls,
         call.recvtype, call.recvtypes);
  // A root that alone receives may say that its own block is shorter than it receives.
  const bool may_be_shorter =
      has_send && has_recv && !is_irregular(c) && semantics(c).receive.who == Who::root;
  settle(send_, args.send, many_sent && is_irregular(c),
         may_be_shorter ? call.recvcount * facts_of(call.recvtype).size : 0);
  settle(recv_, args.recv, many_received && is_irregular(c));
  binding.input = send_.unit0;
  binding.output = recv_.unit0;

  // Lengths of one block, from the side that has it.
  const auto block_bytes = [&](const Side& side, bool many) -> Count {
    return side.blocks.empty() ? 0 : side.blocks[0].bytes() / (many ? p : 1);
  };
  const Count sent = many_sent && is_irregular(c) ? 0 : block_bytes(send_, many_sent);
  const Count received = many_received && is_irregular(c) ? 0 : block_bytes(recv_, many_received);
  args.send.count = has_send ? sent : received;
  args.recv.count = has_recv ? received : sent;
  args.count = args.recv.count;
  args.all_counts_known = !(is_rooted(c) && is_irregular(c)) || args.is_root();
}

// A block that nobody sends or gets is none here: no byte of it may be touched.
void BoundCall::prepare_neighbours(const Call& call) {
  args.neighbours = call.neighbours;
  const auto fill = [this](Side& side, const std::vector<std::int32_t>& peers, const void* buffer,
                           Count count, const IntegerArray& counts, const IntegerArray& displs,
                           MPI_Datatype type, const MPI_Datatype* types) {
    block_per_peer(
        side, buffer, static_cast<int>(peers.size()),
        [&](int i) -> Count {
          if (peers[static_cast<std::size_t>(i)] == kNobody) return 0;
          return counts ? counts[i] : count;
        },
        [&](int i) -> Count { return counts ? displs[i] : i * count; }, type, types);
  };
  const auto& [sources, destinations, in_pairs] = *call.neighbours;
  const bool cuts = sends_blocks(call, args.rank);
  const bool sends = has_send_side(call, args.rank), receives = has_receive_side(call, args.rank);
  if (sends && cuts)
    fill(send_, destinations, call.sendbuf, call.sendcount, call.sendcounts, call.sdispls,
         call.sendtype, call.sendtypes);
  else if (sends)
    one_block(send_, call.sendbuf, call.sendcount, call.sendtype);
  fill(recv_, sources, call.recvbuf, call.recvcount, call.recvcounts, call.rdispls, call.recvtype,
       call.recvtypes);
  settle(send_, args.send, cuts);
  settle(recv_, args.recv, true);
  binding.input = send_.unit0;
  binding.output = recv_.unit0;
  // Of one block, if all are equally long.
  args.send.count = sends && !call.sendcounts ? call.sendcount * facts_of(call.sendtype).size : 0;
  args.count = receives && !call.recvcounts ? call.recvcount * facts_of(call.recvtype).size
                                            : args.send.count;
  args.recv.count = args.count;
}

int BoundCall::pack_block(Side& side, std::size_t i) {
  const Block& block = side.blocks[i];
  if (block.count == 0) return MPI_SUCCESS;
  return pack_elements(block.address, block.count, block.type, block.facts,
                       side.packed.get() + side.displs[i]);
}

int BoundCall::pack_inputs() {
  int rc = MPI_SUCCESS;
  for (std::size_t i = 0; send_.staged && i < send_.blocks.size() && rc == MPI_SUCCESS; ++i)
    rc = pack_block(send_, i);
  // The output is read where it is the input as well.
  if (!recv_.staged || !(args.in_place || sends_from_output())) return rc;
  for (std::size_t i = 0; i < recv_.blocks.size() && rc == MPI_SUCCESS; ++i)
    rc = pack_block(recv_, i);
  return rc;
}

int BoundCall::unpack_outputs() {
  if (!recv_.staged || sends_from_output()) return MPI_SUCCESS;
  for (std::size_t i = 0; i < recv_.blocks.size(); ++i) {
    const Block& block = recv_.blocks[i];
    if (block.count == 0) continue;
    if (const int rc = unpack_elements(recv_.packed.get() + recv_.displs[i], block.address,
                                       block.count, block.type, block.facts);
        rc != MPI_SUCCESS)
      return rc;
  }
  return MPI_SUCCESS;
}

}  // namespace unisono
