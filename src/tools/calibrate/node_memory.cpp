#include "tools/calibrate/node_memory.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/wait_mode.h"
#include "comm/share_segment.h"
#include "mpi/agreement.h"
#include "mpi/comm.h"
#include "node/messenger.h"
#include "node/pages.h"
#include "node/reduction.h"
#include "node/single_copy.h"
#include "node/tuning.h"

namespace unisono {

namespace {

using node::Messenger;
using node::SharedMemory;
using Samples = std::vector<double>;
using Bytes = std::vector<std::byte>;

constexpr int kStop = 0, kControl = 1, kTag = 0, kOther = 1;
constexpr std::size_t kShort = 1024;  // to write so much anew costs nothing beside a trip
constexpr int kMostTripsOfShort = 100, kMostFenceTrips = 500, kMostTimes = 10'000;
constexpr double kBlockSeconds = 200e-6, kLocalSeconds = 20e-6;
constexpr std::uint64_t kSeen = 0x5eeeeeeeeeeeeeed;

std::vector<pid_t> processes_of(MPI_Comm comm) {
  const int own = getpid();
  static_assert(sizeof(pid_t) == sizeof(int));
  std::vector<pid_t> all(2);
  MPI_Allgather(&own, 1, MPI_INT, all.data(), 1, MPI_INT, comm);
  return all;
}

/// Whether either rank may read what the other has.
bool reach_each_other(MPI_Comm comm, int rank, const std::vector<pid_t>& processes) {
  std::uint64_t word = kSeen + static_cast<std::uint64_t>(rank);
  const auto own = static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(&word));
  std::array<unsigned long long, 2> words{};
  MPI_Allgather(&own, 1, MPI_UNSIGNED_LONG_LONG, words.data(), 1, MPI_UNSIGNED_LONG_LONG, comm);
  const auto other = static_cast<std::size_t>(1 - rank);
  const bool reached =
      node::can_reach(processes[other], reinterpret_cast<std::uint64_t*>(words[other]),
                      kSeen + static_cast<std::uint64_t>(other));
  return all_agree(comm, reached);  // and `word` stays until both have looked
}

/// So many messages that a single one hardly counts.
int stream_of(std::size_t bytes) {
  constexpr std::size_t kStreamBytes = 1 << 19;
  return static_cast<int>(
      std::clamp<std::size_t>(kStreamBytes / std::max<std::size_t>(1, bytes), 4, 64));
}

/// One rank of the two, and its way to the other.
class Side {
 public:
  Side(std::span<std::byte> arena, int rank, WaitMode mode)
      : messenger_(arena, rank, 2, node::WaitPolicy{.mode = mode}), other_(1 - rank) {}
  Messenger& messenger() { return messenger_; }

  void send(const Bytes& message) {
    messenger_.send(other_, kTag, message.data(), message.size(), {&sent_, 0});
  }
  void recv(Bytes& into) {
    messenger_.recv(other_, kTag, into.data(), into.size(), {&received_, 0});
  }
  void await_sent(std::size_t messages) { await(sent_, messages); }
  void await_received(std::size_t messages) { await(received_, messages); }
  /// An empty message.
  void signal() {
    send({});
    await_sent(1);
  }
  void await_signal() {
    Bytes nothing;
    recv(nothing);
    await_received(1);
  }

 private:
  void await(std::vector<std::uint32_t>& list, std::size_t messages) {
    while (list.size() < messages) messenger_.wait();
    list.clear();
  }

  Messenger messenger_;
  int other_;
  std::vector<std::uint32_t> sent_, received_;
};

void write_anew(Bytes& message, int value) {
  std::memset(message.data(), value & 0xff, message.size());
}

void must_be(const Bytes& message, int value) {
  const auto wanted = static_cast<std::byte>(value & 0xff);
  if (message.empty() || (message.front() == wanted && message.back() == wanted)) return;
  std::fprintf(stderr, "unisono-calibrate: WRONG: %zu bytes came otherwise than they were sent\n",
               message.size());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

}  // namespace

class NodeMemoryProbe::Measurement {
 public:
  Measurement(MPI_Comm pair, node::Segment segment, WaitMode mode)
      : pair_(pair), rank_(rank_in(pair)), mode_(mode), segment_(std::move(segment)) {
    if (rank_ == 0) prepare();
    MPI_Barrier(pair_);
    stores_.emplace(arena(0), rank_, mode_);
    const auto processes = processes_of(pair_);
    if (!reach_each_other(pair_, rank_, processes)) {
      if (rank_ == 0)
        std::fprintf(stderr,
                     "unisono-calibrate: single copies from process to process are not permitted "
                     "here: left out\n");
      return;
    }
    single_copy_.emplace(arena(1), rank_, mode_);
    single_copy_->messenger().allow_direct(processes, 0);
  }

