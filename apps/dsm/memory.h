// The insides of the DSM on one rank: which pages it has, and what it owes to whom.
#pragma once
#include <mpi.h>

#include <memory>
#include <vector>

#include "apps/dsm/diff.h"
#include "apps/dsm/dsm.h"
#include "apps/dsm/region.h"

namespace apps::dsm {

/// What goes to each rank, in one buffer each.
using Parcels = std::vector<Bytes>;

class Memory {
 public:
  Memory(MPI_Comm comm, std::size_t pages, const Options& options);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  Region& region() { return region_; }
  const Statistics& statistics() const { return statistics_; }
  void* alloc(std::size_t bytes);
  int home(std::size_t page) const { return pages_[page].home; }

  /// Of a fault: makes the page readable, or, if it is that, writable. False if it is both, or of
  /// no alloc(): then the fault is the program's own.
  bool touch(std::size_t page);
  void fetch(std::size_t first, std::size_t last);
  void make_writable(std::size_t first, std::size_t last);
  void serve();
  void barrier();

 private:
  static constexpr int kNobody = -1, kSeveral = -2;

  struct Page {
    int home = kNobody;
    Access access = Access::none;
    std::unique_ptr<std::byte[]> twin;  // as it was at the last barrier; of what was written to
    int writer = kNobody;               // at the home: whose changes are in it
    std::vector<bool> sharers;          // at the home: who has a copy, the home apart
  };

  // What a rank says to another at a barrier: bytes for it, and whether it has some for anyone.
  struct Announcement {
    int diffs, updates, any_diffs, any_updates, any_first;
  };
  static constexpr int kAnnounced = 5;  // ints

  // pages.cpp
  void find_address(MPI_Comm comm);
  void wait_for(std::vector<MPI_Request>& requests, std::size_t page);
  void keep_twin(std::size_t page);
  void add_sharer(std::size_t page, int rank);

  // barrier.cpp
  Parcels own_changes();
  Parcels changes_for_sharers();
  std::vector<Announcement> announce(const Parcels& diffs, const Parcels& updates);
  void assign_first_touched();
  void exchange(const Parcels& to, const std::vector<int>& from);
  void apply_changes();
  void apply_updates();
  void forget_twins();

  Region region_;
  Options options_;
  MPI_Comm comm_ = MPI_COMM_NULL;  // a duplicate
  int rank_ = 0, ranks_ = 1;
  std::size_t allocated_ = 0;  // pages
  bool in_barrier_ = false;
  std::vector<Page> pages_;
  std::vector<std::size_t> twins_;     // the pages that have one
  std::vector<std::size_t> homeless_;  // pages touched here that have no home yet
  std::vector<std::unique_ptr<std::byte[]>> spare_;
  Bytes sent_, received_;             // of Alltoallv; always the same memory, if that suffices
  std::vector<int> to_at_, from_at_;  // and where the ranks' parts begin; the last: the end
  Statistics statistics_;
};

}  // namespace apps::dsm
