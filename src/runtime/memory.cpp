#include "runtime/memory.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

#include "base/printable.h"
#include "comm/network_probe.h"
#include "files/cache.h"
#include "mpi/comm.h"
#include "mpi/patience.h"
#include "mpi/simulated.h"
#include "runtime/online_job.h"
#include "select/online/key.h"

namespace unisono {

namespace {

// More would take longer to send than the first calls of as many kinds, natively.
constexpr std::size_t kMostSent = 48;
constexpr std::size_t kMostInterfaces = 8;

struct Known {
  Memory memory;     // of earlier jobs
  Memory found;      // by this job
  Whereabouts here;  // rank 0's
  std::int64_t began = 0;
  bool keeps = false;        // rank 0 of a job that may renew the file
  bool has_network = false;  // else what messages cost is no part of it
  bool is_outdated = false;  // what was remembered is of another network
  std::mutex mutex;
};

// Never destroyed: a program may finalize MPI in its own exit handlers, after ours.
Known& known() {
  static Known& only = *new Known;
  return only;
}

std::int64_t now() { return static_cast<std::int64_t>(std::time(nullptr)); }

/// As /proc/cpuinfo names the first core; a few hundred bytes, however many there are.
std::string processor() {
  std::FILE* file = std::fopen("/proc/cpuinfo", "r");
  if (file == nullptr) return "";
  std::string name, implementer;
  std::array<char, 512> line{};
  for (int i = 0; i < 40 && name.empty() && std::fgets(line.data(), line.size(), file); ++i) {
    const std::string_view text(line.data());
    const std::size_t colon = text.find(": ");
    if (colon == std::string_view::npos) continue;
    const std::string value(text.substr(colon + 2, text.find('\n') - colon - 2));
    if (text.starts_with("model name")) name = value;
    // Arm's cores have numbers.
    if (text.starts_with("CPU implementer") || text.starts_with("CPU part")) implementer += value;
  }
  std::fclose(file);
  return name.empty() ? implementer : name;
}

/// The interfaces that are up, with their subnets: "eth0 10.77.0.0/24".
std::string network() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return "";
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all(first, &::freeifaddrs);
  std::set<std::string> names;
  for (const ifaddrs* one = first; one != nullptr && names.size() < kMostInterfaces;
       one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_netmask == nullptr ||
        one->ifa_addr->sa_family != AF_INET || (one->ifa_flags & IFF_UP) == 0 ||
        (one->ifa_flags & IFF_LOOPBACK) != 0)
      continue;
    sockaddr_in address{}, mask{};
    std::memcpy(&address, one->ifa_addr, sizeof address);
    std::memcpy(&mask, one->ifa_netmask, sizeof mask);
    address.sin_addr.s_addr &= mask.sin_addr.s_addr;
    std::array<char, INET_ADDRSTRLEN> text{};
    if (::inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size()) == nullptr) continue;
    names.insert(std::string(one->ifa_name) + " " + text.data() + "/" +
                 std::to_string(__builtin_popcount(mask.sin_addr.s_addr)));
  }
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// Where a port says how fast it is, another one is another network.
Whereabouts whereabouts(const NodeFacts& facts) {
  const std::string library = library_line();
  const std::string port = facts.port > 0 ? "; " + std::to_string(facts.port) + " Mb/s" : "";
  return {flavour_of(library), library, processor(), facts.cores, network() + port};
}

/// On rank 0.
void read_file(const NodeFacts& facts, Mode mode, std::vector<std::string>& lines) {
  Known& all = known();
  all.began = now();
  all.here = whereabouts(facts);
  all.keeps = mode != Mode::fixed;
  if (mode == Mode::measure) return;
  const std::string name = all.here.file_name();
  const auto text = cache::read(name);
  if (text && text->empty()) return;
  auto memory = text ? read_memory(*text, all.here, all.began) : Error{text.error()};
  if (memory)
    all.memory = std::move(*memory);
  else
    lines.push_back(line_about("memory " + name, memory.error(), "all is measured anew"));
}

/// Rank 0's, on all ranks; what a notice has no room for goes in messages.
std::string tell(MPI_Comm world, std::string text, const PostNotice& post) {
  constexpr std::size_t kBegin = sizeof(Notice) - sizeof(std::uint64_t);
  struct Posted {
    std::uint64_t length = 0;
    std::array<char, kBegin> begin{};
  } posted;
  posted.length = text.size();
  text.copy(posted.begin.data(), kBegin);
  Notice notice = std::bit_cast<Notice>(posted);
  post(notice);
  posted = std::bit_cast<Posted>(notice);
  if (rank_in(world) != 0)
    text.assign(posted.begin.data(), std::min<std::size_t>(posted.length, kBegin));
  text.resize(posted.length);
  if (posted.length > kBegin)
    tell_patiently(text.data() + kBegin, static_cast<int>(posted.length - kBegin), world);
  return text;
}

