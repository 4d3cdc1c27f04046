#include "base/presence.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/hash.h"

namespace unisono::presence {

namespace {

// Only if somebody leaves MPI_Init before others have entered it does this matter.
constexpr int kLooks = 500;
constexpr int kBetweenLooks = 1000;  // us

// Shown by ranks that do not know which of the node's they are, because somebody has changed their
// environment: the others must not take them for missing.
constexpr int kNameless = -1;

// In plain C, because it runs where nothing may throw.
int g_socket = -1;
int g_rank = -1, g_ranks = 0;  // of this job on this node
std::uint64_t g_job = 0;

int number_in(const char* variable) {
  const char* text = std::getenv(variable);
  return text != nullptr && *text != '\0' ? std::atoi(text) : -1;
}

/// When a process began, from /proc/PID/stat; 0: not to be read.
unsigned long long start_of(int id) {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/%d/stat", id);
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return 0;
  unsigned long long started = 0;
  if (std::fscanf(file,
                  "%*d (%*16[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
                  "%*d %*d %*d %llu",
                  &started) != 1)
    started = 0;
  std::fclose(file);
  return started;
}

/// The process of MPICH's and Intel MPI's launcher that started the ranks of this node: the other
/// end of the socket that it talks to them through, whoever is a rank's parent by now. 0: not
/// known.
std::uint64_t hydra_proxy() {
  ucred peer{};
  socklen_t length = sizeof peer;
  const int socket = number_in("PMI_FD");
  if (socket < 0 || getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0 ||
      peer.pid <= 0)
    return 0;
  return static_cast<std::uint64_t>(peer.pid) << 40 ^ start_of(peer.pid);
}

/// A job of the same name may run beside this one, in another container.
std::uint64_t pmix_job(const char* name) {
  std::uint64_t hash = fnv1a(name);
  for (const char* server : {"PMIX_SERVER_URI41", "PMIX_SERVER_URI4", "PMIX_SERVER_URI3"})
    if (const char* where = std::getenv(server)) hash = fnv1a(where, hash);
  return hash;
}

void read_launcher() {
  if (const char* job = std::getenv("PMIX_NAMESPACE")) {
    g_job = pmix_job(job);
    g_rank = number_in("OMPI_COMM_WORLD_LOCAL_RANK");
    g_ranks = number_in("OMPI_COMM_WORLD_LOCAL_SIZE");
  } else if (std::getenv("PMI_FD") != nullptr && std::getenv("PMI_SPAWNED") == nullptr) {
    g_job = hydra_proxy();
    g_rank = number_in("MPI_LOCALRANKID");
    g_ranks = number_in("MPI_LOCALNRANKS");
  }
  if (g_rank >= 0 && g_rank < g_ranks) return;
  g_rank = kNameless;
  g_ranks = 0;
}

struct Address {
  sockaddr_un name{};
  socklen_t length = 0;
};

Address address_of(int rank) {
  Address address;
  address.name.sun_family = AF_UNIX;
  // The first byte is 0: no file.
  const int length = std::snprintf(address.name.sun_path + 1, sizeof address.name.sun_path - 1,
                                   "unisono-%u-%016llx-%d", static_cast<unsigned>(getuid()),
                                   static_cast<unsigned long long>(g_job), rank);
  address.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 +
                                          static_cast<std::size_t>(length));
  return address;
}

bool is_there(int socket, int rank) {
  const Address address = address_of(rank);
  return connect(socket, reinterpret_cast<const sockaddr*>(&address.name), address.length) == 0;
}

}  // namespace

void announce() noexcept {
  if (g_socket >= 0) return;
  read_launcher();
  if (g_ranks == 1 || g_job == 0) return;
  g_socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const Address address = address_of(g_rank);
  if (g_socket < 0 ||
      bind(g_socket, reinterpret_cast<const sockaddr*>(&address.name), address.length) != 0)
    withdraw();
}

Attendance look_around() noexcept {
  if (g_ranks <= 1) return {g_ranks, 0, true};
  // The others look for this rank in vain, so it does as they do.
  if (g_job == 0) return {g_ranks, g_ranks, false};
  Attendance found{g_ranks, g_ranks, false};
  const int looking = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  for (int look = 0; look < kLooks && looking >= 0; ++look) {
    if (look > 0) usleep(kBetweenLooks);
    found.absent = 0;
    int first = -1;
    for (int rank = 0; rank < g_ranks; ++rank) {
      if (!is_there(looking, rank))
        ++found.absent;
      else if (first < 0)
        first = rank;
    }
    found.speaks = first == g_rank;
    if (found.absent == 0) break;
    if (is_there(looking, kNameless)) {
      found = {};
      break;
    }
  }
  if (looking >= 0) close(looking);
  return found;
}

void withdraw() noexcept {
  if (g_socket >= 0) close(g_socket);
  g_socket = -1;
}

}  // namespace unisono::presence
