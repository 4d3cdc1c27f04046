#include "algorithms/sub_collective.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <numeric>
#include <utility>

#include "patterns/embed.h"

namespace unisono {

namespace {

using enum Collective;

/// The first that differs by its counts only.
Collective irregular(Collective regular) {
  const auto* const row = std::find_if(kSemantics.begin(), kSemantics.end(), [&](const auto& s) {
    return s.regular == regular && s.collective != regular;
  });
  assert(row != kSemantics.end());
  return row->collective;
}

/// The blocks of a layout, one behind the other.
struct Adjacent {
  std::vector<Count> counts, displs;

  void add(Count length) {
    displs.push_back(counts.empty() ? 0 : displs.back() + counts.back());
    counts.push_back(length);
  }
  Layout layout() const { return {0, counts, displs}; }
};

/// A member's arguments, and the arrays behind them.
struct MemberArgs {
  MemberArgs(const GroupCall& call, int position, const Args& whole, const Params& params);
  MemberArgs(const MemberArgs&) = delete;
  MemberArgs& operator=(const MemberArgs&) = delete;

  Args args;

 private:
  Adjacent sent_, received_;
  std::optional<const CountMatrix> matrix_;
  void set_lengths(const GroupCall& call);
};

MemberArgs::MemberArgs(const GroupCall& call, int position, const Args& whole,
                       const Params& params) {
  args.collective = call.collective;
  args.rank = position;
  args.size = call.group.size();
  args.root = call.root;
  args.count = args.send.count = args.recv.count = call.count;
  args.unit_bytes = whole.unit_bytes;
  args.commutative = whole.commutative;
  args.in_place = call.in_place;
  args.params = params;
  if (!call.counts.empty()) set_lengths(call);
}

void MemberArgs::set_lengths(const GroupCall& call) {
  const auto n = static_cast<std::size_t>(args.size);
  const auto own = static_cast<std::size_t>(args.rank);
  if (call.collective == alltoallv) {
    for (std::size_t i = 0; i < n; ++i) {
      sent_.add(call.counts[own * n + i]);
      received_.add(call.counts[i * n + own]);
    }
    args.send = sent_.layout();
    args.recv = received_.layout();
    args.matrix = &matrix_.emplace(call.counts, args.size);
    return;
  }
  for (const Count length : call.counts) received_.add(length);
  const Layout blocks = received_.layout();
  const Layout single{.count = call.counts[own]};
  args.send = call.collective == scatterv ? blocks : single;
  args.recv = call.collective == scatterv ? single : blocks;
}

}  // namespace

Slice block_at(Slice all, std::span<const Count> lengths, int i) {
  const auto before = lengths.first(static_cast<std::size_t>(i));
  return all.part(std::accumulate(before.begin(), before.end(), Count{0}),
                  lengths[static_cast<std::size_t>(i)]);
}

SubCollective::SubCollective(Builder& whole, RankGroup group, const NestedSpec& spec,
                             const Topology* topology)
    : whole_(whole), group_(std::move(group)), spec_(spec), topology_(topology) {
  while (group_.rank(position_) != whole.rank()) {
    ++position_;
    assert(position_ < group_.size() && "only members write their part");
  }
}

void SubCollective::run(GroupCall call) {
  call.group = group_;
  if (group_.size() == 1) return run_alone(call);
  if (spec_.is_called()) {
    call.in_node = spec_.in_node();
    whole_.library(std::move(call));
    return;
  }
  MemberArgs member(call, position_, whole_.args(), spec_.params);
  member.args.topology = topology_;
  embed(whole_, build(*spec_.algorithm, member.args), group_, call.input, call.output);
}

void SubCollective::run_alone(const GroupCall& call) {
  if (call.in_place ||
      contains(set_of(Collective::barrier, Collective::bcast, Collective::exscan), call.collective))
    return;
  whole_.copy(call.input, call.output);
}

GroupCall SubCollective::on_vector(Collective collective, int root, Slice own, Slice sum) const {
  GroupCall call{.collective = collective, .root = root, .input = own, .count = own.length};
  if (collective == Collective::reduce && position_ != root) return call;
  call.output = sum;
  call.in_place = own == sum;
  return call;
}

GroupCall SubCollective::on_blocks(Collective regular, int root,
                                   std::span<const Count> lengths) const {
  GroupCall call{.collective = regular, .root = root};
  if (std::adjacent_find(lengths.begin(), lengths.end(), std::not_equal_to<>()) == lengths.end()) {
    call.count = lengths[0];
    return call;
  }
  call.collective = irregular(regular);
  call.counts.assign(lengths.begin(), lengths.end());
  return call;
}

void SubCollective::barrier() {
  // A barrier moves no data by which its ops could be ordered after what comes before.
  whole_.end_round();
  run({.collective = Collective::barrier});
}

void SubCollective::bcast(int root, Slice vector) {
  run({.collective = Collective::bcast, .root = root, .output = vector, .count = vector.length});
}

void SubCollective::gather(int root, std::span<const Count> lengths, Slice own, Slice all) {
  GroupCall call = on_blocks(Collective::gather, root, lengths);
  call.input = own;
  if (position_ == root) call.output = all;
  call.in_place = position_ == root && own == block_at(all, lengths, position_);
  run(std::move(call));
}

void SubCollective::scatter(int root, std::span<const Count> lengths, Slice all, Slice own) {
  GroupCall call = on_blocks(Collective::scatter, root, lengths);
  if (position_ == root) call.input = all;
  call.output = own;
  call.in_place = position_ == root && own == block_at(all, lengths, position_);
  run(std::move(call));
}

void SubCollective::allgather(std::span<const Count> lengths, Slice own, Slice all) {
  GroupCall call = on_blocks(Collective::allgather, 0, lengths);
  call.input = own;
  call.output = all;
  call.in_place = own == block_at(all, lengths, position_);
  run(std::move(call));
}

void SubCollective::alltoall(std::span<const Count> lengths, Slice input, Slice output) {
  GroupCall call = on_blocks(Collective::alltoall, 0, lengths);
  call.input = input;
  call.output = output;
  run(std::move(call));
}

void SubCollective::reduce(int root, Slice own, Slice sum) {
  run(on_vector(Collective::reduce, root, own, sum));
}

void SubCollective::allreduce(Slice own, Slice sum) {
  run(on_vector(Collective::allreduce, 0, own, sum));
}

void SubCollective::scan(Slice own, Slice sum) { run(on_vector(Collective::scan, 0, own, sum)); }

void SubCollective::exscan(Slice own, Slice sum) {
  run(on_vector(Collective::exscan, 0, own, sum));
}

void SubCollective::reduce_scatter(std::span<const Count> lengths, Slice vector, Slice own) {
  GroupCall call = on_blocks(Collective::reduce_scatter_block, 0, lengths);
  call.input = vector;
  call.output = own;
  call.in_place = vector.buffer == own.buffer && vector.offset == own.offset;
  run(std::move(call));
}

Schedule expand(const Schedule& schedule, const Args& args) {
  if (schedule.group_calls().empty() && schedule.groups().empty()) return schedule;
  Builder b(args);
  OtherWriters write;
  write.library = [](Builder& whole, const GroupCall& call) {
    whole.end_round();
    SubCollective(whole, call.group, textbook(call.collective)).run(call);
    whole.end_round();
    return whole.join();
  };
  write.multicast = [](Builder& whole, const RankGroup& group, Slice slice) {
    std::vector<OpId> sent;
    for (const int rank : group.ranks)
      if (rank != whole.rank()) sent.push_back(whole.send(rank, slice));
    for (const OpId id : sent) whole.after(id);
    return whole.join();
  };
  write.recv_multicast = [](Builder& whole, int root, Slice slice) {
    return whole.recv(root, slice);
  };
  embed(b, schedule, RankGroup::of_all(args.size), {kInput, 0, 0}, {kOutput, 0, 0}, write);
  return std::move(b).finish();
}

}  // namespace unisono
