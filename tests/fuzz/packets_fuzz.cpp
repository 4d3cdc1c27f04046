// Packets of a multicast group, changed in every field, cut, lengthened, repeated, diverted and
// signed anew by members and by strangers. packets_fuzz --seconds 4 --seed 1, or --count 20000.
#include <algorithm>
#include <array>
#include <vector>

#include "multicast/authentication.h"
#include "tests/fuzz/fuzz.h"
#include "tests/multicast/made_up_network.h"

namespace unisono::fuzz {
namespace {

using namespace multicast;
using Packet = MadeUpNetwork::Packet;

constexpr int kMembers = 3;

struct Sent {
  int to = kEverybody;
  Packet packet;
};

std::uint64_t odd_number(Random& random, std::uint64_t near) {
  const std::uint64_t numbers[] = {0,          1,          near - 1,         near + 1,  near + 1000,
                                   UINT16_MAX, UINT32_MAX, kLastMessage - 1, UINT64_MAX};
  return random.of(numbers);
}

/// Another number of each field now and then, as far as it has one.
void change_header(Random& random, Packet& packet) {
  Header header;
  read_header(packet.data(), header);
  if (random.one_in(4)) header.kind = static_cast<Kind>(random.below(16));
  if (random.one_in(4)) header.flags ^= static_cast<std::uint8_t>(1U << random.below(8));
  if (random.one_in(4)) header.from = static_cast<std::uint16_t>(odd_number(random, header.from));
  if (random.one_in(16)) header.label ^= 1;
  if (random.one_in(3)) header.message = odd_number(random, header.message) & kLastMessage;
  if (random.one_in(3)) header.index = static_cast<std::uint32_t>(odd_number(random, header.index));
  if (!random.one_in(4)) header.number = odd_number(random, header.number);
  write_header(header, packet.data());
}

void change_status(Random& random, Packet& packet) {
  Status status;
  if (!read_status(std::span(packet).subspan(kHeaderBytes), status)) return;
  const Packet maps(packet.begin() + kHeaderBytes + kStatusBytes, packet.end());
  Packet members(maps.begin(), maps.begin() + static_cast<std::ptrdiff_t>(status.members.size()));
  Packet missing(maps.begin() + static_cast<std::ptrdiff_t>(status.members.size()), maps.end());
  if (random.one_in(3)) status.bytes = odd_number(random, status.bytes);
  if (random.one_in(3)) status.next = static_cast<std::uint32_t>(odd_number(random, status.next));
  if (random.one_in(3)) status.seen = static_cast<std::uint32_t>(odd_number(random, status.seen));
  if (random.one_in(3))
    status.member = static_cast<std::uint16_t>(odd_number(random, status.member));
  if (random.one_in(3)) members.assign(random.below(kMaxMembers / 8 + 1), std::byte{0xff});
  if (random.one_in(3)) missing.assign(random.below(kMapPackets / 8 + 1), std::byte{0xff});
  status.members = members;
  status.missing = missing;
  packet.resize(kHeaderBytes + kMaxStatusBytes);
  packet.resize(kHeaderBytes + write_status(status, packet.data() + kHeaderBytes));
}

/// Whether a member may have signed it: then it is believed.
bool change(Random& random, const Authentication& member, const Authentication& stranger,
            Sent& sent) {
  if (random.one_in(4)) return false;  // as it was
  if (random.one_in(4)) sent.to = static_cast<int>(random.below(kMembers + 1)) - 1;
  if (random.one_in(3)) return false;
  Packet& packet = sent.packet;
  change_header(random, packet);
  if (random.one_in(2)) change_status(random, packet);
  if (random.one_in(4)) packet.resize(random.below(5000));
  if (random.one_in(4) && !packet.empty()) packet[random.below(packet.size())] ^= std::byte{4};
  if (packet.size() < kHeaderBytes || random.one_in(3)) return false;
  const bool is_members = random.one_in(2);
  const auto payload = std::span(packet).subspan(kHeaderBytes);
  (is_members ? member : stranger).sign(packet.data(), payload, sent.to);
  return is_members;
}

struct Scene {
  explicit Scene(Random& random)
      : party(kMembers, {.loss = random.one_in(2) ? 0.1 : 0},
              1 + static_cast<unsigned>(random.below(1000)),
              [&](multicast::Options& options) {
                options.family = random.one_in(2) ? Family::ack : Family::nack;
                options.silence_limit = random.one_in(2) ? kSecond : 0;
              }),
        told(party, 1, 0, random.below(8000)),
        next(party, 2, 1, random.below(8000)) {
    party.network.overhear = [this](int, int to, std::span<const std::byte> packet) {
      seen.push_back({to, {packet.begin(), packet.end()}});
    };
  }
  void pass(Time time) {
    party.run([] { return false; }, time);
  }
  Party party;
  Told told, next;
  std::vector<Sent> seen;
};

/// Between two messages, and while the second one is under way.
void one(std::uint64_t input, Random& random, Counts& counts) {
  static const Authentication member(std::vector<std::byte>(16, std::byte{7}), 0, 0);
  static const Authentication stranger(std::vector<std::byte>(16, std::byte{8}), 0, 0);
  Scene scene(random);
  scene.told.start(scene.party);
  scene.party.run_until_all(1);
  scene.pass(kSecond);
  const bool is_under_way = random.one_in(2);
  if (is_under_way) {
    scene.next.start(scene.party);
    scene.pass(random.below(4) * kMillisecond);
  }
  bool is_quiet = !is_under_way;
  for (int i = 0; i < kMembers; ++i)
    is_quiet = is_quiet && scene.party.group(i).is_idle() && scene.party.group(i).is_quiet();
  const std::vector<Sent> pool = scene.seen;
  const std::size_t injected = 1 + random.below(random.one_in(8) ? 2000 : 40);
  bool believed = false;
  const double begin = processor_seconds();
  const std::size_t before = scene.party.network.sent;
  const std::uint64_t known = scene.party.total().received;
  for (std::size_t i = 0; i < injected; ++i) {
    Sent sent = pool[random.below(pool.size())];
    believed = change(random, member, stranger, sent) || believed;
    scene.party.network.put(sent.to, sent.packet);
  }
  scene.pass(10 * kMillisecond);
  const std::size_t answers = scene.party.network.sent - before;
  // What no member has just sent is not believed, unless the network had lost it and it comes late
  // now. What is believed is answered once at most by each of the others.
  const std::size_t late = scene.party.network.lost;
  const std::uint64_t news = scene.party.total().received - known;
  if (is_quiet && !believed)
    counts.touched += answers > late || news > late + answers * (kMembers - 1) ? 1 : 0;
  if (is_quiet && believed) counts.touched += answers > injected * kMembers ? 1 : 0;
  if (is_under_way && !believed) {
    scene.party.run_until_all(2, 10 * kSecond);
    counts.touched += scene.told.is_everywhere() && scene.next.is_everywhere() ? 0 : 1;
  }
  counts.note(processor_seconds() - begin, input);
}

/// A number that the replay window may take for another one: at its edges, or seen before.
std::uint64_t tempting_number(Random& random, std::uint64_t newest,
                              const std::vector<std::uint64_t>& taken) {
  constexpr std::array<std::uint64_t, 4> kEdges{64, 1024, 1088, 2048};  // a block, a window, a ring
  const std::uint64_t from_edge = random.of(kEdges) + random.below(130);
  switch (random.below(6)) {
    case 0: return newest + 1 + random.below(3);
    case 1: return newest + from_edge - 65;
    case 2: return newest - std::min(newest, from_edge - 64);
    case 3: return newest + (std::uint64_t{1} << random.below(40));
    default: return random.of(taken);
  }
}

/// Packets of any kind, signed by a member, under numbers in some order: none is believed twice,
/// and one that is not too old is believed once.
void replay(std::uint64_t input, Random& random, Counts& counts) {
  constexpr std::uint64_t kLeastWindow = 1024;
  constexpr int kFrom = 0, kTo = 1;
  Party party(kMembers, {}, 1);
  const Authentication member(std::vector<std::byte>(16, std::byte{7}), 0, 0);
  std::uint64_t newest = random.one_in(8) ? kLastMessage : 1 + random.below(5000);
  std::vector<std::uint64_t> taken{0};  // as if: packets of Unisono begin with 1
  const double begin = processor_seconds();
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t number = i == 0 ? newest : tempting_number(random, newest, taken);
    const auto kind = static_cast<Kind>(1 + random.below(4));
    Packet packet(kHeaderBytes);
    write_header({kind, 0, kFrom, member.label(), 0, 0, number}, packet.data());
    member.sign(packet.data(), {}, kTo);
    party.network.put(kTo, packet);
    const std::uint64_t before = party.group(kTo).counters().received;
    party.group(kTo).progress(party.network.now);
    const std::uint64_t believed = party.group(kTo).counters().received - before;
    const bool is_new = std::find(taken.begin(), taken.end(), number) == taken.end();
    const bool must_be_taken = is_new && number + kLeastWindow > newest;
    counts.touched += believed > (is_new ? 1 : 0) || (must_be_taken && believed == 0) ? 1 : 0;
    if (believed > 0) taken.push_back(number);
    newest = std::max(newest, number);
  }
  counts.note(processor_seconds() - begin, input);
}

}  // namespace
}  // namespace unisono::fuzz

int main(int argc, char** argv) {
  namespace fuzz = unisono::fuzz;
  const fuzz::Options options = fuzz::options_of(argc, argv);
  return fuzz::run(
      options,
      [&](std::uint64_t input, fuzz::Counts& counts) {
        fuzz::Random random(options.seed, input);
        random.one_in(4) ? fuzz::replay(input, random, counts) : fuzz::one(input, random, counts);
      },
      "answers too many, packets believed wrongly, or messages harmed");
}
