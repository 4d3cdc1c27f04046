#include "calls/in_node.h"
#include "calls/call_word.h"

#include <cstring>
#include <new>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "calls/bound_call.h"
#include "calls/fast_path.h"
#include "calls/neighbours_as_ranks.h"
#include "exec/kernel_reduction.h"
#include "node/rule.h"

namespace unisono {

namespace {

using enum Collective;
using node::Protocol;
using node::Reduction;
using node::Team;

/// Elements that a rank gets of a reduction.
std::size_t received(const Args& args) {
  const Semantics& s = semantics(args.collective);
  if (s.receive.who == Who::root && !args.is_root()) return 0;
  if (s.combines == Combines::ranks_before && args.rank == 0) return 0;
  const Count count = is_irregular(s.send.shape)
                          ? args.recv.counts[static_cast<std::size_t>(args.rank)]
                          : args.count;
  return static_cast<std::size_t>(count);
}

void run_irregular(Team& team, const Args& args, const KernelData& data, const Reduction* reduction,
                   Protocol way) {
  const auto [input, output, bytes, count] = data;
  const Layout& send = args.in_place ? args.recv : args.send;
  switch (args.collective) {
    case gatherv:
      return node::gatherv(team, input, bytes, output, args.recv.counts, args.recv.displs,
                           args.root, way);
    case scatterv:
      return node::scatterv(team, input, args.send.counts, args.send.displs, output, bytes,
                            args.root, way);
    case allgatherv:
      return node::allgatherv(team, input, output, args.recv.counts, args.recv.displs, way);
    case alltoallv:
    case alltoallw:
      return node::alltoallv(team, input, send.counts, send.displs, output, args.recv.counts,
                             args.recv.displs, way);
    case reduce_scatter:
      // Who receives nothing may give any address, but is not in place.
      return node::reduce_scatter(team, input,
                                  args.in_place || received(args) > 0 ? output : nullptr,
                                  args.recv.counts, *reduction, way);
    default: break;
  }
}

/// Where this rank's block begins in what it gathers or scatters.
Count own_block(const Args& args) {
  const Semantics& s = semantics(args.collective);
  const bool scatters = is_per_peer(s.send.shape), gathers = is_per_peer(s.receive.shape);
  if (s.is_reducing() || scatters == gathers) return 0;
  if (!is_irregular(args.collective)) return args.rank * args.count;
  return (scatters ? args.send : args.recv).displs[static_cast<std::size_t>(args.rank)];
}

/// Elements that a rank gives to a reduction.
std::size_t reduced(const Args& args) {
  const SideShape shape = semantics(args.collective).send.shape;
  if (shape == SideShape::block) return static_cast<std::size_t>(args.count);
  if (shape == SideShape::blocks) return static_cast<std::size_t>(args.count * args.size);
  const auto& counts = args.recv.counts;
  return static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), Count{0}));
}

/// Memory for a reduction whose elements have gaps: kernels move whole extents, and MPI leaves the
/// gaps of the result as they were, and does not even say that there is memory behind the last
/// element. Such are the pairs of a value and an index behind it only.
class WithoutGaps {
 public:
  WithoutGaps(const Args& args, const TypeFacts& facts, const std::byte* input)
      : facts_(facts), input_(reduced(args) * extent()), result_(received(args) * extent()) {
    copy(input, input_.data(), input_.size());
  }

  const std::byte* input() const { return input_.data(); }
  std::byte* result() { return result_.data(); }
  void copy_to(std::byte* output) const { copy(result_.data(), output, result_.size()); }

 private:
  std::size_t extent() const { return static_cast<std::size_t>(facts_.extent); }
  void copy(const std::byte* from, std::byte* to, std::size_t bytes) const {
    const auto index = static_cast<std::size_t>(facts_.true_extent) - sizeof(int);
    const auto value = static_cast<std::size_t>(facts_.size) - sizeof(int);
    for (std::size_t at = 0; at < bytes; at += extent()) {
      std::memcpy(to + at, from + at, value);
      std::memcpy(to + at + index, from + at + index, sizeof(int));
    }
  }

