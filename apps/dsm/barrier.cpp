// The barrier, at which what was written is exchanged.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "apps/dsm/memory.h"
#include "apps/dsm/waiting.h"

namespace apps::dsm {

namespace {

int as_int(std::size_t bytes) {
  if (bytes > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw std::runtime_error(
        fmt::format("dsm: {} bytes at one barrier are more than MPI counts", bytes));
  return static_cast<int>(bytes);
}

std::size_t total(const Parcels& parcels) {
  std::size_t bytes = 0;
  for (const Bytes& one : parcels) bytes += one.size();
  return bytes;
}

template <class Said, class Member>
bool any(const std::vector<Said>& said, Member member) {
  return std::any_of(said.begin(), said.end(), [&](const Said& one) { return one.*member != 0; });
}

template <class Said, class Member>
std::vector<int> each(const std::vector<Said>& said, Member member) {
  std::vector<int> values;
  for (const Said& one : said) values.push_back(one.*member);
  return values;
}

}  // namespace

// Whoever has got every rank's announcement knows that all have come, so that no page is on its way
// any more and the lists of sharers are complete.
void Memory::barrier() {
  ++statistics_.barriers;
  Parcels diffs = own_changes(), updates = changes_for_sharers();
  in_barrier_ = true;
  std::vector<Announcement> said = announce(diffs, updates);
  if (any(said, &Announcement::any_first)) {
    assign_first_touched();
    diffs = own_changes();
    updates = changes_for_sharers();
    said = announce(diffs, updates);
  }
  if (any(said, &Announcement::any_diffs)) {
    statistics_.diff_bytes += total(diffs);
    exchange(diffs, each(said, &Announcement::diffs));
    apply_changes();
    updates = changes_for_sharers();
    said = announce(Parcels(updates.size()), updates);
  }
  if (any(said, &Announcement::any_updates)) {
    statistics_.update_bytes += total(updates);
    exchange(updates, each(said, &Announcement::updates));
    apply_updates();
  }
  forget_twins();
  in_barrier_ = false;
}

/// For the homes of the pages; of pages whose home is here, only whether there are any.
Parcels Memory::own_changes() {
  Parcels to(static_cast<std::size_t>(ranks_));
  Bytes ignored;
  for (const std::size_t number : twins_) {
    Page& page = pages_[number];
    if (page.home == kNobody) continue;
    const bool is_own = page.home == rank_;
    Bytes& parcel = is_own ? ignored : to[static_cast<std::size_t>(page.home)];
    const bool has_changed =
        append_changes(static_cast<PageNumber>(number), region_.library(number), page.twin.get(),
                       region_.page_bytes(), parcel);
    if (is_own && has_changed) page.writer = rank_;
    ignored.clear();
  }
  return to;
}

/// Of pages whose home is here. Their only writer, if there is one, has them as they are.
Parcels Memory::changes_for_sharers() {
  Parcels to(static_cast<std::size_t>(ranks_));
  Bytes record;
  for (const std::size_t number : twins_) {
    const Page& page = pages_[number];
    if (page.home != rank_ || page.writer == kNobody || page.sharers.empty()) continue;
    const std::byte* now = region_.library(number);
    const auto name = static_cast<PageNumber>(number);
    record.clear();
    if (!append_changes(name, now, page.twin.get(), region_.page_bytes(), record)) continue;
    if (record.size() > region_.page_bytes() / 2) {
      record.clear();
      append_page(name, now, region_.page_bytes(), record);
    }
    for (int rank = 0; rank < ranks_; ++rank) {
      const auto at = static_cast<std::size_t>(rank);
      if (page.sharers[at] && rank != page.writer)
        to[at].insert(to[at].end(), record.begin(), record.end());
    }
  }
  return to;
}

/// What the ranks say to each other; in the meantime pages are handed out to those who have not
/// come yet.
std::vector<Memory::Announcement> Memory::announce(const Parcels& diffs, const Parcels& updates) {
  const auto is_first = [&](std::size_t page) {
    return pages_[page].home == kNobody && pages_[page].twin != nullptr;
  };
  const int any_diffs = total(diffs) > 0, any_updates = total(updates) > 0,
            any_first = std::any_of(homeless_.begin(), homeless_.end(), is_first);
  std::vector<Announcement> said(diffs.size()), heard(diffs.size());
  for (std::size_t rank = 0; rank < said.size(); ++rank)
    said[rank] = {as_int(diffs[rank].size()), as_int(updates[rank].size()), any_diffs, any_updates,
                  any_first};
  MPI_Request request;
  MPI_Ialltoall(said.data(), kAnnounced, MPI_INT, heard.data(), kAnnounced, MPI_INT, comm_,
                &request);
  Waiting waiting;
  for (int done = 0;; waiting.pause()) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return heard;
    serve();
  }
}

/// Homes for pages that some have written to, of whom the lowest becomes it; who has touched one
/// has a copy.
void Memory::assign_first_touched() {
  std::vector<std::uint32_t> own;
  for (const std::size_t page : homeless_)
    own.push_back(static_cast<std::uint32_t>(2 * page + (pages_[page].twin ? 1 : 0)));
  const int count = as_int(own.size());
  std::vector<int> counts(static_cast<std::size_t>(ranks_)), at(counts.size() + 1, 0);
  MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm_);
  for (std::size_t rank = 0; rank < counts.size(); ++rank) at[rank + 1] = at[rank] + counts[rank];
  std::vector<std::uint32_t> all(static_cast<std::size_t>(at.back()));
  MPI_Allgatherv(own.data(), count, MPI_UINT32_T, all.data(), counts.data(), at.data(),
                 MPI_UINT32_T, comm_);
  const auto for_each = [&](auto&& what) {
    for (int rank = 0, i = 0; rank < ranks_; ++rank)
      for (; i < at[static_cast<std::size_t>(rank) + 1]; ++i) {
        const std::uint32_t one = all[static_cast<std::size_t>(i)];
        what(rank, one / 2, one % 2 != 0);
      }
  };
  for_each([&](int rank, std::size_t page, bool has_written) {
    if (has_written && pages_[page].home == kNobody) pages_[page].home = rank;
  });
  for_each([&](int rank, std::size_t page, bool) {
    if (pages_[page].home == rank_ && rank != rank_) add_sharer(page, rank);
  });
  std::erase_if(homeless_, [&](std::size_t page) { return pages_[page].home != kNobody; });
}

