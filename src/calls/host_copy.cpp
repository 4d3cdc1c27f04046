#include "calls/host_copy.h"

#include <algorithm>
#include <limits>

#include "calls/sides.h"
#include "mpi/datatype.h"
#include "mpi/device_memory.h"

namespace unisono {

/// What a call says of one of its buffers.
struct HostCopy::Side {
  bool significant = false;
  long long count = 0;
  IntegerArray counts, displs;  ///< of blocks of different lengths, of which `ranks` there are
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const MPI_Datatype* types = nullptr;
  int ranks = 0;

  /// From the buffer's address: its first byte and the one behind its last. Empty: nothing.
  struct Range {
    Count begin = std::numeric_limits<Count>::max(), end = std::numeric_limits<Count>::min();
    bool is_empty() const { return begin >= end; }
    void include(Count at, Count many, const TypeFacts& facts) {
      if (many == 0 || facts.true_extent == 0) return;
      const Count last = at + (many - 1) * facts.extent;
      begin = std::min({begin, at + facts.true_lb, last + facts.true_lb});
      end = std::max(
          {end, at + facts.true_lb + facts.true_extent, last + facts.true_lb + facts.true_extent});
    }
  };
  Range range() const {
    Range range;
    if (!significant) return range;
    if (ranks == 0) {
      if (count > 0) range.include(0, count, facts_of(type));
      return range;
    }
    for (int i = 0; i < ranks; ++i) {
      if (counts[i] == 0) continue;
      const TypeFacts& facts = facts_of(types != nullptr ? types[i] : type);
      range.include(displs[i] * (types != nullptr ? 1 : facts.extent), counts[i], facts);
    }
    return range;
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
  side.count = call.sendcount * (blocks ? size : 1);
  if (!blocks || !is_irregular(c)) return side;
  side.ranks = size;
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
  side.count = call.recvcount * (blocks ? size : 1);
  if (!blocks || !is_irregular(c)) return side;
  side.ranks = size;
  side.counts = call.recvcounts;
  side.displs = call.rdispls;
  return side;
}

void* HostCopy::move(const Side& side, void* buffer, Span& span) {
  const Side::Range range = side.range();
  if (range.is_empty()) return buffer;
  std::byte* first = static_cast<std::byte*>(buffer) + range.begin;
  if (!is_on_device(first)) return buffer;
  span.device = first;
  span.bytes = static_cast<std::size_t>(range.end - range.begin);
  span.host = std::make_unique_for_overwrite<std::byte[]>(span.bytes);
  if (!copy_from_device(span.host.get(), first, span.bytes)) code_ = MPI_ERR_BUFFER;
  return span.host.get() - range.begin;
}

HostCopy::HostCopy(const Call& call, int rank, int size) : call_(call), code_(MPI_SUCCESS) {
  if (!has_devices()) return;
  call_.sendbuf = move(Side::sent(call, rank, size), const_cast<void*>(call.sendbuf), sent_);
  call_.recvbuf = move(Side::received(call, rank, size), call.recvbuf, received_);
}

int HostCopy::end(int code) const {
  if (code != MPI_SUCCESS || received_.device == nullptr) return code;
  return copy_to_device(received_.device, received_.host.get(), received_.bytes) ? MPI_SUCCESS
                                                                                 : MPI_ERR_BUFFER;
}

bool has_device_buffers(const Call& call) {
  return is_on_device(call.sendbuf == MPI_IN_PLACE ? nullptr : call.sendbuf) ||
         is_on_device(call.recvbuf == MPI_IN_PLACE ? nullptr : call.recvbuf);
}

}  // namespace unisono