  const TypeFacts& facts_;
  std::vector<std::byte> input_, result_;
};

/// args.count: what this rank moves itself, or all ranks reduce.
void run(Team& team, const Args& args, const std::byte* input, std::byte* output,
         const Binding& binding, Protocol way) {
  if (args.neighbours != nullptr)
    return run_as_alltoallv(args, input, output,
                            [&](auto... sides) { node::alltoallv(team, sides..., way); });
  const auto count = static_cast<std::size_t>(args.count);
  KernelData data{input, output, count, count};
  if (args.in_place) data.in_place(args.collective, own_block(args));
  std::optional<WithoutGaps> gaps;
  if (is_reducing(args.collective) && !binding.unit.dense) {
    gaps.emplace(args, binding.unit, data.input);
    data.input = gaps->input();
    data.output = gaps->result();
  }
  std::optional<KernelReduction> reduction;
  if (is_reducing(args.collective)) reduction.emplace(binding.op, binding.type, binding.unit);
  const Reduction* how = reduction ? &reduction->get() : nullptr;
  if (is_irregular(args.collective))
    run_irregular(team, args, data, how, way);
  else
    run_regular(team, args.collective, args.root, data, how, way);
  if (gaps) gaps->copy_to(output);
}

/// A block for each rank where the program has them; false: some datatype is not plain. A block of
/// nothing may have any, and be anywhere.
bool plain_blocks(BlockList& list, const IntegerArray& counts, const IntegerArray& displs,
                  MPI_Datatype type, const MPI_Datatype* types, int size, Layout& layout) {
  list.counts.resize(static_cast<std::size_t>(size));
  list.displs.resize(static_cast<std::size_t>(size));
  const TypeFacts* facts = nullptr;
  for (int i = 0; i < size; ++i) {
    const Count count = counts[i];
    const auto at = static_cast<std::size_t>(i);
    list.counts[at] = list.displs[at] = 0;
    if (count == 0) continue;
    if (types != nullptr || facts == nullptr) facts = &facts_of(types == nullptr ? type : types[i]);
    if (!is_plain(*facts)) return false;
    list.counts[at] = count * facts->size;
    list.displs[at] = displs[i] * (types == nullptr ? facts->extent : 1);
  }
  layout.counts = list.counts;
  layout.displs = list.displs;
  return true;
}

/// What BoundCall finds out of a call with blocks of different lengths, in bytes, where nothing has
/// to be packed; else, or without memory, nothing. `kinds`: its memory.
std::optional<Args> plain_args(KnownKinds& kinds, const Call& call, int rank, int size) noexcept
    try {
  Args args;
  args.collective = call.collective;
  args.rank = rank;
  args.root = call.root;
  args.in_place = is_in_place(call, rank);
  if (has_shorter_block(call, rank)) return std::nullopt;
  // Blocks to send and to receive in one array: to the kernel this would be in place.
  if (!args.in_place && has_matrix(semantics(call.collective)) && call.sendbuf == call.recvbuf)
    return std::nullopt;
  if (is_reducing(call.collective)) {  // counts elements
    kinds.received.counts.resize(static_cast<std::size_t>(size));
    for (int i = 0; i < size; ++i)
      kinds.received.counts[static_cast<std::size_t>(i)] = call.recvcounts[i];
    args.recv.counts = kinds.received.counts;
    return args;
  }
  const auto read = [&](bool blocks, BlockList& list, const IntegerArray& counts,
                        const IntegerArray& displs, Count count, MPI_Datatype type,
                        const MPI_Datatype* types, Layout& layout) {
    if (blocks) return plain_blocks(list, counts, displs, type, types, size, layout);
    const TypeFacts& facts = facts_of(type);
    args.count = count * facts.size;
    return is_plain(facts);
  };
  if (has_send_side(call, rank) &&
      !read(sends_blocks(call, rank), kinds.sent, call.sendcounts, call.sdispls, call.sendcount,
            call.sendtype, call.sendtypes, args.send))
    return std::nullopt;
  if (has_receive_side(call, rank) &&
      !read(receives_blocks(call, rank), kinds.received, call.recvcounts, call.rdispls,
            call.recvcount, call.recvtype, call.recvtypes, args.recv))
    return std::nullopt;
  return args;
} catch (const std::bad_alloc&) {
  return std::nullopt;
}