  static std::size_t bytes() { return kFlags * node::kLinePair + 2 * arena_bytes(); }
  bool has_single_copy() const { return single_copy_.has_value(); }

  Samples one_way(bool once, std::size_t bytes, const GoOn& go_on) {
    Side& side = side_of(once);
    const int most = bytes <= kShort ? kMostTripsOfShort : 1;
    Bytes mine(bytes), theirs(bytes);
    return in_blocks(go_on, most,
                     [&](int trips) { return trips_block(side, trips, mine, theirs); });
  }
  Samples gap(bool once, std::size_t bytes, const GoOn& go_on) {
    Side& side = side_of(once);
    const int messages = stream_of(bytes);
    std::vector<Bytes> all(static_cast<std::size_t>(messages), Bytes(bytes));
    // What disturbs a single message would make those of the stream too cheap, or cheaper than
    // nothing.
    double least = std::numeric_limits<double>::infinity();
    return in_blocks(go_on, 1, [&](int) {
      least = std::min(least, stream_block(side, 1, all));
      return (stream_block(side, messages, all) - least) / (messages - 1);
    });
  }
  Samples fence(const GoOn& go_on) {
    return in_blocks(go_on, kMostFenceTrips, [&](int trips) { return fence_block(trips); });
  }

  /// On both ranks at once, as in a pipeline, each for itself.
  template <class Work>
  Samples local(const GoOn& go_on, Work work) const {
    work();
    const double start = MPI_Wtime();
    work();
    const double once = std::max(MPI_Wtime() - start, 1e-9);
    const int times = std::clamp(static_cast<int>(kLocalSeconds / once), 1, kMostTimes);
    MPI_Barrier(pair_);
    Samples samples;
    for (const double begin = MPI_Wtime(); go_on(samples, begin);) {
      const double block = MPI_Wtime();
      for (int i = 0; i < times; ++i) work();
      samples.push_back((MPI_Wtime() - block) / times);
    }
    return samples;
  }

 private:
  // Words with sleepers: a flag of each rank.
  static constexpr std::size_t kFlags = 4;

  static std::size_t arena_bytes() {
    return Messenger::arena_bytes(2, node::preferred_channel_slot(2));
  }
  std::span<std::byte> arena(std::size_t index) const {
    return segment_.memory().subspan(kFlags * node::kLinePair + index * arena_bytes(),
                                     arena_bytes());
  }
  SharedMemory::Word& word(int index) const {
    auto* lines = reinterpret_cast<node::LinePair<SharedMemory>*>(segment_.memory().data());
    return lines[index].value;
  }
  SharedMemory::Word& flag(int rank) const { return word(2 * rank); }
  SharedMemory::Word& sleepers(int rank) const { return word(2 * rank + 1); }

  void prepare() {
    for (std::size_t i = 0; i < kFlags; ++i)
      new (segment_.memory().data() + i * node::kLinePair) node::LinePair<SharedMemory>;
    Messenger::prepare(arena(0).data(), 2);
    Messenger::prepare(arena(1).data(), 2);
  }
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): has() was asked
  Side& side_of(bool once) { return once ? *single_copy_ : *stores_; }

  /// The first rank decides how often both do it, of how many trips a block is, and has the
  /// samples.
  template <class Block>
  Samples in_blocks(const GoOn& go_on, int most_trips, Block block) {
    Samples samples;
    block(1);
    const double once = std::max(block(1), 1e-9);
    int trips = std::clamp(static_cast<int>(kBlockSeconds / (2 * once)), 1, most_trips);
    for (const double begin = MPI_Wtime();;) {
      if (rank_ == 0 && !go_on(samples, begin)) trips = kStop;
      if (rank_ == 0)
        MPI_Send(&trips, 1, MPI_INT, kOther, kControl, pair_);
      else
        MPI_Recv(&trips, 1, MPI_INT, 0, kControl, pair_, MPI_STATUS_IGNORE);
      if (trips == kStop) return samples;
      samples.push_back(block(trips));
    }
  }

  double trips_block(Side& side, int trips, Bytes& mine, Bytes& theirs);
  double stream_block(Side& side, int messages, std::vector<Bytes>& all);
  double fence_block(int trips);

  MPI_Comm pair_;
  int rank_;
  WaitMode mode_;
  node::Segment segment_;
  std::optional<Side> stores_, single_copy_;
  int value_ = 0;  // of the bytes of a message; changes with each
  SharedMemory::Word::value_type step_ = 0;
};