/// On rank 0: what the others are to hear, nothing where there is nothing.
std::string message(bool with_machine, int ranks, const NodeFacts& facts) {
  Memory sent = known().memory;
  if (!with_machine) sent.machine.reset();
  // The newest that a communicator of this job may ask for.
  std::erase_if(sent.verdicts, [&](const KeptVerdict& one) {
    const int most = one.nodes == 1 ? facts.ranks_on_node : ranks;
    return one.ranks > most || one.ranks_per_core != facts.ranks_per_core() ||
           (one.nodes > 1 && !facts.has_network());
  });
  if (sent.verdicts.size() > kMostSent) sent.verdicts.resize(kMostSent);
  if (!keeps_verdicts()) sent.verdicts.clear();
  return sent.is_empty() ? "" : pack_memory(sent);
}

void hear(const std::string& text) {
  Memory heard = text.empty() ? Memory() : unpack_memory(text);
  Memory& memory = known().memory;
  memory.machine = std::move(heard.machine);
  memory.verdicts = std::move(heard.verdicts);
}

/// On rank 0, with what was measured: whether what is remembered is still of this network.
void compare(const Machine& measured, std::vector<std::string>& lines) {
  Known& all = known();
  if (!measured.levels[kBetweenNodes]) {
    lines.emplace_back("network: not measured, messages came too unevenly");
    return;
  }
  all.found.machine = measured;
  all.found.measured = now();
  if (!all.memory.machine || are_alike(measured, *all.memory.machine)) return;
  lines.push_back("memory " + all.here.file_name() + ": the network was another (" +
                  summary(*all.memory.machine) + "); what was chosen there is forgotten");
  all.is_outdated = true;
  all.memory.machine.reset();
  std::erase_if(all.memory.verdicts, [](const KeptVerdict& one) { return one.nodes > 1; });
}

}  // namespace

Machine recall(MPI_Comm world, MPI_Comm node, const NodeFacts& facts, const Wanted& wanted,
               const PostNotice& post, std::vector<std::string>& lines) {
  const bool wants_network = wanted.network && facts.has_network();
  const auto measure = [&] { return probe_network(world, node, facts.all_alone); };
  // What a simulated network costs is not this machine's affair, and must not depend on the last
  // run.
  if (kSimulated) return facts.has_network() ? measure() : Machine();
  if (size_of(world) == 1 || !(wants_network || keeps_verdicts())) return {};
  Known& all = known();
  all.has_network = facts.has_network();
  const bool speaks = rank_in(world) == 0, is_fixed = wanted.mode == Mode::fixed;
  if (speaks) read_file(facts, wanted.mode, lines);
  Machine machine;
  if (wants_network && !is_fixed) {
    machine = measure();
    if (speaks) compare(machine, lines);
  }
  hear(tell(world, speaks ? message(wants_network && is_fixed, size_of(world), facts) : "", post));
  if (const std::size_t kinds = all.memory.verdicts.size(); speaks && kinds > 0)
    lines.push_back("memory " + all.here.file_name() + ": " + std::to_string(kinds) +
                    (kinds == 1 ? " kind of calls is" : " kinds of calls are") + " known here");
  return is_fixed ? all.memory.machine.value_or(Machine()) : machine;
}

std::vector<Verdict> recall_verdicts(const Facts& facts, const Spec& other) {
  std::vector<Verdict> found;
  for (const KeptVerdict& one : known().memory.verdicts)
    if (one.collective == facts.collective && one.size_class == size_class(facts.bytes) &&
        one.ranks == facts.size && one.nodes == facts.nodes && text(one.other) == text(other))
      found.push_back(one.verdict);
  return found;
}

// A cell is a size class. Of two, from programs that compute between calls and that do not, the
// newer one.
std::vector<ProfileCell> remembered_cells() {
  std::vector<ProfileCell> cells;
  std::set<std::tuple<Collective, int, int, int>> known_kinds;
  for (const KeptVerdict& one : known().memory.verdicts) {
    if (!known_kinds.insert({one.collective, one.ranks, one.nodes, one.size_class}).second)
      continue;
    const auto [least, most] = bytes_of_class(one.size_class);
    cells.push_back({one.collective, one.ranks, one.nodes, least, most,
                     one.verdict.winner == 0 ? Spec() : one.other});
  }
  return cells;
}

void remember(KeptVerdict found) {
  const std::lock_guard lock(known().mutex);
  found.when = now();
  known().found.verdicts.push_back(found);
}

std::string keep_memory() {
  Known& all = known();
  if (!std::exchange(all.keeps, false)) return "";
  const auto is_between = [](const KeptVerdict& one) { return one.nodes > 1; };
  // Of nodes that a file makes up nothing is kept.
  if (!all.has_network) std::erase_if(all.found.verdicts, is_between);
  if (all.found.is_empty() && !all.is_outdated) return "";
  const std::string name = all.here.file_name();
  const auto renew = [&](const std::string& text) {
    auto read = read_memory(text, all.here, now());
    Memory old = read ? std::move(*read) : Memory();
    if (all.is_outdated) {
      if (old.measured <= all.began) old.machine.reset();
      std::erase_if(old.verdicts, [&](const KeptVerdict& one) {
        return is_between(one) && one.when <= all.began;
      });
    }
    const Memory whole = merged(std::move(old), all.found);
    return whole.is_empty() ? std::string() : write_memory(whole, all.here);
  };
  const auto problem = cache::update(name, renew);
  return problem ? line_about("memory " + name, *problem, "what was learned is not kept") : "";
}

}  // namespace unisono
