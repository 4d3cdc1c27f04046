#include "comm/node_memory.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <new>
#include <numeric>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "base/cores.h"
#include "base/say.h"
#include "base/size.h"
#include "comm/placement.h"
#include "comm/share_segment.h"
#include "mpi/comm.h"
#include "mpi/datatype.h"
#include "mpi/patience.h"
#include "mpi/progress.h"
#include "mpi/rank_lost.h"
#include "node/domains.h"
#include "node/pages.h"
#include "node/probe.h"
#include "node/room.h"
#include "node/single_copy.h"
#include "node/tuning.h"

namespace unisono {

namespace {

// Pages that nobody uses take no memory.
constexpr long long kBytesPerRank = 16 << 20;
// Where Linux does not say how large it is.
constexpr std::size_t kUsualPrivateCache = 1 << 20;
// With fewer no two caches have two each, and nothing is gained by knowing which.
constexpr int kLeastRanksForDomains = 4;
constexpr std::chrono::seconds kBetweenLooks{1};
// Much longer than a turn takes (MPICH: 1.5 us, and the others wait): at every 50 us calls of 8
// bytes took 5 % longer.
constexpr std::chrono::microseconds kBetweenTurns{200};

/// A rank that has come to MPI_Finalize may be gone.
enum class RankState : int { running, finished, dead };

/// What the ranks of a node know of each other.
struct RosterEntry {
  /// The namespace in which `process` means something.
  std::atomic<unsigned long> process_names{0};
  std::atomic<int> process{0};
  std::atomic<RankState> state{RankState::running};
  WaitMode mode = WaitMode::yield;
  std::size_t private_cache = 0;  // of a core; 0: not known
  int cores = 1;                  // online here, or that many by quota
  // By which others find out whether they reach its memory.
  std::uint64_t* address = nullptr;
  std::uint64_t word = 0;
  node::CpuMask affinity{};
};

/// What the first rank of a node decides, and tells, for all; and behind it the roster.
struct Beginning {
  Notice notice{};
  bool looks_for_domains = false;
  node::Slots slots;
  node::Probing probing;
};

constexpr std::size_t kRosterBehind =
    (sizeof(Beginning) + alignof(RosterEntry) - 1) / alignof(RosterEntry) * alignof(RosterEntry);

std::size_t roster_bytes(int ranks) {
  return kRosterBehind + static_cast<std::size_t>(ranks) * sizeof(RosterEntry);
}

Beginning& beginning_in(const node::Segment& segment, int ranks) {
  std::byte* begin = segment.memory().data() + node::Pool::first_arena(roster_bytes(ranks));
  return *reinterpret_cast<Beginning*>(begin);
}

std::span<RosterEntry> roster_in(const node::Segment& segment, int ranks) {
  auto* begin = reinterpret_cast<std::byte*>(&beginning_in(segment, ranks));
  return {reinterpret_cast<RosterEntry*>(begin + kRosterBehind), static_cast<std::size_t>(ranks)};
}

struct NodeMemory {
  explicit NodeMemory(node::Segment&& made) : segment(std::move(made)), pool(segment.memory()) {}

