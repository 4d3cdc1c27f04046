#include "node/costs.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <numbers>

namespace unisono::node {

namespace {

/// The terms of which the formulas are made, for a message of `m` bytes on `p` ranks.
struct Terms {
  double m, p, others, slot, slots;
  double write, fetch, combine, call, pull;

  Terms(double bytes, const MemoryCosts& c, const Setting& s)
      : m(bytes),
        p(s.ranks),
        others(s.ranks - 1),
        slot(static_cast<double>(s.slot)),
        slots(static_cast<double>(s.slots)),
        write(c.write),
        fetch(c.fetch),
        combine(c.combine),
        call(c.call),
        pull(c.pull) {}

  double chunks(double bytes) const { return std::max(1.0, std::ceil(bytes / slot)); }
  /// One writes what another reads behind it, in chunks of so many bytes. They slow each other
  /// down.
  double pipelined(double in, double out, double chunk) const {
    const double first = std::min(m, chunk);
    return (in + out) * first + (std::max(in, out) + std::min(in, out) / 4) * (m - first);
  }
  /// What every rank does alike.
  Work by_each(double ns, double waits, double flags = 0) const {
    return {ns, p * ns, waits, flags};
  }
};

// One function for each row of the catalogue that runs within a node. A chunk in a slot takes two
// steps: its flag comes in one line, what it announces in others. Without the second one slots
// looked 400 ns cheaper than they were (allgather of 16 KiB: 3.2 us, said 2.4; family 6 model 167).

Work bcast_pipeline(const Terms& t) {
  return {t.pipelined(t.write, t.fetch, t.slot), (t.write + t.others * t.fetch) * t.m, 0,
          t.chunks(t.m)};
}
// Where ranks sleep the readers copy all of it; with a core each the root writes a part to each.
Work bcast_direct(const Terms& t) {
  return {t.others * t.call + t.pull * t.m * t.others / t.p, t.others * (t.call + t.pull * t.m), 1,
          1};
}
Work gather_pipeline(const Terms& t) {
  return {t.pipelined(t.write, t.others * t.fetch, t.slot), t.others * (t.write + t.fetch) * t.m, 0,
          t.chunks(t.m)};
}
Work gather_direct(const Terms& t) {
  return {t.call + t.pull * t.m, t.others * (t.call + t.pull * t.m), 1, 1};
}
Work scatter_pipeline(const Terms& t) {
  return {t.pipelined(t.others * t.write, t.fetch, t.slot / t.others),
          t.others * (t.write + t.fetch) * t.m, 0, t.chunks(t.others * t.m),
          (t.chunks(t.others * t.m) - 1) / t.slots};
}
Work allgather_pipeline(const Terms& t) {
  return t.by_each((t.write + t.others * t.fetch) * t.m, 1, t.chunks(t.m));
}
// In each chunk all wait for all.
Work alltoall_pipeline(const Terms& t) {
  Work work = t.by_each(t.others * (t.write + t.fetch) * t.m, 1, t.chunks(t.others * t.m));
  work.turns = work.flags - 1;
  return work;
}
Work alltoall_direct(const Terms& t) { return t.by_each(t.others * (t.call + t.pull * t.m), 2); }

Work reduce_read_all(const Terms& t) {
  const double read = t.others * (t.fetch + t.combine);
  return {t.pipelined(t.write, read, t.slot), (t.others * t.write + read) * t.m, 0, t.chunks(t.m)};
}
Work reduce_slices(const Terms& t) {
  const double slices = t.others / t.p * (t.write + t.fetch + t.combine) * t.m;
  const double result = t.others / t.p * t.fetch * t.m;
  return {slices + t.write * t.m / t.p + result, t.p * slices + t.write * t.m + result, 1,
          2 * t.chunks(t.m)};
}
Work reduce_direct(const Terms& t) {
  const double slice = t.others * (t.call + (t.pull + t.combine) * t.m / t.p);
  const double given = t.call + t.pull * t.m / t.p;
  return {slice + given, t.p * slice + t.others * given, 2, 0};
}
Work allreduce_read_all(const Terms& t) {
  return t.by_each((t.write + t.others * (t.fetch + t.combine)) * t.m, 1, t.chunks(t.m));
}
// Its own slice of the result is copied, with two of a combination's three streams. Without that
// slices were held for cheaper than reading all where they are not: allreduce of 1 MiB on two ranks
// takes 74 us in slices and 66 by reading all (EPYC, Zen 4).
Work allreduce_slices(const Terms& t) {
  const double own = 2.0 / 3 * t.combine / t.p;
  return t.by_each((t.write + t.others / t.p * (2 * t.fetch + t.combine) + own) * t.m, 2,
                   2 * t.chunks(t.m));
}
// What the last one does, the others wait for.
Work allreduce_last_arriver(const Terms& t) {
  const double last = t.others * (t.fetch + t.combine) * t.m + t.write * t.m;
  const double own = (t.write + t.fetch) * t.m;
  return {last + own, last + t.p * own, 1, 0};
}
Work allreduce_direct(const Terms& t) {
  return t.by_each(t.others * (2 * t.call + (2 * t.pull + t.combine) * t.m / t.p), 2);
}
Work reduce_scatter_blocks(const Terms& t) {
  return t.by_each(t.others * (t.write + t.fetch + t.combine) * t.m, 1, t.chunks(t.p * t.m));
}
Work reduce_scatter_direct(const Terms& t) {
  return t.by_each(t.others * (t.call + (t.pull + t.combine) * t.m), 2);
}
// Nobody waits for more than what others have put there before anything else.
Work scan_read_all(const Terms& t) {
  const double mean = (t.write + t.others / 2 * (t.fetch + t.combine)) * t.m;
  return {(t.write + t.others * (t.fetch + t.combine)) * t.m, t.p * mean, 0, t.chunks(t.m)};
}
// A rank that comes before its predecessor sleeps once more: one in so many, for in a loop they
// come in their order. After a barrier scan of 8 B takes 4 ranks on 2 cores 1.7 to 4 us if they
// read all and 4 to 5 in the chain, 8 ranks 9 to 22 and 49 to 89; in a loop of 4 KiB 4 ranks
// take 2.2 to 4 and 1.6 to 1.9 (Open MPI, family 6 model 167).
Work scan_chain(const Terms& t) {
  const double each = t.write + t.fetch + t.combine, first = std::min(t.m, t.slot);
  const double out_of_order = t.others / 16;
  return {each * (t.others * first + t.m - first), t.others * each * t.m, out_of_order,
          t.others - out_of_order + t.chunks(t.m) - 1};
}
// Worringer's stores (PIO) and single copy (DMA): a rank writes what it sends and reads what it
// gets, or copies what it gets; then its sender waits for word of that.
Work message_stored(const Terms& t) {
  return t.by_each((t.write + t.fetch) * t.m, 0, t.chunks(t.m));
}
Work message_direct(const Terms& t) { return t.by_each(t.call + t.pull * t.m, 0, 2); }
Work scan_direct(const Terms& t) {
  return t.by_each(2 * t.p * t.call + (2 * t.p * t.pull + t.others * t.combine) * t.m / t.p, 2);
}

/// From which of these sizes on, up to the last, `later` is cheaper than all of `before`.
class Border {
 public:
  Border(const MemoryCosts& costs, const Setting& setting) : costs_(costs), setting_(setting) {}

