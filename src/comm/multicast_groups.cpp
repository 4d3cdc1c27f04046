#include "comm/multicast_groups.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <poll.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <fstream>
#include <optional>
#include <span>
#include <utility>

#include "base/lasting.h"
#include "base/say.h"
#include "mpi/agreement.h"
#include "mpi/comm.h"
#include "mpi/patience.h"
#include "multicast/packet.h"
#include "multicast/udp_socket.h"

namespace unisono {

namespace {

using multicast::Time;

MulticastSettings& settings() { return lasting<MulticastSettings>(); }
std::atomic<int> g_groups{0};  // of this process

/// An IPv4 network that a host is on; numbers as a host has them.
struct Interface {
  std::uint32_t network = 0, mask = 0, address = 0;
  bool is_on(const Interface& other) const {
    return network == other.network && mask == other.mask;
  }
};

/// What a rank tells the others of a communicator, once. What rank 0 has drawn holds for all.
struct Introduction {
  static constexpr std::size_t kMostInterfaces = 4;

  std::uint32_t order = 0x01020304;  ///< of bytes: hosts that differ in it are not told apart
  std::uint32_t interfaces = 0;
  std::array<Interface, kMostInterfaces> on;
  std::array<std::byte, 32> secret;
  std::array<std::byte, 16> sign;  ///< of the packets that show whether the network carries them
  std::uint32_t address = 0;       ///< of the first group; the next ones have the next
  std::uint32_t port = 0;
};

std::string text_of(std::uint32_t address) {
  const in_addr in{htonl(address)};
  char text[INET_ADDRSTRLEN] = "";
  inet_ntop(AF_INET, &in, text, sizeof text);
  return text;
}

bool is_wanted(const ifaddrs& one, std::uint32_t address) {
  constexpr unsigned kFlags = IFF_UP | IFF_MULTICAST;
  const std::string& wanted = settings().interface;
  if (wanted.empty()) return (one.ifa_flags & kFlags) == kFlags;
  return wanted == one.ifa_name || wanted == text_of(address);
}

/// Calls visit(interface, address, mask) for every IPv4 address of this host.
template <class Visit>
void for_each_address(const Visit& visit) {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all(first, &::freeifaddrs);
  const auto number = [](const sockaddr* at) {
    return ntohl(reinterpret_cast<const sockaddr_in*>(at)->sin_addr.s_addr);
  };
  for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next)
    if (one->ifa_addr != nullptr && one->ifa_addr->sa_family == AF_INET)
      visit(*one, number(one->ifa_addr), number(one->ifa_netmask));
}

Introduction introduce_myself() {
  Introduction own;
  for_each_address([&own](const ifaddrs& one, std::uint32_t address, std::uint32_t mask) {
    if (is_wanted(one, address) && own.interfaces < Introduction::kMostInterfaces)
      own.on[own.interfaces++] = {address & mask, mask, address};
  });
  // Administratively scoped, for this site (RFC 2365).
  struct {
    std::uint32_t address;
    std::uint16_t port;
  } drawn{};
  bool has_drawn = true;
  const auto draw = [&has_drawn](auto& into) {
    has_drawn =
        ::getrandom(&into, sizeof into, 0) == static_cast<ssize_t>(sizeof into) && has_drawn;
  };
  draw(own.secret);
  draw(own.sign);
  draw(drawn);
  if (!has_drawn) own.interfaces = 0;  // without a secret there is no group
  own.address = 0xefff0000U | (drawn.address & 0xff00U);
  own.port = 32768 + drawn.port % 28000;
  return own;
}

/// Of a card that says how fast it is; of others 1 Gb/s.
double speed_of(std::uint32_t address) {
  double megabits = 0;
  for_each_address([&](const ifaddrs& one, std::uint32_t own, std::uint32_t) {
    if (own == address)
      std::ifstream("/sys/class/net/" + std::string(one.ifa_name) + "/speed") >> megabits;
  });
  return megabits > 0 ? megabits * 1e6 : 1e9;
}

/// What a rank says of its part in a new group.
struct Part {
  std::int32_t has_room = 1;
  multicast::Member member;  ///< nobody: it has no sockets, or is not in the group
};

template <class T>
std::optional<std::vector<T>> all_of(MPI_Comm comm, const T& own) {
  std::vector<T> all(static_cast<std::size_t>(size_of(comm)));
  MPI_Request request = MPI_REQUEST_NULL;
  int rc =
      PMPI_Iallgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, comm, &request);
  if (rc == MPI_SUCCESS) rc = wait_patiently(request, comm);
  if (rc != MPI_SUCCESS) return std::nullopt;
  return all;
}

