// The ranks of a communicator that share a node, and the arena through which they run collectives.
#pragma once
#include <sys/types.h>

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "node/flags.h"
#include "node/groups.h"
#include "node/memory.h"
#include "node/memory_costs.h"
#include "node/tuning.h"

namespace unisono::node {

template <class Memory>
struct BasicLevels;

/// Flags, and a ring of slots of every rank through which long messages go in chunks.
/// One rank prepares the arena, and the others learn of it afterwards: that is the caller's
/// business.
template <class Memory>
class BasicTeam : public Flags<Memory> {
 public:
  /// Where there are groups, short messages may go in two levels.
  static std::size_t arena_bytes(const Groups& groups, std::size_t ring_bytes) {
    return bytes_before_slots(groups) +
           static_cast<std::size_t>(groups.size()) * round_up(ring_bytes);
  }
  static std::size_t bytes_before_slots(const Groups& groups) {
    const std::size_t flags = Flags<Memory>::bytes(groups.size());
    return groups.are_one() ? flags : flags + BasicLevels<Memory>::bytes(groups);
  }

  /// By one rank, before the others begin.
  static void prepare(std::byte* arena, const Groups& groups) {
    Flags<Memory>::prepare(arena, groups.size());
    if (!groups.are_one())
      BasicLevels<Memory>::prepare(arena + Flags<Memory>::bytes(groups.size()), groups);
  }

  /// Precondition: the arena has arena_bytes(groups, smallest_ring(size)) at least, aligned to
  /// kLinePair. All ranks have the same groups and slots.
  BasicTeam(std::span<std::byte> arena, int rank, const Groups& groups,
            const WaitPolicy& policy = {}, const Slots& slots = {})
      : Flags<Memory>(arena.data(), rank, groups.size(), policy),
        slots_(arena.data() + bytes_before_slots(groups)),
        slot_bytes_(slots.longest),
        store_(slots.store),
        ring_bytes_(ring_bytes(arena, groups, slots)),
        room_(ring_bytes_),
        window_(ring_bytes_),
        short_bytes_(short_ring_bytes(ring_bytes_)),
        ring_(ring_bytes_ - short_bytes_),
        short_ring_(std::max(short_bytes_, kLinePair)) {
    if (slot_bytes_ == 0) slot_bytes_ = std::min(Slots::kLongest, ring_.bytes() / Slots::kUsual);
    assert(arena.size() >= arena_bytes(groups, smallest_ring(groups.size())));
    if (!groups.are_one())
      levels_ = std::make_unique<BasicLevels<Memory>>(
          arena.data() + Flags<Memory>::bytes(groups.size()), rank, groups, policy);
  }

  /// A slot has room for a byte to each rank.
  static constexpr std::size_t smallest_slot(int size) {
    return round_up(static_cast<std::size_t>(size));
  }
  static constexpr std::size_t smallest_ring(int size) {
    return Slots::kUsual * smallest_slot(size);
  }
  /// The longest chunk.
  std::size_t slot_bytes() const { return slot_bytes_; }
  std::size_t ring_bytes() const { return ring_bytes_; }
  /// Of each rank's ring, what all have allocated; all of it where nothing else is said.
  std::size_t room() const { return room_; }
  /// Before the first call, on all ranks or on none: nothing is allocated yet (room.h). Slots will
  /// be in the first part of the ring, and in more of it once there is room for more.
  void begin_without_room() {
    room_ = 0;
    set_window(first_room());
  }
  /// What slots need at least: as many as are in flight, long ones and short ones.
  std::size_t first_room() const {
    const std::size_t flight = Slots::kUsual * slot_bytes_;
    return std::min((flight + flight / 3) / kLinePair * kLinePair, ring_bytes_);
  }
  /// On all ranks alike, while nobody uses slots.
  void set_room(std::size_t bytes) {
    room_ = bytes;
    if (bytes > window_) set_window(bytes);
  }
  /// On all ranks alike: one of them cannot allocate more.
  void refuse_room() { may_have_room_ = false; }
  bool may_have_room() const { return may_have_room_; }
  Store store() const { return store_; }
  std::byte* slot(int rank, std::size_t offset) {
    return slots_ + static_cast<std::size_t>(rank) * ring_bytes_ + offset;
  }
  /// The next slot; `last` is the step in which a rank may still look at it.
  SlotUse take_slot(std::size_t bytes, Step last) {
    note(bytes);
    return take_unnoted(bytes, last);
  }
  /// Where not all know how much of it will be used.
  SlotUse take_unnoted(std::size_t bytes, Step last) {
    if (bytes <= Slots::kShort && short_bytes_ != 0)
      return short_ring_.take(Slots::kShortGrain, last);
    SlotUse use = ring_.take(bytes, last);
    use.offset += short_bytes_;
    return use;
  }

