// More than 2 GiB in one collective, by the _c forms where the MPI library has them and by a large
// contiguous datatype, with every algorithm that serves the collective.
//
//   mpiexec -n 2 large_count [algorithm...]
//
// On demand only: a rank needs 8 GiB at a time. Skipped when the machine has less to offer.
#include <algorithm>
#include <cstdint>
#include <fstream>

#include "check.h"

namespace {

using unisono::Collective;

constexpr long long kPiece = 1 << 20;
constexpr long long kPieces = 2049;  // of a megabyte each: 2 GiB and one
constexpr long long kBytes = kPiece * kPieces;
/// Of one rank where every rank has one: two of them are more than 2 GiB.
constexpr long long kBlockPieces = kPieces / 2 + 1;
constexpr long long kBlock = kBlockPieces * kPiece;

/// Differs by rank, by position, and between positions 2^31 and 2^32 apart.
std::uint8_t pattern(int rank, long long at) {
  const auto z = static_cast<std::uint64_t>(at) * 0x9e3779b97f4a7c15U + static_cast<unsigned>(rank);
  return static_cast<std::uint8_t>((z ^ (z >> 29)) >> 11);
}

/// A buffer that is checked at a sample of places and around every power of two.
class Bytes {
 public:
  explicit Bytes(long long size) : data_(static_cast<std::size_t>(size)) {}
  void* address() { return data_.data(); }
  void fill(int rank, long long from, long long length) {
    for (long long i = 0; i < length; ++i) data_[index(from + i)] = pattern(rank, i);
  }
  void clear() { std::fill(data_.begin(), data_.end(), std::uint8_t{0}); }
  bool holds(int rank, long long from, long long length) const {
    for (long long i = 0; i < length; i += i % 4096 < 64 ? 1 : 511)
      if (data_[index(from + i)] != pattern(rank, i)) return wrong(from + i);
    for (long long power = 1; power < length; power *= 2)
      for (long long i = power - 3; i < power + 3; ++i)
        if (i >= 0 && i < length && data_[index(from + i)] != pattern(rank, i))
          return wrong(from + i);
    return data_[index(from + length - 1)] == pattern(rank, length - 1);
  }