/// Looks for a packet with the sign until then, however many others come.
bool sees(multicast::Socket& socket, std::span<const std::byte> sign, Time until) {
  std::array<std::byte, 2048> room{};
  for (Time left = 1; left > 0; left = until - multicast_now()) {
    std::array<multicast::Incoming, 1> packet{{{room.data(), room.size(), 0}}};
    if (socket.receive(packet) > 0) {
      if (packet[0].bytes == sign.size() && std::equal(sign.begin(), sign.end(), room.begin()))
        return true;
      continue;
    }
    std::array<pollfd, 2> descriptors{};
    for (std::size_t i = 0; i < descriptors.size(); ++i)
      descriptors[i] = {socket.descriptors()[i], POLLIN, 0};
    const timespec time{0, static_cast<long>(std::max<Time>(left, 0))};
    ::ppoll(descriptors.data(), descriptors.size(), &time, nullptr);
  }
  return false;
}

/// Whether a packet of the first member reaches all others. A switch may need a moment to learn who
/// has joined. Collective; the same on all ranks.
bool is_carried(MPI_Comm comm, multicast::Socket* socket, bool is_first,
                std::span<const std::byte> sign) {
  constexpr int kTries = 5;
  constexpr Time kPatience = 40 * multicast::kMillisecond;
  bool seen = socket == nullptr || is_first;
  for (int i = 0; i < kTries; ++i) {
    if (is_first) {
      const multicast::Outgoing packet{sign.data(), sign.size(), nullptr, 0};
      socket->send(multicast::kEverybody, {&packet, 1});
    }
    seen = seen || sees(*socket, sign, multicast_now() + kPatience);
    if (all_agree(comm, seen)) return true;
  }
  return false;
}

}  // namespace

/// What the ranks of a communicator have found out together.
struct MulticastGroups::Network {
  std::array<std::byte, 32> secret;  // as rank 0 has drawn them
  std::array<std::byte, 16> sign;
  std::uint32_t first_group, port;
  std::uint32_t address;  // this host's
};

void start_multicast(const MulticastSettings& wanted) { settings() = wanted; }

bool MulticastGroups::refuse(MPI_Comm comm, std::string why) {
  is_refused_ = true;
  if (rank_in(comm) == 0) say("no multicast: " + why + "; messages go to each rank");
  return false;
}

/// The network that all hosts are on. Collective.
bool MulticastGroups::meet(MPI_Comm comm) {
  const auto all = all_of(comm, introduce_myself());
  if (!all) return refuse(comm, "the ranks could not tell each other their networks");
  const Introduction& first = all->front();
  const auto is_on = [](const Introduction& host, const Interface& network) {
    const auto* const end =
        host.on.begin() + std::min<std::size_t>(host.interfaces, host.on.size());
    return std::find_if(host.on.begin(), end, [&](const auto& i) { return i.is_on(network); });
  };
  for (std::uint32_t i = 0; i < first.interfaces; ++i) {
    const bool common = std::all_of(all->begin(), all->end(), [&](const Introduction& host) {
      return host.order == first.order &&
             is_on(host, first.on[i]) != host.on.begin() + host.interfaces;
    });
    if (!common) continue;
    const Introduction& own = (*all)[static_cast<std::size_t>(rank_in(comm))];
    network_ = std::make_shared<Network>(Network{first.secret, first.sign, first.address,
                                                 first.port, is_on(own, first.on[i])->address});
    return true;
  }
  return refuse(comm, settings().interface.empty()
                          ? "the hosts share no IPv4 network with multicast"
                          : "not all hosts have an interface UNISONO_MCAST_INTERFACE=" +
                                settings().interface + " on one network");
}