  /// Into a claimed cell, or slot, of this rank.
  void put(std::byte* where, const std::byte* from, std::size_t bytes) const {
    if (store_ == Store::plain || bytes <= kInline) return Memory::copy(where, from, bytes);
    Memory::stream(where, from, bytes);
  }
  /// What has been put is to be seen by whoever sees what is published next.
  void settle() const {
    if (store_ == Store::nontemporal) Memory::fence();
  }

  /// Of each rank's ring, where slots are.
  std::size_t window() const { return window_; }
  /// Where this rank may work while nobody uses slots: two parts of so many bytes, which the core's
  /// caches have room for.
  std::size_t scratch_bytes() const { return std::min(window_ / 2, kLargestScratch); }
  std::byte* scratch(int part) { return slot(this->rank(), part == 0 ? 0 : scratch_bytes()); }

  /// Before the first call, on all ranks or on none, and only where every rank can_reach() every
  /// other. `processes` of all ranks; they stay where they are.
  void allow_direct(std::span<const pid_t> processes, const DirectFrom& from) {
    assert(processes.size() == static_cast<std::size_t>(this->size()));
    processes_ = processes;
    direct_from_ = from;
  }
  const DirectFrom& direct_from() const { return direct_from_; }
  /// On all ranks alike; where direct copies are allowed.
  void set_direct_from(const DirectFrom& from) {
    if (has_direct()) direct_from_ = from;
  }
  /// On all ranks alike.
  void forbid_direct() {
    direct_from_ = {};
    processes_ = {};
  }
  /// Whether direct copies are allowed, whatever the length.
  bool has_direct() const { return !processes_.empty(); }
  /// A direct copy of this rank has failed: it tries no other.
  void note_failed_copy() { may_copy_ = false; }
  bool may_copy() const { return may_copy_; }
  /// On all ranks alike, or on none.
  void set_read_all(const ReadAll& up_to) { read_all_up_to_ = up_to; }
  const ReadAll& read_all_up_to() const { return read_all_up_to_; }
  /// What the ranks have measured, equal on all; nothing before.
  const std::optional<MemoryCosts>& measured() const { return measured_; }
  void set_measured(const MemoryCosts& costs) { measured_ = costs; }
  /// On all ranks alike, while nobody uses slots.
  void set_store(Store store) { store_ = store; }

  /// What slots cost either way when all was measured, as a glance sees it; nothing before.
  const std::optional<SlotCosts>& slot_costs() const { return slot_costs_; }
  void set_slot_costs(const SlotCosts& costs) { slot_costs_ = costs; }

  /// On all ranks alike: when the team is to measure (probe.h).
  void set_probing(const Probing& probing) {
    probing_ = probing;
    look_at_ = probe_at_ = probing.first == 0 ? DirectFrom::kNever : probing.first;
  }
  const Probing& probing() const { return probing_; }
  /// In the middle of some call, on all ranks in the same: what has been chosen for a kind of calls
  /// is not to be taken any more. The next call measures first.
  void when_due(void (*outdated)(void*), void* context) {
    outdated_ = outdated;
    context_ = context;
  }
  Look due() const { return due_; }
  /// How often all was to be measured.
  unsigned epoch() const { return epoch_; }
  /// On all ranks alike, in a call of all, which goes on as it was chosen.
  void ask_for_all() {
    look_at_ = DirectFrom::kNever;
    if (this->size() > 1) due_ = Look::all;
    ++epoch_;
    if (outdated_ != nullptr) outdated_(context_);
  }
  /// Since all was measured.
  std::size_t moved_since() const { return moved_ - measured_at_; }
  /// What is moved in between does not count.
  void begin_look() {
    look_at_ = DirectFrom::kNever;
    moved_before_ = moved_;
  }
  void end_look() {
    moved_ = moved_before_;
    if (due_ == Look::all) {
      measured_at_ = moved_;
      probe_at_ = moved_ + probing_.again;
    }
    due_ = Look::nothing;
    const bool glances = slot_costs_ && probing_.glance != 0;
    look_at_ = glances ? std::min(probe_at_, moved_ + probing_.glance) : probe_at_;
  }
  /// So many bytes were moved, as all ranks know.
  void note(std::size_t bytes) {
    moved_ += bytes;
    if (moved_ >= look_at_) [[unlikely]]
      become_due();
  }

  /// None where all ranks are one group.
  BasicLevels<Memory>* levels() const { return levels_.get(); }
  pid_t process(int rank) const { return processes_[static_cast<std::size_t>(rank)]; }

