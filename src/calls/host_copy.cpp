#include "calls/host_copy.h"

#include <algorithm>
#include <limits>

#include "calls/refused_buffers.h"
#include "calls/sides.h"
#include "mpi/argument_checks.h"
#include "mpi/datatype.h"
#include "mpi/device_memory.h"

namespace unisono {

/// From the buffer's address: its first byte and the one behind its last. Empty: nothing.
struct HostCopy::Range {
  Count begin = std::numeric_limits<Count>::max(), end = std::numeric_limits<Count>::min();
  bool is_empty() const { return begin >= end; }
  std::size_t bytes() const { return static_cast<std::size_t>(end - begin); }

  static Range of(const Block& block) {
    Range range;
    if (block.count <= 0) return range;
    const TypeFacts& facts = facts_of(block.type);
    if (facts.true_extent == 0) return range;
    const Count last = block.at + (block.count - 1) * facts.extent;
    range.begin = std::min(block.at, last) + facts.true_lb;
    range.end = std::max(block.at, last) + facts.true_lb + facts.true_extent;
    return range;
  }
};

/// What a call says of one of its buffers.
struct HostCopy::Side {
  bool significant = false;
  long long count = 0;
  IntegerArray counts, displs;  ///< of blocks of different lengths, of which `ranks` there are
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const MPI_Datatype* types = nullptr;
  int ranks = 0;

  /// with(block) for each.
  template <class Do>
  void for_blocks(Do with) const {
    if (!significant) return;
    if (ranks == 0) with(Block{0, count, type});
    for (int i = 0; i < ranks; ++i) {
      if (counts[i] == 0) continue;
      const MPI_Datatype its = types != nullptr ? types[i] : type;
      const bool in_bytes = types != nullptr || its == MPI_DATATYPE_NULL;
      with(Block{displs[i] * (in_bytes ? 1 : facts_of(its).extent), counts[i], its});
    }
  }
  Range range() const {
    Range all;
    for_blocks([&all](const Block& block) {
      const Range range = Range::of(block);
      all = {std::min(all.begin, range.begin), std::max(all.end, range.end)};
    });
    return all;
  }