  node::Segment segment;
  node::Pool pool;
  const Beginning* beginning = nullptr;
  std::span<RosterEntry> roster;  // by rank in the node
  MPI_Group ranks = MPI_GROUP_NULL;
  int rank = 0;
  WaitMode mode = WaitMode::spin;  // the slowest of all: who sleeps must be woken by all
  std::size_t private_cache = 0;   // of a core, the largest
  node::Probing probing;
  bool single_copy = false;  // is asked for
  std::vector<int> domains;  // of all ranks; empty where they are not in several
};

// Never destroyed: see stop_node_memory.
NodeMemory* g_memory = nullptr;

/// Others read it if they reach this process's memory.
std::uint64_t g_word = 0;

/// Half of what is free, so that others find room too.
long long suitable_bytes(int ranks) {
  const long long wanted = kBytesPerRank * ranks;
  struct statvfs facts {};
  const bool limited = statvfs("/dev/shm", &facts) == 0 && facts.f_blocks != 0;
  if (!limited) return wanted;
  return std::min(wanted, static_cast<long long>(facts.f_bavail * facts.f_frsize / 2));
}

/// Also one that nobody has waited for yet. Where the kernel cannot say, nobody is.
bool is_dead(int process) {
  const int file = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
  if (file < 0) return errno == ESRCH;
  pollfd ended{file, POLLIN, 0};
  const bool dead = poll(&ended, 1, 0) == 1;
  close(file);
  return dead;
}

/// 0: not known.
unsigned long namespace_of_processes() {
  struct stat facts {};
  return stat("/proc/self/ns/pid", &facts) == 0 ? facts.st_ino : 0;
}

/// Whether it has died. The first to see that says so.
bool is_lost(RosterEntry& other, const RosterEntry& own) {
  if (other.state != RankState::running) return other.state == RankState::dead;
  const int process = other.process.load(std::memory_order_relaxed);
  if (own.process_names == 0 || other.process_names != own.process_names || !is_dead(process))
    return false;
  RankState state = RankState::running;
  if (other.state.compare_exchange_strong(state, RankState::dead))
    say("process " + std::to_string(process) +
        ", a rank of this node, has ended without MPI_Finalize");
  return state != RankState::finished;
}

/// Of the ranks that may be waited for: the others are their own communicators' affair. Those of
/// other nodes the MPI library tells of, and one rank only: that one has revoked the communicator,
/// left the call, and is waited for here.
void look_for_the_dead(NodeMemory& memory, const Awaited& awaited) {
  const RosterEntry& own = memory.roster[static_cast<std::size_t>(memory.rank)];
  for (const int member : awaited.members)
    if (is_lost(memory.roster[static_cast<std::size_t>(member)], own)) throw node::RankLost();
  if (is_revoked(awaited.comm) || is_call_revoked()) throw node::RankLost();
}

using Clock = std::chrono::steady_clock;

/// When the MPI library had its last turn in this thread.
thread_local Clock::time_point t_last_turn;

// In a wait that lasts. Ranks elsewhere may wait for messages of this one, or for its window, which
// only the MPI library moves, and only when it is called (MPI-4.1, 3.5: progress).
void give_turn() {
  let_progress();
  t_last_turn = Clock::now();
}

/// `awaited`: NodeArena's. The first look comes when a wait has lasted as long as there are between
/// looks: who comes late to a call is not absent.
void idle(void* awaited) {
  give_turn();
  const Clock::time_point now = t_last_turn;
  const Awaited& others = *static_cast<const Awaited*>(awaited);
  const std::pair wait(awaited, others.call != nullptr ? *others.call : 0);
  thread_local std::pair last_wait(wait);
  thread_local Clock::time_point last_look = now;
  if (std::exchange(last_wait, wait) != wait) last_look = now;
  if (now - last_look < kBetweenLooks) return;
  last_look = now;
  look_for_the_dead(*g_memory, others);
  if (others.team != nullptr) others.team->look_for_difference(others.call);
}

node::Probing probing_of(const NodeSettings& settings) {
  node::Probing probing;
  probing.any_store = !settings.store;
  probing.first =
      settings.probe ? static_cast<std::size_t>(*settings.probe) : node::Probing::kFirst;
  if (settings.probe) probing.again = probing.first;
  return probing;
}

Beginning beginning_of(const NodeSettings& settings, int ranks) {
  return {settings.notice,
          ranks >= kLeastRanksForDomains && node::may_have_domains(settings.machine),
          {static_cast<std::size_t>(settings.ring.value_or(0)), 0,
           settings.store.value_or(node::Store::plain)},
          probing_of(settings)};
}

/// The first rank's: the pool's books, and in the first arena what it decides and the roster.
Result<bool> prepare(node::Segment& segment, const Beginning& beginning, int ranks) {
  const std::size_t bytes = roster_bytes(ranks);
  const std::span<std::byte> all = segment.memory();
  const std::size_t offset = node::Pool::first_arena(bytes);
  if (offset + bytes > all.size() ||
      !node::allocate(all.first(node::Pool::bytes_of_books(all.size()))) ||
      !node::allocate(all.subspan(offset, bytes)))
    return Error{"no room in the shared memory for the books of " + std::to_string(ranks) +
                 " ranks"};
  node::Pool::prepare(all);
  if (!node::Pool(all).take(bytes)) return Error{"the shared memory is too small for its ranks"};
  new (all.data() + offset) Beginning(beginning);
  for (RosterEntry& entry : roster_in(segment, ranks)) new (&entry) RosterEntry;
  return true;
}

/// This rank's entry, for all to read.
void enter(const node::Segment& segment, int rank, int ranks, const NodeSettings& settings) {
  if (getrandom(&g_word, sizeof g_word, 0) != sizeof g_word) g_word = 0;
  RosterEntry& own = roster_in(segment, ranks)[static_cast<std::size_t>(rank)];
  own.mode = settings.mode;
  own.affinity = node::affinity();
  own.private_cache = node::private_cache_bytes(own.affinity, settings.machine);
  own.cores = online_cores();
  own.address = &g_word;
  own.word = g_word;
  own.process_names.store(namespace_of_processes());
  own.process.store(getpid());
}

/// The first rank makes it, if there is room, and all enter it.
Result<node::Segment> make_segment(MPI_Comm node, int rank, int ranks,
                                   const NodeSettings& settings) {
  const long long bytes = rank != 0 ? 0 : settings.bytes.value_or(suitable_bytes(ranks));
  const auto prepared = [&](node::Segment& segment) -> Result<bool> {
    return prepare(segment, beginning_of(settings, ranks), ranks);
  };
  const bool has_room = bytes >= kLeastBytes;
  const auto entered = [&](const node::Segment& segment) {
    enter(segment, rank, ranks, settings);
    return start_progress();
  };
  auto shared =
      share_segment(node, has_room ? static_cast<std::size_t>(bytes) : 0, prepared, entered);
  if (rank != 0 || has_room) return shared;
  return Error{"no room for shared memory in /dev/shm; make it larger (docker run --shm-size)"};
}

/// What all ranks have entered.
std::unique_ptr<NodeMemory> memory_of(node::Segment&& segment, int rank, int ranks) {
  auto memory = std::make_unique<NodeMemory>(std::move(segment));
  memory->beginning = &beginning_in(memory->segment, ranks);
  memory->probing = memory->beginning->probing;
  memory->rank = rank;
  memory->roster = roster_in(memory->segment, ranks);
  int cores = memory->roster[0].cores;
  for (const RosterEntry& entry : memory->roster) {
    const std::size_t cache = entry.private_cache;
    memory->mode = std::max(memory->mode, entry.mode);
    memory->private_cache =
        std::max(memory->private_cache, cache == 0 ? kUsualPrivateCache : cache);
    cores = std::min(cores, entry.cores);
  }
  memory->probing.cores = std::max(1, cores);
  return memory;
}

/// One rank reads for all.
std::vector<int> domains_of_ranks(const NodeMemory& memory, MPI_Comm node,
                                  const std::string& machine) {
  std::vector<int> domains;
  if (memory.rank == 0) {
    std::vector<node::CpuMask> masks;
    for (const RosterEntry& entry : memory.roster) masks.push_back(entry.affinity);
    domains = node::domains_of(masks, machine);
  }
  domains.resize(memory.roster.size(), node::kNoDomain);
  tell_patiently(domains.data(), static_cast<int>(domains.size() * sizeof(int)), node);
  const bool any = std::any_of(domains.begin(), domains.end(),
                               [](int domain) { return domain != node::kNoDomain; });
  return any ? domains : std::vector<int>();
}

/// Whether this rank reaches the memory of all of these, which show it a word.
bool reaches(const std::vector<int>& members) {
  return g_memory->single_copy && std::all_of(members.begin(), members.end(), [](int member) {
           const RosterEntry& other = g_memory->roster[static_cast<std::size_t>(member)];
           return node::can_reach(other.process, other.address, other.word);
         });
}

}  // namespace

void start_node_memory(MPI_Comm node, const NodeSettings& settings) {
#ifdef UNISONO_FLAVOUR_SMPI
  return;  // simulated ranks wait for nobody but the simulator
#endif
  const int rank = rank_in(node), size = size_of(node);
  if (size == 1) return;
  Result<node::Segment> segment = make_segment(node, rank, size, settings);
  if (!segment && !segment.error().empty())
    say(segment.error() + "; collectives of this node run in the MPI library");
  if (!segment) return stop_progress();  // nobody has it
  auto memory = memory_of(std::move(*segment), rank, size);
  if (memory->beginning->looks_for_domains)
    memory->domains = domains_of_ranks(*memory, node, settings.machine);
  memory->single_copy = settings.single_copy;
  PMPI_Comm_group(node, &memory->ranks);
  g_memory = memory.release();
}

// The mapping stays until the process ends.
void stop_node_memory() {
  if (g_memory == nullptr) return;
  g_memory->roster[static_cast<std::size_t>(g_memory->rank)].state.store(RankState::finished,
                                                                         std::memory_order_release);
}

void give_turn_to_library() {
  if (Clock::now() - t_last_turn >= kBetweenTurns) give_turn();
}

bool has_node_memory() { return g_memory != nullptr; }

const Notice& node_notice() { return g_memory->beginning->notice; }

WaitMode node_wait() { return g_memory->mode; }

namespace {

/// Of the ranks of `comm`, their ranks in this node; MPI_UNDEFINED of those elsewhere.
std::vector<int> ranks_in_node(MPI_Comm comm) {
  const int size = size_of(comm);
  std::vector<int> ranks(static_cast<std::size_t>(size)), in_node(ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  MPI_Group group = MPI_GROUP_NULL;
  PMPI_Comm_group(comm, &group);
  PMPI_Group_translate_ranks(group, size, ranks.data(), g_memory->ranks, in_node.data());
  PMPI_Group_free(&group);
  return in_node;
}

}  // namespace

std::vector<int> domains_in(MPI_Comm comm) {
  if (g_memory == nullptr || g_memory->domains.empty()) return {};
  std::vector<int> domains = ranks_in_node(comm);
  for (int& domain : domains) domain = g_memory->domains[static_cast<std::size_t>(domain)];
  return domains;
}

NodeTeam::NodeTeam(NodeArena arena, const node::Groups& groups, const node::Slots& slots,
                   const node::Probing& probing)
    : InNode(std::move(arena), groups, slots) {
  arena_.awaited->team = &user_;
  if (!arena_.processes.empty()) user_.allow_direct(arena_.processes, {});
  node::begin(user_, probing);
  user_.begin_without_room();
}

std::uint64_t NodeTeam::end_calls(bool failed) {
  static constexpr std::chrono::microseconds kPause{200};
  return user_.end_calls(failed, [this] {
    give_turn();
    look_for_the_dead(*g_memory, *arena_.awaited);
    std::this_thread::sleep_for(kPause);
  });
}

// What never measures goes round the whole ring from the beginning.
bool NodeTeam::make_room() {
  const bool measures = user_.probing().first != 0;
  return node::make_room(user_, measures ? user_.first_room() : user_.ring_bytes());
}

// What was chosen by other costs is forgotten, as whenever all is measured.
std::size_t NodeTeam::direct_messages_from() {
  if (!user_.measured() && user_.size() > 1 && user_.probing().first != 0) {
    user_.ask_for_all();
    node::measure(user_);
  }
  return user_.direct_from().message;
}

NodeMessages::NodeMessages(NodeArena arena, int ranks) : InNode(std::move(arena), ranks) {}

void NodeMessages::copy_directly_from(std::size_t bytes) {
  if (!arena_.processes.empty()) user_.allow_direct(arena_.processes, bytes);
}

namespace {

/// The first rank's: takes an arena for a User, with slots, or rings of them, of so many bytes if
/// there is room, else with shorter ones, which are better than none (the pool may be in pieces, or
/// the ranks many), and prepares it. Nothing where there is no room for `least` either.
template <class User, class Shape>
std::optional<node::Arena> prepared_arena(const Shape& shape, std::size_t slots,
                                          std::size_t least) {
  std::optional<node::Arena> arena;
  for (; !arena && slots >= least; slots /= 2)
    arena = g_memory->pool.take(User::arena_bytes(shape, slots));
  if (!arena) return std::nullopt;
  const auto memory = g_memory->pool.memory(*arena);
  if (!node::allocate(memory.first(User::arena_bytes(shape, 0)))) {
    g_memory->pool.give_back(*arena);
    return std::nullopt;
  }
  User::prepare(memory.data(), shape);
  return arena;
}

/// Allocates what this rank writes, or nearly that: an equal part for every rank.
bool allocate_part(const NodeArena& arena) {
  const auto memory = arena.memory();
  const auto ranks = static_cast<std::size_t>(arena.size);
  const auto own = static_cast<std::size_t>(arena.rank);
  const std::size_t begin = memory.size() * own / ranks, end = memory.size() * (own + 1) / ranks;
  return node::allocate(memory.subspan(begin, end - begin));
}

/// The processes of all ranks of `comm`, for direct copies: none where one of them cannot reach all
/// others. Nothing, on all ranks, when one of them is not `ready`.
std::optional<std::vector<pid_t>> meet(MPI_Comm comm, bool ready) {
  constexpr int kNotReady = 0, kReachesNotAll = -1;
  const std::vector<int> members = ranks_in_node(comm);
  const int own = !ready || !prepare_copies() ? kNotReady
                  : reaches(members)          ? getpid()
                                              : kReachesNotAll;
  static_assert(sizeof(pid_t) == sizeof(int));
  std::vector<pid_t> all(members.size());
  PMPI_Allgather(&own, 1, MPI_INT, all.data(), 1, MPI_INT, comm);
  if (std::find(all.begin(), all.end(), kNotReady) != all.end()) return std::nullopt;
  if (std::find(all.begin(), all.end(), kReachesNotAll) != all.end()) all.clear();
  return all;
}

/// Collective over `comm`; nothing on all ranks where there is no arena, or some rank is not
/// is_ready(arena).
template <class User, class Shape, class IsReady>
std::optional<NodeArena> take_arena(MPI_Comm comm, MPI_Comm whole, const Shape& shape,
                                    std::size_t slots, std::size_t least, IsReady is_ready) {
  NodeArena made{g_memory->pool, {}, rank_in(comm), size_of(comm), {}, {}, {}};
  std::vector<int> members = ranks_in_node(whole);
  std::erase(members, MPI_UNDEFINED);
  made.awaited = std::make_unique<Awaited>(Awaited{std::move(members), whole});
  made.policy = {g_memory->mode, idle, made.awaited.get()};
  std::array<unsigned long long, 2> place{};  // offset and bytes
  if (made.rank == 0)
    if (const auto arena = prepared_arena<User>(shape, slots, least))
      place = {arena->offset, arena->bytes};
  PMPI_Bcast(place.data(), 2, MPI_UNSIGNED_LONG_LONG, 0, comm);
  if (place[1] == 0) return std::nullopt;
  made.arena = {place[0], place[1]};
  auto processes = meet(comm, is_ready(made));
  if (!processes) {
    if (made.rank == 0) made.pool.give_back(made.arena);
    return std::nullopt;
  }
  made.processes = std::move(*processes);
  return made;
}

}  // namespace

std::unique_ptr<NodeTeam> make_team(MPI_Comm comm, MPI_Comm whole, bool may) {
  const node::Groups groups = node::suitable_groups(size_of(comm), domains_in(comm));
  const node::Slots& slots = g_memory->beginning->slots;
  const std::size_t ring =
      slots.ring != 0 ? slots.ring : node::preferred_ring(groups, g_memory->private_cache);
  auto arena = take_arena<node::Team>(comm, whole, groups, ring, std::min(ring, kLeastRing),
                                      [may](const NodeArena&) { return may; });
  return arena ? std::make_unique<NodeTeam>(std::move(*arena), groups, slots, g_memory->probing)
               : nullptr;
}

std::unique_ptr<NodeMessages> make_messages(MPI_Comm comm, MPI_Comm whole) {
  const int size = size_of(comm);
  auto arena = take_arena<node::Messenger>(comm, whole, size, node::preferred_channel_slot(size),
                                           node::kLinePair, allocate_part);
  if (!arena) return nullptr;
  const int ranks = arena->size;
  return std::make_unique<NodeMessages>(std::move(*arena), ranks);
}

}  // namespace unisono