 private:
  static constexpr std::size_t round_up(std::size_t bytes) {
    return (bytes + kLinePair - 1) / kLinePair * kLinePair;
  }
  static std::size_t ring_bytes(std::span<std::byte> arena, const Groups& groups,
                                const Slots& slots) {
    const std::size_t each =
        (arena.size() - bytes_before_slots(groups)) / static_cast<std::size_t>(groups.size());
    const std::size_t bytes = slots.ring == 0 ? each : std::min(each, slots.ring);
    return bytes / kLinePair * kLinePair;
  }
  /// None where the memory is too small for one.
  static constexpr std::size_t short_ring_bytes(std::size_t all) {
    const std::size_t bytes = std::min(Slots::kShortRing, all / 4) / kLinePair * kLinePair;
    return bytes < Slots::kLeast * Slots::kShortGrain ? 0 : bytes;
  }
  /// From now on slots are in so much of the ring.
  void set_window(std::size_t bytes) {
    const Step next = this->take(0);  // nobody reads a slot any more who is there
    window_ = bytes;
    short_bytes_ = short_ring_bytes(window_);
    ring_.restart(window_ - short_bytes_, next);
    short_ring_.restart(std::max(short_bytes_, kLinePair), next);
  }
  [[gnu::noinline, gnu::cold]] void become_due() {
    if (moved_ >= probe_at_) return ask_for_all();
    look_at_ = DirectFrom::kNever;
    due_ = Look::glance;
  }
  static constexpr std::size_t kLargestScratch = 256 << 10;

  std::byte* slots_;
  std::size_t slot_bytes_;
  Store store_;
  std::span<const pid_t> processes_;
  DirectFrom direct_from_;
  ReadAll read_all_up_to_;
  std::optional<MemoryCosts> measured_;
  std::optional<SlotCosts> slot_costs_;
  std::unique_ptr<BasicLevels<Memory>> levels_;
  bool may_copy_ = true, may_have_room_ = true;
  Probing probing_;
  std::size_t moved_ = 0, moved_before_ = 0, measured_at_ = 0;
  std::size_t probe_at_ = DirectFrom::kNever, look_at_ = DirectFrom::kNever;
  Look due_ = Look::nothing;
  unsigned epoch_ = 0;
  void (*outdated_)(void*) = nullptr;
  void* context_ = nullptr;
  std::size_t ring_bytes_, room_, window_, short_bytes_;
  Ring<Memory::kUses> ring_;  // the last: what they remember is long
  Ring<Memory::kUses> short_ring_;
};

/// A team for each group, and one for the leaders: for levels.h.
template <class Memory>
struct BasicLevels {
  using Team = BasicTeam<Memory>;

  static std::size_t bytes(const Groups& all) {
    std::size_t sum = Team::arena_bytes(all.count(), ring_of_leader(all));
    for (int i = 0; i < all.count(); ++i) sum += bytes_of(all, i);
    return sum;
  }
  static void prepare(std::byte* memory, const Groups& all) {
    Team::prepare(memory, all.count());
    for (int i = 0; i < all.count(); ++i)
      Team::prepare(arena_of(memory, all, i).data(), all.size_of(i));
  }
  BasicLevels(std::byte* memory, int rank, const Groups& all, const WaitPolicy& policy)
      : groups(all),
        index(all.of(rank)),
        group(arena_of(memory, all, index), all.place_of(rank), all.size_of(index), policy) {
    assert(all.largest() <= kLargestGroup);
    if (all.leads(rank))
      leaders.emplace(std::span(memory, Team::arena_bytes(all.count(), ring_of_leader(all))), index,
                      all.count(), policy, Slots{.longest = slot_of_leader(all)});
  }

  Groups groups;
  int index;                    ///< of this rank's group
  Team group;                   ///< ranks are places
  std::optional<Team> leaders;  ///< on leaders; ranks are groups

 private:
  /// A message of each member.
  static std::size_t slot_of_leader(const Groups& all) {
    return std::max(static_cast<std::size_t>(all.largest()) * kInline,
                    Team::smallest_slot(all.count()));
  }
  static std::size_t ring_of_leader(const Groups& all) {
    return Slots::kUsual * slot_of_leader(all);
  }
  /// Messages go in cells.
  static std::size_t bytes_of(const Groups& all, int i) {
    return Team::arena_bytes(all.size_of(i), Team::smallest_ring(all.size_of(i)));
  }
  static std::span<std::byte> arena_of(std::byte* memory, const Groups& all, int i) {
    memory += Team::arena_bytes(all.count(), ring_of_leader(all));
    for (int before = 0; before < i; ++before) memory += bytes_of(all, before);
    return {memory, bytes_of(all, i)};
  }
};

using Team = BasicTeam<SharedMemory>;

}  // namespace unisono::node
