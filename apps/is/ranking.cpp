#include "apps/is/ranking.h"

#include <algorithm>
#include <numeric>

#include "apps/common/persistent.h"

namespace apps::is {

namespace {

int as_int(std::size_t value) { return static_cast<int>(value); }

}  // namespace

/// The collectives with constant counts: called each time, or made once and then started.
struct Ranking::Exchanges {
  Exchanges(Ranking& r, Form form) : ranking(r), is_persistent(form == Form::persistent) {
    if (!is_persistent) return;
    apps::persistent::kAllreduce(r.sizes_.data(), r.of_all_.data(), as_int(r.sizes_.size()),
                                 MPI_INT, MPI_SUM, r.world_.comm, MPI_INFO_NULL, &sizes);
    apps::persistent::kAlltoall(r.to_.data(), 1, MPI_INT, r.from_.data(), 1, MPI_INT, r.world_.comm,
                                MPI_INFO_NULL, &counts);
  }
  ~Exchanges() {
    if (!is_persistent) return;
    MPI_Request_free(&sizes);
    MPI_Request_free(&counts);
  }
  void add_sizes() {
    Ranking& r = ranking;
    if (is_persistent)
      run(sizes);
    else
      MPI_Allreduce(r.sizes_.data(), r.of_all_.data(), as_int(r.sizes_.size()), MPI_INT, MPI_SUM,
                    r.world_.comm);
  }
  void swap_counts() {
    Ranking& r = ranking;
    if (is_persistent)
      run(counts);
    else
      MPI_Alltoall(r.to_.data(), 1, MPI_INT, r.from_.data(), 1, MPI_INT, r.world_.comm);
  }
  static void run(MPI_Request& request) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }

  Ranking& ranking;
  bool is_persistent;
  MPI_Request sizes = MPI_REQUEST_NULL, counts = MPI_REQUEST_NULL;
};

Ranking::Ranking(const Buckets& buckets, const Class* of, Form form, const World& world,
                 LoopTimer& timer)
    : buckets_(buckets),
      class_(of),
      world_(world),
      timer_(timer),
      sizes_(buckets.count() + (of != nullptr ? kTested : 0)),
      of_all_(sizes_.size()),
      to_(static_cast<std::size_t>(world.size)),
      from_(to_.size()),
      exchanges_(new Exchanges(*this, form)) {}

Ranking::~Ranking() = default;

Ranked Ranking::operator()(const std::vector<Key>& own, std::size_t first) {
  const std::vector<int> sizes = buckets_.sizes(own);
  const auto tested = std::copy(sizes.begin(), sizes.end(), sizes_.begin());
  std::fill(tested, sizes_.end(), 0);
  for (std::size_t i = 0; class_ != nullptr && i < kTested; ++i) {
    const std::size_t index = class_->tested[i].index;
    if (index >= first && index - first < own.size()) tested[as_int(i)] = own[index - first];
  }
  const std::vector<Key> ordered = buckets_.ordered(own, sizes);
  timer_.collective([&] { exchanges_->add_sizes(); });
  const auto last = of_all_.begin() + as_int(buckets_.count());
  const std::vector<std::size_t> starts =
      shared_out({of_all_.begin(), last}, static_cast<std::size_t>(world_.size));
  const std::vector<Key> keys = exchanged(ordered, starts);

  Ranked result;
  const auto rank = static_cast<std::size_t>(world_.rank);
  const int width = buckets_.width();
  result.low = static_cast<Key>(starts[rank] << width);
  result.below =
      std::accumulate(of_all_.begin(), of_all_.begin() + as_int(starts[rank]), std::int64_t{0});
  result.ranks = ranked(keys, result.low, static_cast<Key>(starts[rank + 1] << width));
  std::copy(last, of_all_.end(), result.tested.begin());
  return result;
}

/// Alltoallv is called each time: the two keys that an iteration changes go to other ranks than
/// those before them, so that its counts differ in all iterations.
std::vector<Key> Ranking::exchanged(const std::vector<Key>& ordered,
                                    const std::vector<std::size_t>& first) {
  for (std::size_t r = 0; r < to_.size(); ++r)
    to_[r] = std::accumulate(sizes_.begin() + as_int(first[r]),
                             sizes_.begin() + as_int(first[r + 1]), 0);
  timer_.collective([&] { exchanges_->swap_counts(); });
  std::vector<int> to_at(to_.size()), from_at(to_.size());
  std::exclusive_scan(to_.begin(), to_.end(), to_at.begin(), 0);
  std::exclusive_scan(from_.begin(), from_.end(), from_at.begin(), 0);
  std::vector<Key> keys(static_cast<std::size_t>(from_at.back() + from_.back()));
  timer_.collective([&] {
    MPI_Alltoallv(ordered.data(), to_.data(), to_at.data(), MPI_INT32_T, keys.data(), from_.data(),
                  from_at.data(), MPI_INT32_T, world_.comm);
  });
  return keys;
}

}  // namespace apps::is