  std::size_t of(Kernel kernel, Protocol later, std::initializer_list<Protocol> before) const {
    std::size_t border = DirectFrom::kNever;
    // While a rank sleeps for a direct copy another has its core: the work decides. With 4 ranks on
    // 2 cores gather of 64 KiB takes 17 to 21 us directly and 43 to 98 through slots, alltoall 33
    // to 39 and 65 to 115, bcast and allgather the same both ways (Open MPI, family 6 model 167).
    const bool only_work = setting_.mode == WaitMode::sleep && later == Protocol::direct;
    double bytes = kLargest;
    for (int step = 0; step < kSteps; ++step, bytes /= std::numbers::sqrt2) {
      const auto time = [&](Protocol way) {
        Work work = work_of(kernel, way, bytes, costs_, setting_);
        if (only_work) work.waits = 0;
        return time_of(work, costs_, setting_);
      };
      double best = time(*before.begin());
      for (const Protocol way : before) best = std::min(best, time(way));
      if (time(later) > best) return border;
      border = static_cast<std::size_t>(bytes);
    }
    return 1;
  }
  /// The same in bytes of the others' input, up to which `first` reads all.
  std::size_t up_to(Kernel kernel, Protocol first, std::initializer_list<Protocol> later) const {
    std::size_t most = DirectFrom::kNever;
    for (const Protocol way : later) most = std::min(most, of(kernel, way, {first}));
    const auto others = static_cast<std::size_t>(setting_.ranks - 1);
    return most >= DirectFrom::kNever / others ? DirectFrom::kNever : (most - 1) * others;
  }

 private:
  static constexpr double kLargest = 16 << 20;
  static constexpr int kSteps = 44;  // to 6 bytes

