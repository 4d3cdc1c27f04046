// Pages that come and are written to, between barriers.
#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <stdexcept>

#include "apps/common/share.h"
#include "apps/dsm/memory.h"
#include "apps/dsm/waiting.h"

namespace apps::dsm {

namespace {

// Where nothing else is on any usual system: far above programs, far below libraries and stacks.
constexpr std::uintptr_t kFirstAddress = 0x200000000000, kNextAddress = 0x10000000000;
constexpr int kAddresses = 16;

enum Tag : int { kRequest, kReply };

}  // namespace

Memory::Memory(MPI_Comm comm, std::size_t pages, const Options& options)
    : region_(std::max<std::size_t>(pages, 1)), options_(options), pages_(pages) {
  if (pages > INT_MAX / 2) throw std::runtime_error("dsm: more pages than it can number");
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &ranks_);
  find_address(comm);
  MPI_Comm_dup(comm, &comm_);
  to_at_.resize(static_cast<std::size_t>(ranks_) + 1);
  from_at_.resize(to_at_.size());
}

Memory::~Memory() { MPI_Comm_free(&comm_); }

void Memory::find_address(MPI_Comm comm) {
  for (std::uintptr_t i = 0; i < kAddresses; ++i) {
    int is_free = region_.show_at(reinterpret_cast<std::byte*>(kFirstAddress + i * kNextAddress));
    MPI_Allreduce(MPI_IN_PLACE, &is_free, 1, MPI_INT, MPI_MIN, comm);
    if (is_free != 0) return;
    region_.hide();
  }
  throw std::runtime_error("dsm: found no address that is free on all ranks");
}

void* Memory::alloc(std::size_t bytes) {
  const std::size_t count = (bytes + region_.page_bytes() - 1) / region_.page_bytes();
  if (count > pages_.size() - allocated_)
    throw std::length_error(fmt::format("dsm: alloc of {} pages, {} of init's {} are left", count,
                                        pages_.size() - allocated_, pages_.size()));
  const std::size_t first = allocated_;
  allocated_ += count;
  for (int rank = 0; rank < ranks_ && options_.homes != Homes::first_touch; ++rank) {
    const Range part = share(count, ranks_, rank);
    for (std::size_t i = part.first; i < part.last; ++i)
      pages_[first + i].home = options_.homes == Homes::block
                                   ? rank
                                   : static_cast<int>(i % static_cast<std::size_t>(ranks_));
  }
  return region_.program(first);
}

bool Memory::touch(std::size_t page) {
  if (page >= allocated_ || pages_[page].access == Access::write) return false;
  ++statistics_.faults;
  if (pages_[page].access == Access::none)
    fetch(page, page + 1);  // if it was a write there is another fault
  else
    make_writable(page, page + 1);
  return true;
}

/// Requests to a home are answered in their order, so that the pages need no tags. They are
/// received where only the library sees them.
void Memory::fetch(std::size_t first, std::size_t last) {
  const int bytes = static_cast<int>(region_.page_bytes());
  std::vector<std::uint64_t> numbers(last - first);
  std::vector<MPI_Request> requests;
  std::size_t awaited = 0;
  for (std::size_t page = first; page < last; ++page) {
    const int from = pages_[page].home;
    if (pages_[page].access != Access::none || from == rank_) continue;
    if (from == kNobody) {  // zeros everywhere
      homeless_.push_back(page);
      continue;
    }
    numbers[page - first] = page;
    MPI_Irecv(region_.library(page), bytes, MPI_BYTE, from, kReply, comm_,
              &requests.emplace_back());
    MPI_Isend(&numbers[page - first], 1, MPI_UINT64_T, from, kRequest, comm_,
              &requests.emplace_back());
    awaited = page;
    ++statistics_.fetched;
  }
  wait_for(requests, awaited);
  for (std::size_t page = first; page < last;) {
    std::size_t end = page;
    for (; end < last && pages_[end].access == Access::none; ++end)
      pages_[end].access = Access::read;
    if (end > page) region_.allow(page, end - page, Access::read);
    page = std::max(end, page + 1);
  }
}

void Memory::wait_for(std::vector<MPI_Request>& requests, std::size_t page) {
  const double begin = MPI_Wtime();
  Waiting waiting;
  for (int done = 0;; waiting.pause()) {
    MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
    if (done != 0) return;
    serve();
    if (MPI_Wtime() - begin < options_.patience) continue;
    fmt::print(stderr,
               "dsm: rank {} waits for page {} since {} s: its home, rank {}, must call barrier(), "
               "fetch() or serve() of the DSM, and wait for nobody elsewhere\n",
               rank_, page, options_.patience, pages_[page].home);
    MPI_Abort(comm_, 3);
  }
}

void Memory::make_writable(std::size_t first, std::size_t last) {
  fetch(first, last);
  for (std::size_t page = first; page < last; ++page) {
    keep_twin(page);
    pages_[page].access = Access::write;
  }
  region_.allow(first, last - first, Access::write);
}

void Memory::keep_twin(std::size_t page) {
  std::unique_ptr<std::byte[]>& twin = pages_[page].twin;
  if (twin) return;
  if (spare_.empty()) spare_.emplace_back(new std::byte[region_.page_bytes()]);
  twin = std::move(spare_.back());
  spare_.pop_back();
  std::memcpy(twin.get(), region_.library(page), region_.page_bytes());
  twins_.push_back(page);
}

void Memory::add_sharer(std::size_t page, int rank) {
  std::vector<bool>& sharers = pages_[page].sharers;
  if (sharers.empty()) sharers.resize(static_cast<std::size_t>(ranks_));
  sharers[static_cast<std::size_t>(rank)] = true;
}

/// Until this rank has come to the barrier a page goes out as it was at the last one: what is
/// changed back before the barrier is no change, and would never be sent. From then on it goes out
/// as it is: the list of who gets the changes may be made already.
void Memory::serve() {
  for (;;) {
    int is_there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, kRequest, comm_, &is_there, &status);
    if (is_there == 0) return;
    std::uint64_t page = 0;
    MPI_Recv(&page, 1, MPI_UINT64_T, status.MPI_SOURCE, kRequest, comm_, MPI_STATUS_IGNORE);
    add_sharer(page, status.MPI_SOURCE);
    const std::byte* twin = pages_[page].twin.get();
    MPI_Send(twin != nullptr && !in_barrier_ ? twin : region_.library(page),
             static_cast<int>(region_.page_bytes()), MPI_BYTE, status.MPI_SOURCE, kReply, comm_);
  }
}

}  // namespace apps::dsm
