// The short way of a call through the memory of the node: of a kind that has run so before, with
// nothing to pack. Inlined into every entry point, where the collective is known and the call is in
// registers: what is left is a few comparisons and the kernel.
#pragma once
#include <cstddef>
#include <exception>
#include <new>
#include <optional>

#include "calls/call_info.h"
#include "calls/call_word.h"
#include "calls/host_copy.h"
#include "calls/sides.h"
#include "mpi/device_memory.h"
#include "node/kernels.h"

namespace unisono {

/// What a kernel is given, and how much is in it.
struct KernelData {
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  std::size_t bytes = 0;  ///< moved: the vector, or a block
  std::size_t count = 0;  ///< reduced: elements

  /// MPI_IN_PLACE: the block of this rank in what is gathered or scattered begins at `own`;
  /// everything else is where it stays.
  [[gnu::always_inline]] void in_place(Collective c, Count own) {
    const Semantics& s = semantics(c);
    if (s.in_place == InPlace::root_receive)
      output = const_cast<std::byte*>(input) + own;
    else if (s.send.shape == SideShape::block && is_per_peer(s.receive.shape))
      input = output + own;
    else
      input = output;
  }
};

/// Collectives in which all blocks are equally long.
[[gnu::always_inline]] inline void run_regular(node::Team& team, Collective c, int root,
                                               const KernelData& data,
                                               const node::Reduction* reduction,
                                               node::Protocol way) {
  using enum Collective;
  const auto& [input, output, bytes, count] = data;
  switch (c) {
    case barrier: return node::barrier(team, way);
    case bcast: return node::bcast(team, output, bytes, root, way);
    case gather: return node::gather(team, input, output, bytes, root, way);
    case scatter: return node::scatter(team, input, output, bytes, root, way);
    case allgather: return node::allgather(team, input, output, bytes, way);
    case alltoall: return node::alltoall(team, input, output, bytes, way);
    case reduce: return node::reduce(team, input, output, count, *reduction, root, way);
    case allreduce: return node::allreduce(team, input, output, count, *reduction, way);
    case reduce_scatter_block:
      return node::reduce_scatter_block(team, input, output, count, *reduction, way);
    case scan: return node::scan(team, input, output, count, *reduction, way);
    case exscan: return node::exscan(team, input, output, count, *reduction, way);
    default: break;
  }
}

/// Elements lie in memory as in the message, from their address on. Others, and what is wrong with
/// a datatype, the long way looks at.
inline bool is_plain(const TypeFacts& facts) {
  return facts.dense && facts.committed && facts.true_lb == 0;
}

/// The data of a call whose significant datatypes are plain, or nothing. Of collectives with blocks
/// of one length; the datatype of a reduction is known to be plain. Without memory, or where this
/// rank says two lengths of its block, nothing: the long way finds that again.
[[gnu::always_inline]] inline std::optional<KernelData> plain_data(const Call& call, int rank,
                                                                   Count bytes) noexcept try {
  const Collective c = call.collective;
  KernelData data{static_cast<const std::byte*>(call.sendbuf),
                  static_cast<std::byte*>(call.recvbuf), static_cast<std::size_t>(bytes),
                  static_cast<std::size_t>(call.recvcount)};
  if (semantics(c).measure == Measure::nothing) return data;
  if (!is_reducing(c) && ((has_send_side(call, rank) && !is_plain(facts_of(call.sendtype))) ||
                          (has_receive_side(call, rank) && !is_plain(facts_of(call.recvtype)))))
    return std::nullopt;
  if (semantics(c).send.shape == SideShape::block && has_two_lengths(call, rank)) [[unlikely]]
    return std::nullopt;
  if (is_in_place(call, rank)) data.in_place(c, rank * bytes);
  return data;
} catch (const std::bad_alloc&) {
  return std::nullopt;
}

/// Runs a call with blocks of different lengths. False: some datatype is not plain, there is no
/// memory, or it may not pass, and nothing has been done.
bool run_plain_blocks(Communicator& communicator, KnownKinds& kinds, const Call& call,
                      const KnownKind& kind);

/// `kCollective`: the call's. False: the call has not run, or has failed as its communicator keeps.
template <Collective kCollective>
[[gnu::always_inline]] inline bool ran_on_fast_path(const Call& call, CallInfo info) noexcept try {
  if (info.failed) return false;
  Communicator& communicator = *info.communicator;
  KnownKinds* kinds = communicator.known_kinds();
  if (kinds == nullptr) return false;
  const KnownKind& kind = kinds->of(kCollective, info.bytes);
  if (!kind.is(kCollective, info.bytes, call.op, call.recvtype)) return false;
  NodeTeam& team = kinds->team();
  if (team.team().is_retired()) return false;
  if constexpr (is_irregular(kCollective)) {
    if (!run_plain_blocks(communicator, *kinds, call, kind)) return false;
  } else {
    const auto data = plain_data(call, communicator.rank(), info.bytes);
    if (!data || !kind.passes()) return false;
    team.make_call(word_of(call, info.bytes), communicator.attendance().call(), [&] {
      run_regular(team.team(), kCollective, call.root, *data, &kind.reduction, kind.way);
    });
  }
  count(g_own_calls);
  return true;
} catch (const std::exception&) {
  info.communicator->keep_failure(std::current_exception());
  return false;
}

/// The same where may_have_devices(). A function of its own with the call by value: where the look
/// at its buffers was inlined, every call was written to memory first (144 bytes).
template <Collective kCollective>
[[gnu::noinline, gnu::cold]] bool ran_beside_devices(Call call, CallInfo info) noexcept {
  if (!has_devices()) look_for_devices();
  if (has_devices() && has_device_buffers(call)) return false;
  return ran_on_fast_path<kCollective>(call, info);
}

}  // namespace unisono
