#include "base/hydra.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "base/hash.h"
#include "base/launcher.h"

namespace unisono::hydra {

namespace {

struct Process {
  int id = 0;
  std::array<char, 17> name{};
  unsigned long long started = 0;
};

/// From /proc/PID/stat; what cannot be read is 0.
Process process_of(int id) {
  Process process{.id = id};
  char path[32];
  std::snprintf(path, sizeof path, "/proc/%d/stat", id);
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return process;
  if (std::fscanf(file,
                  "%*d (%16[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
                  "%*d %*d %*d %llu",
                  process.name.data(), &process.started) != 2)
    process = {.id = id};
  std::fclose(file);
  return process;
}

/// The process that started the ranks of this node: the other end of the socket that it talks to
/// them through, whoever is a rank's parent by now. 0: not known.
int proxy_behind(int socket) {
  ucred peer{};
  socklen_t length = sizeof peer;
  const bool found =
      socket >= 0 && getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0;
  return found && peer.pid > 0 ? peer.pid : 0;
}

std::uint64_t number_of(const Process& proxy) {
  return static_cast<std::uint64_t>(proxy.id) << 40 ^ proxy.started;
}

// Who does not answer within so many milliseconds never will.
constexpr int kPatience = 10'000;

/// The answer, which ends with a newline, and is shorter than 300 bytes (PMI_MAXKVSLEN); 0: none.
std::size_t hear(int socket, char* answer, std::size_t room) {
  std::size_t length = 0;
  while (length < room && (length == 0 || answer[length - 1] != '\n')) {
    pollfd waits{socket, POLLIN, 0};
    const int ready = poll(&waits, 1, kPatience);
    if (ready == 0 || (ready < 0 && errno != EINTR)) return 0;
    const ssize_t heard = recv(socket, answer + length, room - length, MSG_DONTWAIT);
    if (heard == 0 || (heard < 0 && errno != EINTR && errno != EAGAIN)) return 0;
    if (heard > 0) length += static_cast<std::size_t>(heard);
  }
  return length;
}

}  // namespace

std::uint64_t job() noexcept {
  const int proxy = proxy_behind(unisono_number_in("PMI_FD"));
  return proxy == 0 ? 0 : number_of(process_of(proxy));
}

// PMI-1's KVSNAME (pmi-1.1.txt in MPICH's sources), which Hydra answers before INIT as well. It is
// waited for as MPI_Init will wait for the same answer: one that is left would be taken for
// another. Others that have PMI may not answer, and are not asked.
std::uint64_t spawned_job() noexcept {
  constexpr std::string_view kQuestion = "cmd=get_my_kvsname\n", kAnswer = "cmd=my_kvsname ";
  const int socket = unisono_number_in("PMI_FD");
  const Process proxy = process_of(proxy_behind(socket));
  if (std::string_view(proxy.name.data()) != "hydra_pmi_proxy") return 0;
  if (send(socket, kQuestion.data(), kQuestion.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(kQuestion.size()))
    return 0;
  std::array<char, 512> room{};
  const std::string_view answer(room.data(), hear(socket, room.data(), room.size()));
  return answer.starts_with(kAnswer) ? fnv1a(answer, number_of(proxy)) : 0;
}

}  // namespace unisono::hydra