// Either message is written before the clock starts, but for short ones.
double NodeMemoryProbe::Measurement::trips_block(Side& side, int trips, Bytes& mine,
                                                 Bytes& theirs) {
  write_anew(mine, ++value_);
  if (rank_ == 0)
    side.await_signal();
  else
    side.signal();
  const double begin = MPI_Wtime();
  double seconds = 0;
  for (int i = 0; i < trips; ++i) {
    side.recv(theirs);
    if (rank_ == 0) side.send(mine);
    side.await_received(1);
    if (rank_ != 0) side.send(mine);
    if (i + 1 == trips) seconds = (MPI_Wtime() - begin) / (2.0 * trips);
    side.await_sent(1);
    must_be(theirs, value_);
    if (i + 1 < trips) write_anew(mine, ++value_);
  }
  return seconds;
}

// All are written before, and lie where the writing has left them.
double NodeMemoryProbe::Measurement::stream_block(Side& side, int messages,
                                                  std::vector<Bytes>& all) {
  ++value_;
  const auto many = static_cast<std::size_t>(messages);
  if (rank_ != 0) {
    for (std::size_t i = 0; i < many; ++i) side.recv(all[i]);
    side.signal();
    side.await_received(many);
    side.signal();
    must_be(all[many - 1], value_);
    return 0;
  }
  for (std::size_t i = 0; i < many; ++i) write_anew(all[i], value_);
  side.await_signal();
  const double begin = MPI_Wtime();
  for (std::size_t i = 0; i < many; ++i) side.send(all[i]);
  side.await_signal();
  const double seconds = MPI_Wtime() - begin;
  side.await_sent(many);
  return seconds;
}

double NodeMemoryProbe::Measurement::fence_block(int trips) {
  const node::WaitPolicy policy{.mode = mode_};
  const double begin = MPI_Wtime();
  for (int i = 0; i < trips; ++i) {
    ++step_;
    if (rank_ == 0) node::advance<SharedMemory>(flag(0), step_, sleepers(0), mode_);
    node::wait_until<SharedMemory>(flag(1 - rank_), step_, sleepers(1 - rank_), policy);
    if (rank_ != 0) node::advance<SharedMemory>(flag(1), step_, sleepers(1), mode_);
  }
  return (MPI_Wtime() - begin) / (2.0 * trips);
}

NodeMemoryProbe::NodeMemoryProbe(MPI_Comm pair, bool shares_cores) {
  auto segment = share_segment(pair, Measurement::bytes());
  const bool is_allocated = segment && node::allocate((*segment).memory());
  const std::string problem = segment ? "no room in /dev/shm" : segment.error();
  if (!is_allocated && !problem.empty())
    std::fprintf(stderr, "unisono-calibrate: the memory of the node is left out: %s\n",
                 problem.c_str());
  if (!all_agree(pair, is_allocated)) return;
  measurement_ =
      std::make_unique<Measurement>(pair, std::move(*segment), automatic_wait(shares_cores, false));
}

NodeMemoryProbe::~NodeMemoryProbe() = default;

bool NodeMemoryProbe::has(Quantity quantity) const {
  const bool once =
      quantity == Quantity::single_copy_one_way || quantity == Quantity::single_copy_gap;
  return measurement_ != nullptr && (!once || measurement_->has_single_copy());
}

bool NodeMemoryProbe::has(Quantity quantity, std::size_t bytes) {
  return quantity != Quantity::memory_combine || bytes >= sizeof(float);
}

std::vector<double> NodeMemoryProbe::measure(Quantity quantity, std::size_t bytes,
                                             const GoOn& go_on) {
  using enum Quantity;
  Measurement& here = *measurement_;
  switch (quantity) {
    case stores_one_way:
    case single_copy_one_way: return here.one_way(quantity == single_copy_one_way, bytes, go_on);
    case stores_gap:
    case single_copy_gap: return here.gap(quantity == single_copy_gap, bytes, go_on);
    case fence: return here.fence(go_on);
    default: break;  // memory_copy, memory_combine
  }
  // Half a page apart by their places in pages: some processors copy by bytes where these are
  // alike.
  constexpr std::size_t kPage = 4096 / sizeof(float);
  const std::size_t apart = (bytes / sizeof(float) / kPage + 1) * kPage + kPage / 2;
  std::vector<float> all(2 * apart, 1.0F);
  auto* left = reinterpret_cast<std::byte*>(all.data());
  auto* right = reinterpret_cast<std::byte*>(all.data() + apart);
  if (quantity == memory_copy)
    return here.local(go_on, [&] {
      *right ^= std::byte{1};  // so that no copy can be left out
      node::copy_bytes(left, right, bytes);
    });
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): the sum of floats is always there
  const node::Reduction sum = *node::built_in(node::Op::sum, node::Element::float32);
  return here.local(go_on,
                    [&] { sum.combine(sum.context, left, right, left, bytes / sizeof(float)); });
}

}  // namespace unisono
