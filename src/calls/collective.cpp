#include "calls/collective.h"

#include <climits>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "algorithms/composition.h"
#include "calls/bound_call.h"
#include "calls/group_calls.h"
#include "exec/messages.h"
#include "schedule/flow_control.h"

namespace unisono {

namespace {

/// The bytes by which plans are told apart: everything that a schedule depends on.
class Key {
 public:
  explicit Key(std::string& memory) : bytes_(memory) { bytes_.clear(); }
  template <class T>
  void add(const T& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void add(std::span<const Count> values) {
    add(values.size());
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  }
  void add(const Layout& layout) {
    add(layout.count);
    add(layout.counts);
    add(layout.displs);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string& bytes_;
};

// Size and rank are those of the communicator that holds the cache.
void describe(Key& key, const Algorithm& algorithm, const Args& args) {
  key.add(reinterpret_cast<std::uintptr_t>(&algorithm));
  key.add(args.collective);
  key.add(args.in_place);
  key.add(args.commutative);
  key.add(args.all_counts_known);
  key.add(args.root);
  key.add(args.count);
  key.add(args.unit_bytes);
  key.add(args.params.segment);
  key.add(args.params.radix);
  key.add(args.params.window);
  key.add(args.params.pause);
  key.add(reinterpret_cast<std::uintptr_t>(args.params.composition));  // interned
  key.add(reinterpret_cast<std::uintptr_t>(args.params.late));         // interned
  key.add(args.send);
  key.add(args.recv);
  key.add(args.matrix);
}

std::shared_ptr<const Plan> plan_for(Communicator& communicator, const Algorithm& algorithm,
                                     const Args& args) {
  Key key(communicator.key_memory());
  describe(key, algorithm, args);
  if (auto plan = communicator.plans().find(key.bytes())) return plan;
  auto plan = std::make_shared<const Plan>(limit_sends(build(algorithm, args), kSendsUnderWay));
  communicator.plans().store(key.bytes(), plan);
  return plan;
}

int execute(Communicator& communicator, const Algorithm& algorithm, const Args& args,
            Binding binding, WaitMode wait) {
  binding.comm = communicator.own();
  binding.rank = communicator.rank();
  GroupCalls groups(communicator.groups());
  binding.groups = &groups;
  binding.first_tag = communicator.next_tags();
  if (args.params.transport == TransportKind::shm) {
    communicator.messages()->begin_call();
    binding.messenger = &communicator.messages()->messenger();
  }
  const auto plan = plan_for(communicator, algorithm, args);
  Execution& execution = communicator.execution();
  if (const int rc = execution.start(*plan, binding); rc != MPI_SUCCESS) return rc;
  return execution.finish(wait);
}

/// Supplies the counts that an algorithm wants on all ranks and MPI gives to some: those of the
/// root by a broadcast (gatherv, scatterv), the rows of the matrix by an allgather (alltoallv).
/// This is "level 1" of CC-MPI: control is exchanged in every call.
class CountExchange {
 public:
  int broadcast(Communicator& communicator, Args& args, WaitMode wait) {
    Layout& layout = args.collective == Collective::gatherv ? args.recv : args.send;
    values_.assign(layout.counts.begin(), layout.counts.end());
    values_.resize(static_cast<std::size_t>(args.size));
    Args inner = inner_args(Collective::bcast, args);
    inner.root = args.root;
    inner.count = static_cast<Count>(values_.size() * sizeof(Count));
    const int rc = run(communicator, inner, "binomial", wait);
    layout.counts = values_;
    args.all_counts_known = true;
    return rc;
  }

  int allgather(Communicator& communicator, Args& args, WaitMode wait) {
    const auto p = static_cast<std::size_t>(args.size);
    const Layout& row = args.in_place ? args.recv : args.send;
    values_.resize(p * p);
    std::copy(row.counts.begin(), row.counts.end(),
              values_.begin() + args.rank * static_cast<std::ptrdiff_t>(p));
    Args inner = inner_args(Collective::allgather, args);
    inner.in_place = true;
    inner.count = inner.send.count = inner.recv.count = static_cast<Count>(p * sizeof(Count));
    const int rc = run(communicator, inner, "circulant", wait);
    args.matrix = values_;
    return rc;
  }

 private:
  static Args inner_args(Collective collective, const Args& args) {
    Args inner;
    inner.collective = collective;
    inner.rank = args.rank;
    inner.size = args.size;
    inner.params.transport = args.params.transport;
    return inner;
  }

  int run(Communicator& communicator, const Args& args, std::string_view algorithm, WaitMode wait) {
    Binding binding;
    binding.output = reinterpret_cast<std::byte*>(values_.data());
    return execute(communicator, *find_algorithm(args.collective, algorithm), args, binding, wait);
  }

  std::vector<Count> values_;
};

/// The MPI library's collectives of MPI 3 count in int. All ranks know these counts.
bool fits_library(const Args& args) {
  using enum Collective;
  if (args.collective == scatterv) return args.send.total(0, args.size) <= INT_MAX;
  if (is_irregular(args.collective)) return args.recv.total(0, args.size) <= INT_MAX;
  if (args.collective == alltoall) return args.count * args.size <= INT_MAX / args.size;
  const bool blocks =
      contains(set_of(gather, scatter, allgather, reduce_scatter_block), args.collective);
  return args.count <= INT_MAX / (blocks ? args.size : 1);
}

}  // namespace

std::optional<int> run_collective(Communicator& communicator, const Call& call,
                                  const Choice& choice, bool commutative, WaitMode wait) {
  BoundCall prepared(call, communicator.rank(), communicator.size(), commutative);
  prepared.args.params = choice.params;
  const Packer packer{communicator.own(), communicator.rank()};
  CountExchange exchange;
  int rc = MPI_SUCCESS;
  if (is_irregular(call.collective)) {
    if ((choice.algorithm->restrictions & kAllCounts) != 0)
      rc = exchange.broadcast(communicator, prepared.args, wait);
    else if ((choice.algorithm->restrictions & kMatrix) != 0)
      rc = exchange.allgather(communicator, prepared.args, wait);
  }
  const Composition* composition = choice.params.composition;
  if (rc == MPI_SUCCESS && composition != nullptr && has_calls(*composition) &&
      !fits_library(prepared.args))
    return std::nullopt;
  if (rc == MPI_SUCCESS) rc = prepared.pack_inputs(packer);
  if (rc == MPI_SUCCESS)
    rc = execute(communicator, *choice.algorithm, prepared.args, prepared.binding, wait);
  if (rc == MPI_SUCCESS) rc = prepared.unpack_outputs(packer);
  return rc;
}

}  // namespace unisono
