#include "calls/count_exchange.h"

#include <algorithm>
#include <utility>

namespace unisono {

CountExchange::CountExchange(const Algorithm& algorithm, const Args& args) {
  if (!is_irregular(args.collective)) return;
  args_.rank = args.rank;
  args_.size = args.size;
  args_.params.transport = args.params.transport;
  if ((algorithm.restrictions & kAllCounts) != 0)
    broadcast(args);
  else if ((algorithm.restrictions & kMatrix) != 0 && args.neighbours != nullptr)
    allgather_among_neighbours(args);
  else if ((algorithm.restrictions & kMatrix) != 0)
    allgather(args);
}

void CountExchange::broadcast(const Args& args) {
  const Layout& layout =
      semantics(args.collective).receive.who == Who::root ? args.recv : args.send;
  values_.assign(layout.counts.begin(), layout.counts.end());
  values_.resize(static_cast<std::size_t>(args.size));
  args_.collective = Collective::bcast;
  args_.root = args.root;
  args_.count = static_cast<Count>(values_.size() * sizeof(Count));
  algorithm_ = find_algorithm(Collective::bcast, "binomial");
}

void CountExchange::allgather(const Args& args) {
  const auto p = static_cast<std::size_t>(args.size);
  const Layout& row = args.in_place ? args.recv : args.send;
  values_.resize(p * p);
  std::copy(row.counts.begin(), row.counts.end(),
            values_.begin() + args.rank * static_cast<std::ptrdiff_t>(p));
  args_.collective = Collective::allgather;
  args_.in_place = true;
  args_.count = args_.send.count = args_.recv.count = static_cast<Count>(p * sizeof(Count));
  algorithm_ = find_algorithm(Collective::allgather, "circulant");
}

void CountExchange::allgather_among_neighbours(const Args& args) {
  const bool cuts = is_per_peer(semantics(args.collective).send.shape);
  Count total = 0;
  for (int r = 0; r < args.size; ++r) {
    const std::size_t counts = cuts ? args.graph->of(r).destinations.size() : 1;
    lengths_.push_back(static_cast<Count>(counts * sizeof(Count)));
    places_.push_back(std::exchange(total, total + lengths_.back()));
  }
  values_.resize(static_cast<std::size_t>(total) / sizeof(Count));
  const auto own = values_.begin() +
                   places_[static_cast<std::size_t>(args.rank)] / static_cast<Count>(sizeof(Count));
  if (cuts)
    std::copy(args.send.counts.begin(), args.send.counts.end(), own);
  else
    *own = args.send.count;
  args_.collective = Collective::allgatherv;
  args_.in_place = true;
  args_.recv.counts = lengths_;
  args_.recv.displs = places_;
  algorithm_ = find_algorithm(Collective::allgatherv, "circulant");
}

void CountExchange::supply(Args& args) const {
  if (args_.collective != Collective::bcast) {
    args.matrix = values_;
    return;
  }
  Layout& layout = semantics(args.collective).receive.who == Who::root ? args.recv : args.send;
  layout.counts = values_;
  args.all_counts_known = true;
}

}  // namespace unisono