/// Blocks one behind the other, of units of so many bytes.
struct AdjacentBytes {
  AdjacentBytes(std::span<const Count> lengths, Count unit) {
    Count total = 0;
    for (const Count length : lengths) {
      counts.push_back(unit * length);
      displs.push_back(std::exchange(total, total + counts.back()));
    }
  }
  std::vector<Count> counts, displs;
};

/// What the rule chooses; nothing where that depends on lengths that differ.
Protocol ruled(const Team& team, Collective collective, std::size_t bytes, int root) {
  const auto ranks = static_cast<std::size_t>(team.size());
  switch (collective) {
    case barrier: return node::barrier_rule(team);
    case bcast: return node::bcast_rule(team, bytes, true);
    case gather: return node::gather_rule(team, bytes, root, true);
    case scatter: return node::scatter_rule(team, bytes, true);
    case allgather: return node::allgather_rule(team, bytes, true);
    case alltoall: return node::alltoall_rule(team, bytes, true);
    case reduce: return node::reduce_rule(team, bytes, root, true);
    case allreduce: return node::allreduce_rule(team, bytes, true);
    case reduce_scatter_block: return node::reduce_scatter_block_rule(team, bytes / ranks, true);
    case scan: return node::scan_rule(team, bytes, true);
    case exscan: return ranks == 2 ? Protocol::rule : node::scan_rule(team, bytes, true);
    default: return Protocol::rule;
  }
}

/// The same once and for all calls of a kind: nothing where it depends on the root.
Protocol resolved(const Team& team, Collective collective, std::size_t bytes, Protocol way) {
  const bool depends = team.levels() && (collective == gather || collective == reduce);
  return way == Protocol::rule && !depends ? ruled(team, collective, bytes, 0) : way;
}

/// Whether something of the call may be in a slot; else each message fits into a cell. The same on
/// all ranks.
bool may_use_slots(const Team& team, const Call& call, std::size_t bytes, Protocol way) {
  const Collective c = call.collective;
  if (semantics(c).measure == Measure::nothing) return false;
  if (is_irregular(c) || is_among_neighbours(c)) return true;
  if (bytes * static_cast<std::size_t>(team.size()) > node::kInline) return true;
  if (is_reducing(c) && !facts_of(call.recvtype).dense) return true;
  if (way == Protocol::rule) way = ruled(team, c, bytes, call.root);
  return way == Protocol::direct || way == Protocol::slices || way == Protocol::chain;
}

/// What the next such call need not find out again.
void learn(KnownKinds& kinds, const Call& call, Count bytes, Protocol way, CallsToPass* to_pass) {
  // Which roots it can serve is looked at in every call (node::unmet).
  if (way == Protocol::levels && is_rooted(call.collective)) return;
  if (call.neighbours != nullptr) return;  // none comes on the fast path
  KnownKind kind{bytes, call.op, call.recvtype, {}, way, to_pass};
  if (is_reducing(call.collective)) {
    const TypeFacts& type = facts_of(call.recvtype);
    const auto reduction = built_in_reduction(call.op, call.recvtype, type);
    if (!reduction || !type.dense) return;
    kind.reduction = *reduction;
  }
  kinds.of(call.collective, bytes) = kind;
}

}  // namespace