  const MemoryCosts& costs_;
  const Setting& setting_;
};

}  // namespace

MemoryCosts prior_costs(const Setting& setting) {
  MemoryCosts costs;
  if (setting.mode == WaitMode::sleep) {
    costs.pull = 0.12;
    costs.step = 7'500.0 * setting.ranks / setting.cores;  // each wakes up, one after the other
  } else {
    costs.step = 100 * std::max(1, setting.ranks - 1);
  }
  return costs;
}

double time_of(const Work& work, const MemoryCosts& costs, const Setting& setting) {
  const double steps = work.waits + (setting.mode == WaitMode::sleep ? work.turns : work.flags);
  return std::max(work.slowest, work.all / setting.cores) + steps * costs.step;
}

Work work_of(Kernel kernel, Protocol way, double bytes, const MemoryCosts& costs,
             const Setting& setting) {
  const Terms t(bytes, costs, setting);
  const bool direct = way == Protocol::direct, reads = way == Protocol::read_all;
  switch (kernel) {
    case Kernel::bcast: return direct ? bcast_direct(t) : bcast_pipeline(t);
    case Kernel::gather: return direct ? gather_direct(t) : gather_pipeline(t);
    case Kernel::scatter: return direct ? gather_direct(t) : scatter_pipeline(t);
    case Kernel::allgather: return direct ? alltoall_direct(t) : allgather_pipeline(t);
    case Kernel::alltoall: return direct ? alltoall_direct(t) : alltoall_pipeline(t);
    case Kernel::reduce:
      return direct ? reduce_direct(t) : reads ? reduce_read_all(t) : reduce_slices(t);
    case Kernel::allreduce:
      if (way == Protocol::last_arriver) return allreduce_last_arriver(t);
      return direct ? allreduce_direct(t) : reads ? allreduce_read_all(t) : allreduce_slices(t);
    case Kernel::reduce_scatter:
      return direct ? reduce_scatter_direct(t) : reduce_scatter_blocks(t);
    case Kernel::scan: return direct ? scan_direct(t) : reads ? scan_read_all(t) : scan_chain(t);
    case Kernel::message: return direct ? message_direct(t) : message_stored(t);
  }
  return {};
}

double time_by_rule(Kernel kernel, double bytes, const MemoryCosts& costs, const Setting& setting) {
  using enum Protocol;
  const auto least = [&](std::initializer_list<Protocol> ways) {
    double time = std::numeric_limits<double>::infinity();
    for (const Protocol way : ways)
      time = std::min(time, time_of(work_of(kernel, way, bytes, costs, setting), costs, setting));
    return time;
  };
  switch (kernel) {
    case Kernel::reduce: return least({slices, read_all, direct});
    case Kernel::allreduce:
      if (setting.mode == WaitMode::sleep) return least({slices, read_all, direct, last_arriver});
      return least({slices, read_all, direct});
    case Kernel::reduce_scatter: return least({blocks, direct});
    case Kernel::scan: return least({chain, read_all, direct});
    default: return least({pipeline, direct});
  }
}

Thresholds thresholds_of(const MemoryCosts& costs, const Setting& setting) {
  Thresholds found;
  if (setting.ranks == 1) return found;
  using enum Protocol;
  const Border border(costs, setting);
  const auto direct_from = [&](Kernel kernel) { return border.of(kernel, direct, {pipeline}); };
  found.direct.bcast = direct_from(Kernel::bcast);
  found.direct.gather = direct_from(Kernel::gather);
  found.direct.scatter = direct_from(Kernel::scatter);
  found.direct.allgather = direct_from(Kernel::allgather);
  found.direct.alltoall = direct_from(Kernel::alltoall);
  found.direct.reduce_scatter_block = direct_from(Kernel::reduce_scatter);
  found.direct.reduce = border.of(Kernel::reduce, direct, {read_all, slices});
  found.direct.allreduce = border.of(Kernel::allreduce, direct, {read_all, slices});
  found.direct.scan = border.of(Kernel::scan, direct, {read_all, chain});
  Setting channel = setting;
  channel.slot = preferred_channel_slot(setting.ranks);
  found.direct.message = Border(costs, channel).of(Kernel::message, direct, {pipeline});
  found.read.everybody = border.up_to(Kernel::allreduce, read_all, {slices});
  found.read.root = border.up_to(Kernel::reduce, read_all, {slices});
  found.read.last = border.up_to(Kernel::allreduce, last_arriver, {read_all, slices});
  found.read.before = border.up_to(Kernel::scan, read_all, {chain});
  return found;
}

}  // namespace unisono::node
