// Plans of the collectives that reduce.
#include "algorithms/composition.h"
#include "case.h"

namespace conformance {

namespace {

/// The MPI libraries themselves fail with user-defined operations on datatypes whose true lower
/// bound is not 0 or whose extent is not the true extent. MPICH 5.0.2: non-commutative
/// MPI_Reduce_scatter(_block) allocates by the true extent and writes by the extent; after a few
/// calls on a communicator, when collectives go through shared memory, commutative MPI_Reduce frees
/// a shifted address and MPI_Allreduce writes outside its segment. Open MPI 5.0.11: MPI_Allreduce's
/// ring writes outside its temporary memory. So the reference is computed with a plain datatype of
/// the same words, and such datatypes are used only when Unisono runs the call.
bool broken_native_reduction(const Type& type) {
  return type.first() != 0 || type.lb() != 0 || type.extent() != type.last();
}

}  // namespace

void Case::choose_reduction() {
  if (simplified_.types) {
    unit_.parts = {&basic_named("int")};
    reduction_ = {MPI_SUM, true, nullptr, "sum", "sum"};
  } else if (common_.chance(40)) {
    reduction_ = random_user_reduction(common_, in_.large);
    unit_.parts.assign(static_cast<std::size_t>(reduction_->user->words), &basic_named("uint32_t"));
  } else if (common_.chance(20)) {
    unit_.pair = &common_.pick(pairs());
    unit_.parts = {unit_.pair->value, &basic_named("int")};
    reduction_ = random_pair_reduction(common_);
  } else {
    unit_.parts = {&random_reducible(common_)};
    reduction_ = random_builtin(common_, *unit_.parts.front());
  }
}

/// All ranks pass the same type: MPI asks for it in reductions.
const Type& Case::reduction_type(long long instances) {
  if (reduction_->user != nullptr) {
    types_.push_back(
        random_type(common_, unit_, static_cast<int>(common_.between(1, 3)), instances));
    plain_reference_ = broken_native_reduction(types_.back());
    const unisono::Composition* grid = spec_.params.composition;
    const bool calls_library = grid != nullptr && unisono::has_calls(*grid);
    if (plain_reference_ && (own_expected() != true || calls_library)) {
      plain_reference_ = false;
      const auto words = static_cast<int>(types_.back().map().size());
      types_.push_back(contiguous(words, predefined(*unit_.parts.front())));
    }
    reduced_ = &types_.back();
    register_type(*reduced_);
  } else {
    types_.push_back(unit_.pair != nullptr ? predefined(*unit_.pair)
                                           : predefined(*unit_.parts.front()));
  }
  return types_.back();
}

void Case::plan_reduction() {
  choose_reduction();
  const long long count = random_length();
  long long whole = count, mine = count;
  if (in_.collective == Collective::reduce_scatter_block) whole = count * size_;
  if (in_.collective == Collective::reduce_scatter) {
    whole = 0;
    for (int i = 0; i < size_; ++i) {
      in_.recvcounts.push_back(common_.chance(25) ? 0 : common_.below(count + 3));
      whole += in_.recvcounts.back();
    }
    mine = in_.recvcounts[static_cast<std::size_t>(rank_)];
  }
  const Type& type = reduction_type(whole);
  in_.recvcount = count;
  in_.recvtype = type.handle();
  in_.op = reduction_->op;
  in_place_ = common_.chance(30);
  // Where MPI lets ranks differ, they do in half of the calls.
  if (unisono::semantics(in_.collective).in_place == unisono::InPlace::each && common_.chance(50))
    in_place_ = local_.chance(50);
  in_place_ = in_place_ && !simplified_.in_place;
  const bool scatters = in_.collective == Collective::reduce_scatter ||
                        in_.collective == Collective::reduce_scatter_block;

  const bool receives = in_.collective != Collective::reduce || is_root();
  // MPICH 4.0.2 crashes where the root is another than rank 0.
  const bool broken = is_old_mpich() && in_.root != 0;
  if (in_.collective == Collective::reduce && (!is_root() || broken)) in_place_ = false;
  if (in_place_) {
    send_argument_ = Argument::in_place;
    if (scatters) undefined_blocks_ = {{&type, whole, 0}};
  } else {
    send_argument_ = Argument::buffer;
    send_blocks_ = {{&type, whole, 0}};
  }
  if (receives) {
    recv_argument_ = Argument::buffer;
    recv_blocks_ = {{&type, mine, 0}};
  } else {
    recv_argument_ = local_.chance(50) ? Argument::null : Argument::buffer;
  }
  // MPI-4.1, 6.11.2: rank 0's result is undefined, but in place its buffer is not changed.
  if (in_.collective == Collective::exscan && rank_ == 0)
    recv_expect_ = in_place_ ? Expect::untouched : Expect::undefined;
}

void Case::invoke_plain_reduction(Buffer& native) {
  const Type plain =
      contiguous(static_cast<int>(reduced_->map().size()), predefined(*unit_.parts.front()));
  register_type(plain);
  std::vector<std::uint8_t> sent, received;
  for (const Block& b : send_blocks_) send_.pack(b, sent);
  // In place MPI_Reduce_scatter reads more than it writes.
  for (const Block& b : undefined_blocks_.empty() ? recv_blocks_ : undefined_blocks_)
    native.pack(b, received);
  Invocation in = in_;
  in.recvtype = plain.handle();
  in.sendbuf = in_place_ ? MPI_IN_PLACE : sent.data();
  in.recvbuf = received.data();
  invoke(in, EntryPoint::native);
  for (const Block& b : recv_blocks_) native.unpack(b, received.data());
  unregister_type(plain);
}

}  // namespace conformance