bool MulticastGroups::find(const RankGroup& ranks, std::shared_ptr<MulticastChannel>& channel) {
  const auto known = std::find_if(groups_.begin(), groups_.end(), [&](const Known& one) {
    return one.is_found && one.ranks == ranks;
  });
  if (known == groups_.end()) return false;
  channel = known->channel;
  groups_.splice(groups_.begin(), groups_, known);
  return true;
}

bool MulticastGroups::open(MPI_Comm comm, const RankGroup& ranks, For whom,
                           std::shared_ptr<MulticastChannel>& channel) {
  if (is_refused() || (network_ == nullptr && !meet(comm))) return false;
  if (ranks.size() > multicast::kMaxMembers)
    return refuse(comm, "a group has at most " + std::to_string(multicast::kMaxMembers) + " hosts");
  // Half of them at most: other communicators cannot end those of this one.
  const auto share = static_cast<std::size_t>(std::max(1, settings().most_groups / 2));
  if (groups_.size() >= share || !all_agree(comm, g_groups < settings().most_groups)) evict(comm);
  if (std::string why = make(comm, ranks, channel); !why.empty())
    return refuse(comm, std::move(why));
  groups_.push_front({ranks, channel, whom == For::all_calls});
  if (channel != nullptr) ++g_groups;
  return true;
}

std::unique_ptr<multicast::UdpSocket> MulticastGroups::open_socket(std::uint64_t number,
                                                                   double rate) const {
  const Network& here = *network_;
  auto made = multicast::UdpSocket::open(
      {.interface = text_of(here.address),
       .group_address = text_of(here.first_group + static_cast<std::uint32_t>(number % 256)),
       .group_port = static_cast<std::uint16_t>(here.port),
       .rate = rate});
  if (made) return std::move(*made);
  say("multicast: " + made.error());
  return nullptr;
}

std::unique_ptr<multicast::Group> MulticastGroups::open_group(
    std::uint64_t number, double rate, int me, std::vector<multicast::Member> members,
    multicast::UdpSocket& socket) const {
  multicast::Options options;
  options.members = std::move(members);
  options.me = me;
  options.family = settings().acknowledges ? multicast::Family::ack : multicast::Family::nack;
  // A rank between the sender and others may be computing when these are ready: few are.
  options.fan_out = 32;
  options.group = number;
  options.secret.assign(network_->secret.begin(), network_->secret.end());
  options.rate = rate;
  options.silence_limit =
      static_cast<Time>(settings().silence_seconds * static_cast<double>(multicast::kSecond));
  if (const std::string problem = socket.meet(options.members); !problem.empty()) {
    say("multicast: " + problem);
    return nullptr;
  }
  auto made = multicast::Group::open(options, socket);
  if (made) return std::move(*made);
  say("multicast: " + made.error());
  return nullptr;
}