bool run_plain_blocks(Communicator& communicator, KnownKinds& kinds, const Call& call,
                      const KnownKind& kind) {
  NodeTeam& team = kinds.team();
  const auto args = plain_args(kinds, call, team.team().rank(), team.team().size());
  if (!args || !kind.passes()) return false;
  const auto count = static_cast<std::size_t>(args->count);
  KernelData data{static_cast<const std::byte*>(call.sendbuf),
                  static_cast<std::byte*>(call.recvbuf), count, count};
  if (args->in_place) data.in_place(call.collective, own_block(*args));
  team.make_call(word_of(call, kind.bytes), communicator.attendance().call(),
                 [&] { run_irregular(team.team(), *args, data, &kind.reduction, kind.way); });
  return true;
}

void run_in_node(node::Team& team, const GroupCall& call, const std::byte* input, std::byte* output,
                 const Binding& binding) {
  if (call.collective == alltoallv) {
    const AdjacentBytes sent(call.sent_by(team.rank()), binding.unit.size);
    const AdjacentBytes received(call.received_by(team.rank()), binding.unit.size);
    return node::alltoallv(team, input, sent.counts, sent.displs, output, received.counts,
                           received.displs);
  }
  // In a reduction what is only moved is counted in elements as well.
  const Count unit = is_reducing(call.collective) ? 1 : binding.unit.size;
  const AdjacentBytes blocks(call.counts, unit);
  const auto& [counts, displs] = blocks;
  Args args;
  args.collective = call.collective;
  args.rank = team.rank();
  args.size = team.size();
  args.root = call.root;
  args.in_place = call.in_place;
  args.count = counts.empty() ? unit * call.count : counts[static_cast<std::size_t>(args.rank)];
  args.send.counts = args.recv.counts = counts;
  args.send.displs = args.recv.displs = displs;
  run(team, args, input, output, binding, Protocol::rule);
}

std::optional<int> run_in_node(Communicator& communicator, const Call& call, Count bytes,
                               Protocol way, bool is_known, CallsToPass* to_pass) try {
  // The order of ranks is kept, whether the operation commutes or not.
  BoundCall prepared(call, communicator.rank(), communicator.size(), false);
  const Args& args = prepared.args;
  if (const int rc = prepared.pack_inputs(); rc != MPI_SUCCESS) return rc;
  if (call.collective == gatherv) prepared.args.count = args.send.count;
  NodeTeam& team = *communicator.team();
  bool has_run = false;
  unsigned epoch = 0;
  team.make_call(word_of(call, bytes), communicator.attendance().call(), [&] {
    if (may_use_slots(team.team(), call, static_cast<std::size_t>(bytes), way) && !team.make_room())
      return;
    epoch = team.team().epoch();
    run(team.team(), args, prepared.binding.input, prepared.binding.output, prepared.binding, way);
    has_run = true;
  });
  if (!has_run) return std::nullopt;
  if (const int rc = prepared.unpack_outputs(); rc != MPI_SUCCESS) return rc;
  // Not where another choice has come due meanwhile: the ranks that knew the kind ask the rule
  // again.
  KnownKinds* kinds =
      is_known && team.team().epoch() == epoch ? communicator.known_kinds() : nullptr;
  if (kinds != nullptr)
    learn(*kinds, call, bytes,
          resolved(team.team(), call.collective, static_cast<std::size_t>(bytes), way), to_pass);
  return MPI_SUCCESS;
} catch (const node::Truncated&) {
  return MPI_ERR_TRUNCATE;
}

int combine_numbers(Communicator& communicator, std::span<const std::int64_t> own,
                    std::span<std::int64_t> all, MPI_Op op) {
  const auto count = static_cast<int>(own.size());
  const Call call{.collective = allreduce,
                  .sendbuf = own.data(),
                  .recvbuf = all.data(),
                  .recvcount = count,
                  .recvtype = MPI_INT64_T,
                  .op = op,
                  .comm = communicator.handle()};
  std::optional<int> code;
  if (communicator.known_kinds() != nullptr)
    code = run_in_node(communicator, call, static_cast<Count>(own.size_bytes()), Protocol::rule,
                       false);
  return code ? *code
              : PMPI_Allreduce(own.data(), all.data(), count, MPI_INT64_T, op,
                               communicator.handle());
}

}  // namespace unisono
