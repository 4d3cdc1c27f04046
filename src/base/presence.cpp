#include "base/presence.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/hash.h"
#include "base/hydra.h"
#include "base/launcher.h"

namespace unisono::presence {

namespace {

// Only if somebody leaves MPI_Init before others have entered it does this matter.
constexpr int kLooks = 500;
constexpr int kBetweenLooks = 1000;  // us
// More of them, while somebody holds a name and admits nobody: a rank that is late in MPI_Init,
// with more callers than it has room for, or a process that never will. None where another user is
// known to hold a name: its rank is not seen, however long one looks. They are rarer, so that 4.5 s
// of them cost 10 ms of the processor.
constexpr int kLooksAtFull = 450;
constexpr int kBetweenLooksAtFull = 10'000;  // us
// Other processes, of any user, that may have called before they are admitted; Linux allows fewer
// where net.core.somaxconn says so.
constexpr int kMostCallers = 4096;

// Shown by ranks that do not know which of the node's they are, because somebody has changed their
// environment: the others must not take them for missing.
constexpr int kNameless = -1;

// A process that may open fewer holds none of ours.
constexpr rlim_t kFewFiles = 64;

// In plain C, because it runs where nothing may throw.
int g_socket = -1;
int g_spare = -1;              // room for the files that looking needs, however many MPI_Init opens
int g_rank = -1, g_ranks = 0;  // of this job on this node
std::uint64_t g_job = 0;

/// A job of the same name may run beside this one, in another container.
std::uint64_t pmix_job(const char* name) {
  std::uint64_t hash = fnv1a(name);
  for (const char* server : {"PMIX_SERVER_URI41", "PMIX_SERVER_URI4", "PMIX_SERVER_URI3"})
    if (const char* where = std::getenv(server)) hash = fnv1a(where, hash);
  return hash;
}

void read_launcher(bool may_ask) {
  const unisono_job job = unisono_job_here();
  const bool is_spawned = std::getenv("PMI_SPAWNED") != nullptr;
  bool tells = true;
  g_job = 0;
  if (const char* name = std::getenv("PMIX_NAMESPACE")) {
    g_job = pmix_job(name);
  } else if (std::getenv("PMI_FD") != nullptr && !is_spawned) {
    g_job = hydra::job();
  } else if (std::getenv("PMI_FD") != nullptr && may_ask) {
    g_job = hydra::spawned_job();
    tells = g_job != 0;
  }
  g_rank = job.ranks > 0 && tells ? job.rank : kNameless;
  g_ranks = tells ? job.ranks : 0;
}

struct Address {
  sockaddr_un name{};
  socklen_t length = 0;
};

/// Without the user's number, which is another one in another user namespace.
Address address_of(int rank) {
  Address address;
  address.name.sun_family = AF_UNIX;
  // The first byte is 0: no file.
  const int length =
      std::snprintf(address.name.sun_path + 1, sizeof address.name.sun_path - 1,
                    "unisono-%016llx-%d", static_cast<unsigned long long>(g_job), rank);
  address.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 +
                                          static_cast<std::size_t>(length));
  return address;
}

const sockaddr* plain(const Address& address) {
  return reinterpret_cast<const sockaddr*>(&address.name);
}

int open_socket() { return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); }

void leave(int& file) {
  if (file >= 0) close(file);
  file = -1;
}

/// Whether the MPI library, which opens some 30 files when it starts, finds room beside the two
/// that are held meanwhile. Where not, this rank is absent to all, and the job runs as without
/// Unisono.
bool may_hold_files() {
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kFewFiles;
}

enum class Holder { nobody, unknown, this_user, another_user };

/// Who holds a rank's name. Anybody can take any name of this namespace; the kernel says for whom
/// (SO_PEERCRED: the effective user at listen()). Where nobody admits callers any more (EAGAIN) the
/// holder cannot be known: a rank admits them until all have met.
Holder holder_of(int rank) {
  if (rank == g_rank && g_socket >= 0) return Holder::this_user;
  const int looking = open_socket();
  if (looking < 0) return Holder::nobody;
  const Address address = address_of(rank);
  ucred peer{};
  socklen_t length = sizeof peer;
  Holder holder = Holder::nobody;
  if (connect(looking, plain(address), address.length) == 0 &&
      getsockopt(looking, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0)
    holder = peer.uid == geteuid() ? Holder::this_user : Holder::another_user;
  else if (errno == EAGAIN)
    holder = Holder::unknown;
  close(looking);
  return holder;
}

Attendance count() {
  Attendance found{.ranks = g_ranks};
  int first = -1;
  for (int rank = 0; rank < g_ranks; ++rank) {
    const Holder holder = holder_of(rank);
    if (holder == Holder::this_user && first < 0) first = rank;
    if (holder != Holder::this_user) ++found.absent;
    if (holder == Holder::another_user) found.usurped = true;
  }
  found.speaks = g_rank == (first < 0 ? 0 : first);
  return found;
}

}  // namespace

void announce(bool may_ask) noexcept {
  if (g_socket >= 0) return;
  read_launcher(may_ask);
  if (g_ranks == 1 || g_job == 0 || !may_hold_files()) return;
  g_socket = open_socket();
  const Address address = address_of(g_rank);
  if (g_socket < 0 || bind(g_socket, plain(address), address.length) != 0 ||
      listen(g_socket, kMostCallers) != 0)
    return withdraw();
  // The others would wait for a rank that is seen, and cannot see them.
  g_spare = open_socket();
  if (g_spare < 0 || (connect(g_spare, plain(address), address.length) != 0 && errno != EAGAIN))
    withdraw();
}

Attendance look_around() noexcept {
  if (g_ranks <= 1) return {.ranks = g_ranks, .speaks = true};
  // The others look for this rank in vain, so it does as they do.
  if (g_job == 0) return {.ranks = g_ranks, .absent = g_ranks};
  leave(g_spare);
  int seen = 0;  // all ranks before: who was there once is not looked for again
  bool usurped = false;
  int left = kLooks, left_at_full = kLooksAtFull;
  while (left > 0) {
    admit();
    Holder holder = Holder::this_user;
    while (seen < g_ranks && (holder = holder_of(seen)) == Holder::this_user) ++seen;
    usurped = usurped || holder == Holder::another_user;
    if (seen == g_ranks) return {.ranks = g_ranks, .speaks = g_rank == 0};
    if (holder_of(kNameless) == Holder::this_user) return {};
    const bool may_be_late = holder == Holder::unknown && !usurped && left_at_full > 0;
    --(may_be_late ? left_at_full : left);
    usleep(may_be_late ? kBetweenLooksAtFull : kBetweenLooks);
  }
  Attendance found = count();
  found.usurped = found.usurped || usurped;
  return found;
}

void admit() noexcept {
  for (int callers = 0; callers < kMostCallers && g_socket >= 0; ++callers) {
    const int caller = accept4(g_socket, nullptr, nullptr, SOCK_CLOEXEC);
    if (caller < 0) return;
    close(caller);
  }
}

void withdraw() noexcept {
  leave(g_spare);
  leave(g_socket);
}

}  // namespace unisono::presence