/// What went wrong, the same on all ranks. Collective.
std::string MulticastGroups::make(MPI_Comm comm, const RankGroup& ranks,
                                  std::shared_ptr<MulticastChannel>& channel) {
  const std::uint64_t number = opened_++;
  const int rank = rank_in(comm);
  const auto place = std::find(ranks.ranks.begin(), ranks.ranks.end(), rank);
  const bool is_member = place != ranks.ranks.end();
  const double rate = settings().rate > 0 ? settings().rate : speed_of(network_->address);

  Part own;
  std::unique_ptr<multicast::UdpSocket> socket;
  own.has_room = g_groups < settings().most_groups ? 1 : 0;
  if (is_member && own.has_room != 0) socket = open_socket(number, rate);
  if (socket != nullptr) own.member = socket->myself();
  const auto parts = all_of(comm, own);
  if (!parts) return "the ranks could not tell each other their addresses";
  if (!std::all_of(parts->begin(), parts->end(), [](const Part& p) { return p.has_room != 0; }))
    return "all UNISONO_MCAST_GROUPS=" + std::to_string(settings().most_groups) +
           " groups of some process are in use";

  std::vector<multicast::Member> members;
  for (const int member : ranks.ranks)
    members.push_back((*parts)[static_cast<std::size_t>(member)].member);
  std::unique_ptr<multicast::Group> group;
  if (socket != nullptr)
    group = open_group(number, rate, static_cast<int>(place - ranks.ranks.begin()),
                       std::move(members), *socket);
  if (!all_agree(comm, !is_member || group != nullptr)) return "a rank could not open its sockets";
  if (!is_carried(comm, socket.get(), rank == ranks.rank(0), network_->sign))
    return "the network between the hosts does not carry it";
  if (is_member)
    channel = std::make_shared<MulticastChannel>(ranks, rank, std::move(socket), std::move(group));
  return "";
}

void EndingGroups::move() const {
  for (const auto& channel : channels_) channel->progress();
}

EndingGroups::~EndingGroups() { g_groups -= static_cast<int>(channels_.size()); }

// A rank that has all is needed until those that ask it have all: nobody leaves before everybody
// has come so far.
bool EndingGroups::is_over(MPI_Comm comm) {
  move();
  if (!has_begun_) {
    for (const auto& channel : channels_)
      if (!channel->is_quiet()) return false;
    has_begun_ = true;
    is_over_ = PMPI_Ibarrier(comm, &barrier_) != MPI_SUCCESS;
  }
  int done = 0;
  if (!is_over_ && (PMPI_Test(&barrier_, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0))
    is_over_ = true;
  return is_over_;
}

void EndingGroups::complete(MPI_Comm comm) {
  for (int looks = 0; !is_over(comm) && !is_revoked(comm); ++looks) rest(looks);
}

std::unique_ptr<EndingGroups> MulticastGroups::end() {
  EndingGroups::Channels channels;
  for (const Known& one : groups_)
    if (one.channel != nullptr) channels.push_back(one.channel);
  const bool any = !groups_.empty();
  groups_.clear();
  if (!any) return nullptr;
  return std::make_unique<EndingGroups>(std::move(channels), network_->secret);
}

/// The one that was used least recently, of those that no rank uses just now. Others may be in use
/// behind ranks that wait for this call. Collective.
void MulticastGroups::evict(MPI_Comm comm) {
  std::vector<int> is_free;
  for (const Known& one : groups_)
    is_free.push_back(one.channel == nullptr || one.channel.use_count() == 1 ? 1 : 0);
  const int rc = PMPI_Allreduce(MPI_IN_PLACE, is_free.data(), static_cast<int>(is_free.size()),
                                MPI_INT, MPI_MIN, comm);
  const auto last = std::find(is_free.rbegin(), is_free.rend(), 1);
  if (rc != MPI_SUCCESS || last == is_free.rend()) return;
  drop(comm, std::next(groups_.begin(), is_free.rend() - last - 1));
}

/// Collective.
void MulticastGroups::drop(MPI_Comm comm, std::list<Known>::iterator one) {
  EndingGroups::Channels channels;
  if (one->channel != nullptr) channels.push_back(std::move(one->channel));
  groups_.erase(one);
  EndingGroups(std::move(channels), network_->secret).complete(comm);
}

bool MulticastGroups::close(MPI_Comm comm, const RankGroup& ranks) {
  std::shared_ptr<MulticastChannel> channel;
  if (!find(ranks, channel)) return false;
  drop(comm, groups_.begin());  // find() has put it there
  return true;
}

}  // namespace unisono
