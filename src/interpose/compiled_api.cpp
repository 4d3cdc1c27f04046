// include/unisono/unisono.h: compiled communication.
#include <mpi.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "base/hash.h"
#include "base/printable.h"
#include "comm/communicator.h"
#include "files/file.h"
#include "interpose/api.h"
#include "mpi/agreement.h"
#include "select/stored_order.h"
#include "unisono/unisono.h"

namespace unisono {

namespace {

/// A communicator on which not all ranks call, or where Unisono runs nothing, is null. So is one
/// with ranks of another MPI_COMM_WORLD, which may have no Unisono and then answer nothing.
Communicator* known(MPI_Comm comm) {
  Communicator* communicator = Communicator::of(comm);
  if (communicator == nullptr || communicator->is_inter() || members_in_world(comm).empty())
    return nullptr;
  communicator->meet();
  return communicator;
}

constexpr const char* kNone =
    "not an intra-communicator of one MPI_COMM_WORLD that Unisono is active on";

/// One whose calls follow an order.
std::optional<Collective> ordered(const char* name) {
  const auto collective = collective_named(name == nullptr ? "" : name);
  if (!collective) return std::nullopt;
  const auto rows = catalogue();
  const bool any = std::any_of(rows.begin(), rows.end(), [&](const Algorithm& row) {
    return contains(row.collectives, *collective) && (row.restrictions & kOrder) != 0;
  });
  return any && is_irregular(*collective) ? collective : std::nullopt;
}

constexpr const char* kNotOrdered =
    "calls of this collective follow no order; alltoallv, alltoallw do";

/// Runs a function of a communicator and a collective whose calls follow an order.
template <class Run>
int on_ordered(MPI_Comm comm, const char* name, const Run& run) try {
  Communicator* communicator = known(comm);
  if (communicator == nullptr) return fail_with(kNone);
  const auto collective = ordered(name);
  if (!collective)
    return fail_with(std::string(name == nullptr ? "NULL" : name) + ": " + kNotOrdered);
  return run(*communicator, *collective);
} catch (...) {
  return fail_with("no memory");
}

template <class Run>
int on_group(MPI_Comm comm, int members, const int* ranks, const Run& run) try {
  Communicator* communicator = known(comm);
  if (communicator == nullptr) return fail_with(kNone);
  RankGroup group;
  if (ranks != nullptr && members > 0) group.ranks.assign(ranks, ranks + members);
  RankGroup different = group;
  std::sort(different.ranks.begin(), different.ranks.end());
  const bool twice =
      std::adjacent_find(different.ranks.begin(), different.ranks.end()) != different.ranks.end();
  const bool sound = members >= 2 && ranks != nullptr && !twice && different.ranks.front() >= 0 &&
                     different.ranks.back() < communicator->size();
  const auto hash =
      fnv1a({reinterpret_cast<const char*>(group.ranks.data()), group.ranks.size() * sizeof(int)});
  if (!all_equal(comm, sound ? hash : 0))
    return fail_with("the group is not the same on all ranks");
  if (!sound) return fail_with("a group has at least two ranks of the communicator, each once");
  if (!communicator->may_multicast())
    return fail_with("no multicast between the ranks of this communicator");
  const std::span<const int> nodes = communicator->topology().at(Level::node)->group_of_ranks();
  std::set<int> hosts;
  for (const int rank : group.ranks) hosts.insert(nodes[static_cast<std::size_t>(rank)]);
  if (hosts.size() < group.ranks.size())
    return fail_with("two ranks of the group are on one node: one can receive for both");
  if (communicator->own() == MPI_COMM_NULL) return fail_with("no room for another communicator");
  return run(*communicator, group);
} catch (...) {
  return fail_with("no memory");
}

}  // namespace

}  // namespace unisono

using namespace unisono;

extern "C" {

int unisono_know_counts(MPI_Comm comm, const char* collective, const long long counts[]) {
  return on_ordered(comm, collective, [&](Communicator& communicator, Collective of) {
    const auto p = static_cast<std::size_t>(communicator.size());
    const std::span all(counts, counts == nullptr ? 0 : p * p);
    const bool sound = counts != nullptr &&
                       std::all_of(all.begin(), all.end(), [](long long n) { return n >= 0; });
    const auto hash = sound ? fnv1a({reinterpret_cast<const char*>(counts), all.size_bytes()}) : 0;
    if (!all_equal(comm, hash)) return fail_with("the counts are not the same on all ranks");
    if (!sound) return fail_with("counts are NULL, or negative");
    CountMatrix matrix;
    std::vector<Count> row(p);
    for (std::size_t i = 0; i < p; ++i) {
      std::copy_n(counts + i * p, p, row.begin());
      matrix.add_dense_row(row);
    }
    communicator.planned_calls().know(of, std::move(matrix));
    return 0;
  });
}

int unisono_load_schedule(MPI_Comm comm, const char* collective, const char* path) {
  return on_ordered(comm, collective, [&](Communicator& communicator, Collective of) {
    const std::string name = path == nullptr ? "" : path;
    const auto text = read_file(name);
    auto order = text ? read_order(*text) : Error{text.error()};
    const std::uint64_t hash = fnv1a(text ? *text : std::string("unreadable"));
    if (!all_equal(comm, hash)) return fail_with(name + ": not the same on all ranks");
    if (!order) return fail_with(line_about(name, order.error()));
    if (order->list.size != communicator.size())
      return fail_with(name + ": an order for " + std::to_string(order->list.size) +
                       " ranks, not for " + std::to_string(communicator.size()));
    communicator.planned_calls().follow(of, std::move(*order));
    return 0;
  });
}

int unisono_save_schedule(MPI_Comm comm, const char* collective, const char* path) {
  return on_ordered(comm, collective, [&](Communicator& communicator, Collective of) {
    const std::string name = path == nullptr ? "" : path;
    const auto order = communicator.planned_calls().latest(of);
    std::string wrong;
    if (!order)
      wrong = "no call has followed an order yet whose counts are known";
    else if (communicator.rank() == 0)
      wrong = write_file(name, write_order(*order), kOrderMark).value_or("");
    const bool all = all_agree(comm, wrong.empty());
    if (all) return 0;
    return fail_with(name + ": " + (wrong.empty() ? "rank 0 could not write it" : wrong));
  });
}

int unisono_forget_schedule(MPI_Comm comm, const char* collective) {
  return on_ordered(comm, collective, [&](Communicator& communicator, Collective of) {
    communicator.planned_calls().forget(of);
    return 0;
  });
}

int unisono_open_group(MPI_Comm comm, int members, const int ranks[]) {
  return on_group(comm, members, ranks, [](Communicator& communicator, const RankGroup& group) {
    std::shared_ptr<MulticastChannel> channel;
    MulticastGroups& groups = communicator.multicast();
    if (groups.find(group, channel) ||
        groups.open(communicator.own(), group, MulticastGroups::For::all_calls, channel))
      return 0;
    return fail_with("no multicast group could be made: rank 0 has said why");
  });
}

int unisono_close_group(MPI_Comm comm, int members, const int ranks[]) {
  return on_group(comm, members, ranks, [](Communicator& communicator, const RankGroup& group) {
    if (communicator.multicast().close(communicator.own(), group)) return 0;
    return fail_with("no such group is open");
  });
}

}  // extern "C"