 private:
  static std::size_t index(long long i) { return static_cast<std::size_t>(i); }
  static bool wrong(long long at) {
    std::fprintf(stderr, "byte %lld is wrong\n", at);
    return false;
  }
  std::vector<std::uint8_t> data_;
};

long long available_memory() {
  std::ifstream meminfo("/proc/meminfo");
  std::string name, unit;
  long long kilobytes = 0;
  while (meminfo >> name >> kilobytes >> unit)
    if (name == "MemAvailable:") return kilobytes * 1024;
  return 0;
}

/// How the bytes are described: kPieces of a large type, or MPI_BYTE by a _c form.
struct Way {
  const char* name;
  bool large_form;
};

MPI_Datatype g_piece = MPI_DATATYPE_NULL;

void broadcast(Bytes& buffer, const Way& way) {
#if MPI_VERSION >= 4
  if (way.large_form) {
    MPI_Bcast_c(buffer.address(), kBytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    return;
  }
#endif
  static_cast<void>(way);
  MPI_Bcast(buffer.address(), static_cast<int>(kPieces), g_piece, 0, MPI_COMM_WORLD);
}

void allgather(Bytes& mine, Bytes& all, const Way& way, bool irregular) {
  // The block of rank 0 last, so that displacements pass 2 GiB as well.
  const int size = conformance::size_of(MPI_COMM_WORLD);
  std::vector<int> counts(static_cast<std::size_t>(size), static_cast<int>(kBlockPieces)), displs;
  for (int i = 0; i < size; ++i) displs.push_back((size - 1 - i) * static_cast<int>(kBlockPieces));
#if MPI_VERSION >= 4
  if (way.large_form) {
    const std::vector<MPI_Count> wide(counts.size(), kBlock);
    std::vector<MPI_Aint> at;
    for (const int displ : displs) at.push_back(displ * kPiece);
    if (irregular)
      MPI_Allgatherv_c(mine.address(), kBlock, MPI_BYTE, all.address(), wide.data(), at.data(),
                       MPI_BYTE, MPI_COMM_WORLD);
    else
      MPI_Allgather_c(mine.address(), kBlock, MPI_BYTE, all.address(), kBlock, MPI_BYTE,
                      MPI_COMM_WORLD);
    return;
  }
#endif
  static_cast<void>(way);
  const int pieces = static_cast<int>(kBlockPieces);
  if (irregular)
    MPI_Allgatherv(mine.address(), pieces, g_piece, all.address(), counts.data(), displs.data(),
                   g_piece, MPI_COMM_WORLD);
  else
    MPI_Allgather(mine.address(), pieces, g_piece, all.address(), pieces, g_piece, MPI_COMM_WORLD);
}

void alltoall(Bytes& send, Bytes& received, const Way& way) {
#if MPI_VERSION >= 4
  if (way.large_form) {
    MPI_Alltoall_c(send.address(), kBlock, MPI_BYTE, received.address(), kBlock, MPI_BYTE,
                   MPI_COMM_WORLD);
    return;
  }
#endif
  static_cast<void>(way);
  const int pieces = static_cast<int>(kBlockPieces);
  MPI_Alltoall(send.address(), pieces, g_piece, received.address(), pieces, g_piece,
               MPI_COMM_WORLD);
}

class Run {
 public:
  Run(int argc, char** argv) : wanted_(argv + 1, argv + argc) {
    me_ = conformance::rank_in(MPI_COMM_WORLD);
    size_ = conformance::size_of(MPI_COMM_WORLD);
  }

  void all(const Way& way) {
    {
      Bytes buffer(kBytes);
      each("bcast", Collective::bcast, way, [&] {
        me_ == 0 ? buffer.fill(0, 0, kBytes) : buffer.clear();
        measure([&] { broadcast(buffer, way); });
        return buffer.holds(0, 0, kBytes);
      });
    }
    {
      Bytes mine(kBlock), whole(kBlock * size_);
      mine.fill(me_, 0, kBlock);
      for (const bool irregular : {false, true}) {
        const auto collective = irregular ? Collective::allgatherv : Collective::allgather;
        each(unisono::name(collective).data(), collective, way, [&] {
          whole.clear();
          measure([&] { allgather(mine, whole, way, irregular); });
          for (int i = 0; i < size_; ++i)
            if (!whole.holds(i, (irregular ? size_ - 1 - i : i) * kBlock, kBlock)) return false;
          return true;
        });
      }
    }
    const long long block = kBlock;
    Bytes send(block * size_), received(block * size_);
    for (int i = 0; i < size_; ++i) send.fill(me_ * size_ + i, i * block, block);
    each("alltoall", Collective::alltoall, way, [&] {
      received.clear();
      measure([&] { alltoall(send, received, way); });
      for (int i = 0; i < size_; ++i)
        if (!received.holds(i * size_ + me_, i * block, block)) return false;
      return true;
    });
  }

 private:
  template <class F>
  void measure(F call) {
    PMPI_Barrier(MPI_COMM_WORLD);
    const double begin = PMPI_Wtime();
    call();
    seconds_ = PMPI_Wtime() - begin;
  }

  template <class F>
  void each(const char* name, Collective collective, const Way& way, F once) {
    std::vector<std::string> specs = conformance::algorithms_of(collective, size_, true);
    specs.emplace_back("native");
    for (const std::string& spec : specs) {
      if (!wanted_.empty() && std::find(wanted_.begin(), wanted_.end(), spec) == wanted_.end())
        continue;
      conformance::force(name, spec);
      const unsigned long long before = conformance::own_calls();
      CHECK(once());
      const bool own = conformance::own_calls() > before;
      if (conformance::has_unisono()) CHECK(own == (spec != "native"));
      if (me_ == 0) {
        std::printf("%-10s %-20s %-8s right, %.2f s\n", name, spec.c_str(), way.name, seconds_);
        std::fflush(stdout);
      }
    }
  }

  std::vector<std::string> wanted_;
  int me_ = 0, size_ = 1;
  double seconds_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int size = conformance::size_of(MPI_COMM_WORLD);
  // Send and receive buffer, and as much again for what algorithms and the MPI library keep.
  const long long needed = 4 * size * kBytes;
  int enough = available_memory() > needed ? 1 : 0;
  PMPI_Bcast(&enough, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (enough == 0) {
    if (conformance::rank_in(MPI_COMM_WORLD) == 0)
      std::printf("large_count: skipped, %lld GiB of free memory are needed\n", needed >> 30);
    MPI_Finalize();
    return 0;
  }
  MPI_Type_contiguous(static_cast<int>(kPiece), MPI_BYTE, &g_piece);
  MPI_Type_commit(&g_piece);
  Run run(argc, argv);
  run.all({"type", false});
#if MPI_VERSION >= 4
  run.all({"_c", true});
#endif
  MPI_Type_free(&g_piece);
  conformance::passed("large_count", 0, conformance::kAnyNumber);  // each() has looked
  MPI_Finalize();
  return 0;
}