  static Side sent(const Call& call, int rank, int size);
  static Side received(const Call& call, int rank, int size);
};

namespace {

long long total(const IntegerArray& counts, int size) {
  long long sum = 0;
  for (int i = 0; i < size; ++i) sum += counts[i];
  return sum;
}

}  // namespace

HostCopy::Side HostCopy::Side::sent(const Call& call, int rank, int size) {
  using enum Collective;
  const Collective c = call.collective;
  Side side;
  if (c == barrier || call.sendbuf == MPI_IN_PLACE) return side;
  if (is_reducing(c)) {
    side.significant = true;
    side.type = call.recvtype;
    side.count = c == reduce_scatter         ? total(call.recvcounts, size)
                 : c == reduce_scatter_block ? call.recvcount * size
                                             : call.recvcount;
    return side;
  }
  side.significant = has_send_side(call, rank);
  const bool blocks = sends_blocks(call, rank);
  side.type = call.sendtype;
  side.types = call.sendtypes;
  side.count = call.sendcount * (blocks ? sent_blocks(call, size) : 1);
  if (!blocks || !is_irregular(c)) return side;
  side.ranks = sent_blocks(call, size);
  side.counts = call.sendcounts;
  side.displs = call.sdispls;
  return side;
}

HostCopy::Side HostCopy::Side::received(const Call& call, int rank, int size) {
  using enum Collective;
  const Collective c = call.collective;
  Side side;
  if (c == barrier || call.recvbuf == MPI_IN_PLACE) return side;
  side.type = call.recvtype;
  if (is_reducing(c)) {
    side.significant = c != reduce || rank == call.root;
    const bool whole = call.sendbuf == MPI_IN_PLACE;  // where it is the input as well
    side.count = c == reduce_scatter
                     ? (whole ? total(call.recvcounts, size) : call.recvcounts[rank])
                 : c == reduce_scatter_block && whole ? call.recvcount * size
                                                      : call.recvcount;
    return side;
  }
  side.significant = has_receive_side(call, rank);
  const bool blocks = receives_blocks(call, rank);
  side.types = call.recvtypes;
  side.count = call.recvcount * (blocks ? received_blocks(call, size) : 1);
  if (!blocks || !is_irregular(c)) return side;
  side.ranks = received_blocks(call, size);
  side.counts = call.recvcounts;
  side.displs = call.rdispls;
  return side;
}

void* HostCopy::move(const Side& side, void* buffer, Bytes& host) {
  const Range range = side.range();
  if (range.is_empty()) return buffer;
  std::byte* first = static_cast<std::byte*>(buffer) + range.begin;
  if (!is_on_device(first)) return buffer;
  host = std::make_unique_for_overwrite<std::byte[]>(range.bytes());
  if (!copy_from_device(host.get(), first, range.bytes())) code_ = MPI_ERR_BUFFER;
  return host.get() - range.begin;
}

/// The arrays of the call may be the program's again before the end.
void HostCopy::keep_blocks(const Side& side) {
  std::size_t longest = 0;
  side.for_blocks([&](const Block& block) {
    const Range range = Range::of(block);
    if (range.is_empty()) return;
    if (!facts_of(block.type).dense) longest = std::max(longest, range.bytes());
    blocks_.push_back(block);
  });
  if (longest > 0) masked_ = std::make_unique_for_overwrite<std::byte[]>(2 * longest);
}

HostCopy::HostCopy(const Call& call, int rank, int size) : call_(call) {
  if (!has_devices()) return;
  call_.sendbuf = move(Side::sent(call, rank, size), const_cast<void*>(call.sendbuf), sent_);
  const Side received = Side::received(call, rank, size);
  call_.recvbuf = move(received, call.recvbuf, received_);
  if (received_ == nullptr) return;
  device_ = static_cast<std::byte*>(call.recvbuf);
  host_ = static_cast<std::byte*>(call_.recvbuf);
  // MPI_Bcast's root has one buffer, which is only read.
  const CallSide send = semantics(call.collective).send;
  const bool only_sends =
      send.who == Who::root && send.shape == SideShape::nothing && rank == call.root;
  if (!only_sends) keep_blocks(received);
}

bool HostCopy::give_back(const Range& range) const {
  return range.is_empty() ||
         copy_to_device(device_ + range.begin, host_ + range.begin, range.bytes());
}

/// With gaps, where others may write meanwhile: run by run. The runs are what two copies, onto
/// memory of zeros and of ones, have in common.
bool HostCopy::give_back(const Block& block) const {
  const Range range = Range::of(block);
  std::byte *const zeros = masked_.get(), *const ones = zeros + range.bytes();
  std::fill_n(zeros, range.bytes(), std::byte{0});
  std::fill_n(ones, range.bytes(), std::byte{0xff});
  for (std::byte* image : {zeros, ones})
    if (copy_elements(host_ + block.at, image - range.begin + block.at, block.count, block.type,
                      facts_of(block.type)) != MPI_SUCCESS)
      return false;
  const std::byte* const end = ones;
  for (std::byte* at = zeros; at != end;) {
    const auto of_ones = [&](const std::byte* one) { return one + range.bytes(); };
    const std::byte* begin = at;
    while (at != end && *at == *of_ones(at)) ++at;
    if (at != begin && !copy_to_device(device_ + range.begin + (begin - zeros), begin,
                                       static_cast<std::size_t>(at - begin)))
      return false;
    while (at != end && *at != *of_ones(at)) ++at;
  }
  return true;
}

int HostCopy::end(int code) const {
  if (code_ != MPI_SUCCESS || code != MPI_SUCCESS) return code_ != MPI_SUCCESS ? code_ : code;
  bool good = true;
  Range run;  // of blocks without gaps, one behind the other
  for (const Block& block : blocks_) {
    if (!facts_of(block.type).dense) {
      good &= give_back(block);
      continue;
    }
    const Range range = Range::of(block);
    if (range.begin == run.end) {
      run.end = range.end;
    } else {
      good &= give_back(run);
      run = range;
    }
  }
  good &= give_back(run);
  return good ? MPI_SUCCESS : MPI_ERR_BUFFER;
}

namespace {

#ifdef MPICH_NAME
constexpr bool kRefusesOneBuffer = true;
#else
constexpr bool kRefusesOneBuffer = false;
#endif

/// As MPICH compares them: counts and datatypes of each rank's by their addresses.
[[maybe_unused]] bool has_equal_sides(const Call& call) {
  return call.sendtype == call.recvtype && call.sendtypes == call.recvtypes &&
         call.sendcount == call.recvcount && call.sendcounts.is(call.recvcounts);
}

/// Of calls that send and receive elements in one buffer. MPICH 5.0.2 was seen to refuse all of
/// these on every rank, Open MPI 4.1 and 5.0 sums of two elements and more.
bool is_one_buffer_refused(const Call& call) {
  using enum Collective;
  if (call.collective == reduce) return refuses_one_buffer(reduce);
#ifdef OPEN_MPI
  return call.collective == allreduce && call.recvcount > 1 && refuses_one_buffer(allreduce);
#else
  if (!kRefusesOneBuffer) return false;
  if (contains(set_of(alltoall, alltoallv, alltoallw), call.collective))
    return has_equal_sides(call);
  return contains(set_of(allreduce, reduce_scatter, reduce_scatter_block, scan, exscan),
                  call.collective);
#endif
}

/// Elements of a datatype that places them elsewhere (MPI_BOTTOM) are not at the address itself.
bool is_at_address(const TypeFacts& facts) { return facts.size > 0 && facts.true_lb == 0; }

}  // namespace

bool HostCopy::is_refused(const Call& call, int rank, int size) {
  const bool nothing_before =
      semantics(call.collective).combines == Combines::ranks_before && rank == 0;
  if (call.collective == Collective::reduce_scatter && !call.recvcounts) return false;
  const auto has_elements = [](const Side& side) {
    if (side.ranks > 0 && (!side.counts || !side.displs)) return false;
    bool found = false;
    side.for_blocks([&found](const Block& block) {
      // Displacements from MPI_BOTTOM, which is null, may be addresses.
      found = found || (block.at == 0 && block.count > 0 && block.type != MPI_DATATYPE_NULL &&
                        is_at_address(facts_of(block.type)));
    });
    return found;
  };
  const bool sends = has_elements(Side::sent(call, rank, size));
  const bool receives = has_elements(Side::received(call, rank, size));
  if (sends && call.sendbuf == nullptr) return true;
  if (receives && call.recvbuf == nullptr && !nothing_before) return true;
  return sends && receives && call.sendbuf == call.recvbuf && is_one_buffer_refused(call);
}

bool has_refused_buffers(Call call, int rank, int size) {
  return HostCopy::is_refused(call, rank, size);
}

// As MPICH 5.0.2 compares them.
bool has_refused_block(Call call) {
  const bool regular = !is_irregular(call.collective);
  return kRefusesOneBuffer && call.sendbuf != MPI_BOTTOM && call.recvbuf != MPI_BOTTOM &&
         call.sendtype == call.recvtype &&
         (regular ? call.sendcount == call.recvcount && call.sendcount != 0
                  : call.sendcount != 0 || call.recvcount != 0) &&
         refuses_one_buffer(call.collective);
}

bool is_unused_place_refused() {
  return kRefusesOneBuffer && refuses_one_buffer(Collective::exscan);
}

bool has_device_buffers(const Call& call) {
  return is_on_device(call.sendbuf == MPI_IN_PLACE ? nullptr : call.sendbuf) ||
         is_on_device(call.recvbuf == MPI_IN_PLACE ? nullptr : call.recvbuf);
}

}  // namespace unisono
