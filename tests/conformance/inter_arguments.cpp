// Collectives on an inter-communicator whose groups differ in size: what is not significant there
// is not looked at, neither arrays of the root's on the others, nor entries beyond the other
// group's size.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "check.h"

namespace {

/// Integers at the very end of a page; behind them lies one that cannot be read.
class AtTheEdge {
 public:
  explicit AtTheEdge(const std::vector<int>& values)
      : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    memory_ = static_cast<char*>(
        mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(memory_ + page_, page_, PROT_NONE);
    const std::size_t bytes = values.size() * sizeof(int);
    data_ = reinterpret_cast<int*>(memory_ + page_ - bytes);
    std::memcpy(data_, values.data(), bytes);
  }
  ~AtTheEdge() { munmap(memory_, 2 * page_); }
  AtTheEdge(const AtTheEdge&) = delete;
  AtTheEdge& operator=(const AtTheEdge&) = delete;
  const int* get() const { return data_; }

 private:
  std::size_t page_;
  char* memory_;
  int* data_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  conformance::force_all();
  const int rank = conformance::rank_in(MPI_COMM_WORLD),
            size = conformance::size_of(MPI_COMM_WORLD);
  // Rank 0 alone, and all others.
  const bool alone = rank == 0;
  const int remote = alone ? size - 1 : 1;
  MPI_Comm local, inter;
  MPI_Comm_split(MPI_COMM_WORLD, alone ? 0 : 1, rank, &local);
  MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, alone ? 1 : 0, 7, &inter);

  std::vector<int> counts(static_cast<std::size_t>(remote), 1), displs, got(counts.size(), -1);
  for (int i = 0; i < remote; ++i) displs.push_back(i);
  const std::vector<int> sent(counts.size(), rank);
  const AtTheEdge c(counts), d(displs);
  CHECK(MPI_Alltoallv(sent.data(), c.get(), d.get(), MPI_INT, got.data(), c.get(), d.get(), MPI_INT,
                      inter) == MPI_SUCCESS);
  for (int i = 0; i < remote; ++i) CHECK(got[static_cast<std::size_t>(i)] == (alone ? i + 1 : 0));

  // The leaf with the root's rank in the other group is no root.
  int* const nowhere = reinterpret_cast<int*>(8);
  const int root = alone ? MPI_ROOT : 0;
  got.assign(got.size(), -1);
  CHECK(MPI_Gatherv(&rank, alone ? 0 : 1, MPI_INT, got.data(), alone ? c.get() : nowhere,
                    alone ? d.get() : nowhere, MPI_INT, root, inter) == MPI_SUCCESS);
  for (int i = 0; alone && i < remote; ++i) CHECK(got[static_cast<std::size_t>(i)] == i + 1);
  int mine = -1;
  CHECK(MPI_Scatterv(displs.data(), alone ? c.get() : nowhere, alone ? d.get() : nowhere, MPI_INT,
                     &mine, 1, MPI_INT, root, inter) == MPI_SUCCESS);
  CHECK(alone || mine == rank - 1);

  conformance::passed("inter_arguments", 0, 0);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&local);
  MPI_Finalize();
  return 0;
}
