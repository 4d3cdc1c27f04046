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
  else if ((algorithm.restrictions & (kMatrix | kOrder)) != 0)
    args.size <= kMostWholeRows ? allgather_rows(args) : allgather_lengths(args);
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

void CountExchange::allgather_rows(const Args& args) {
  form_ = Form::rows;
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

void CountExchange::allgather_lengths(const Args& args) {
  form_ = Form::lengths;
  const Layout& row = args.in_place ? args.recv : args.send;
  for (int to = 0; to < args.size; ++to)
    if (row.length(to) > 0) own_row_.insert(own_row_.end(), {to, row.length(to)});
  values_.resize(static_cast<std::size_t>(args.size));
  values_[static_cast<std::size_t>(args.rank)] = static_cast<Count>(own_row_.size());
  args_.collective = Collective::allgather;
  args_.in_place = true;
  args_.count = args_.send.count = args_.recv.count = static_cast<Count>(sizeof(Count));
  algorithm_ = find_algorithm(Collective::allgather, "circulant");
}

void CountExchange::allgather_entries() {
  form_ = Form::entries;
  Count total = 0;
  for (const Count length : values_) {
    lengths_.push_back(length * static_cast<Count>(sizeof(Count)));
    places_.push_back(std::exchange(total, total + lengths_.back()));
  }
  values_.assign(static_cast<std::size_t>(total) / sizeof(Count), 0);
  std::copy(own_row_.begin(), own_row_.end(),
            values_.begin() +
                places_[static_cast<std::size_t>(args_.rank)] / static_cast<Count>(sizeof(Count)));
  args_.collective = Collective::allgatherv;
  args_.recv.counts = lengths_;
  args_.recv.displs = places_;
  algorithm_ = find_algorithm(Collective::allgatherv, "circulant");
}

bool CountExchange::has_next() {
  if (form_ == Form::lengths) {
    allgather_entries();
    return true;
  }
  if (form_ == Form::rows) matrix_ = CountMatrix(values_, args_.size);
  if (form_ != Form::entries) return false;
  auto value = values_.begin();
  std::vector<CountMatrix::Entry> row;
  for (const Count bytes : lengths_) {
    row.clear();
    for (Count i = 0; i < bytes; i += 2 * static_cast<Count>(sizeof(Count)), value += 2)
      row.push_back({static_cast<int>(value[0]), value[1]});
    matrix_.add_row(row);
  }
  return false;
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
  if (form_ != Form::counts) {
    args.matrix = &matrix_;
    return;
  }
  if (args_.collective != Collective::bcast) {
    args.edge_counts = values_;
    return;
  }
  Layout& layout = semantics(args.collective).receive.who == Who::root ? args.recv : args.send;
  layout.counts = values_;
  args.all_counts_known = true;
}

}  // namespace unisono