void Memory::exchange(const Parcels& to, const std::vector<int>& from) {
  ++statistics_.alltoallvs;
  std::vector<int> to_counts;
  for (const Bytes& one : to) to_counts.push_back(as_int(one.size()));
  std::size_t sent = 0, received = 0;
  for (std::size_t rank = 0; rank < to.size(); ++rank) {
    to_at_[rank] = as_int(sent);
    from_at_[rank] = as_int(received);
    sent += to[rank].size();
    received += static_cast<std::size_t>(from[rank]);
  }
  to_at_.back() = as_int(sent);
  from_at_.back() = as_int(received);
  sent_.resize(std::max(sent_.size(), sent));
  received_.resize(std::max(received_.size(), received));
  for (std::size_t rank = 0; rank < to.size(); ++rank)
    std::copy(to[rank].begin(), to[rank].end(), sent_.begin() + to_at_[rank]);
  MPI_Alltoallv(sent_.data(), to_counts.data(), to_at_.data(), MPI_BYTE, received_.data(),
                from.data(), from_at_.data(), MPI_BYTE, comm_);
}

/// At the home, of all writers.
void Memory::apply_changes() {
  for (int rank = 0; rank < ranks_; ++rank) {
    const int begin = from_at_[static_cast<std::size_t>(rank)];
    const int end = from_at_[static_cast<std::size_t>(rank) + 1];
    Records records(received_.data() + begin, static_cast<std::size_t>(end - begin));
    while (records.more()) {
      const std::size_t number = records.page();
      Page& page = pages_[number];
      keep_twin(number);
      page.writer = page.writer == kNobody || page.writer == rank ? rank : kSeveral;
      records.apply(region_.library(number));
    }
  }
}

void Memory::apply_updates() {
  Records records(received_.data(), static_cast<std::size_t>(from_at_.back()));
  while (records.more()) records.apply(region_.library(records.page()));
}

/// What was written to may only be read again, neighbours at once.
void Memory::forget_twins() {
  std::sort(twins_.begin(), twins_.end());
  std::size_t first = 0, count = 0;
  for (const std::size_t number : twins_) {
    Page& page = pages_[number];
    spare_.push_back(std::move(page.twin));
    page.writer = kNobody;
    if (page.access != Access::write) continue;
    page.access = Access::read;
    if (count > 0 && number == first + count) {
      ++count;
      continue;
    }
    if (count > 0) region_.allow(first, count, Access::read);
    first = number;
    count = 1;
  }
  if (count > 0) region_.allow(first, count, Access::read);
  twins_.clear();
}

}  // namespace apps::dsm
