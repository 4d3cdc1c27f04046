#include "calls/count_exchange.h"

#include <algorithm>

namespace unisono {

CountExchange::CountExchange(const Algorithm& algorithm, const Args& args) {
  if (!is_irregular(args.collective)) return;
  args_.rank = args.rank;
  args_.size = args.size;
  args_.params.transport = args.params.transport;
  if ((algorithm.restrictions & kAllCounts) != 0)
    broadcast(args);
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

void CountExchange::supply(Args& args) const {
  if (args_.collective == Collective::allgather) {
    args.matrix = values_;
    return;
  }
  Layout& layout = semantics(args.collective).receive.who == Who::root ? args.recv : args.send;
  layout.counts = values_;
  args.all_counts_known = true;
}

}  // namespace unisono
