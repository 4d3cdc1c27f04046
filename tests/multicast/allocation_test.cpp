// Nothing is allocated for a packet, and for a message only until as many, as long, have been under
// way before.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "multicast/timers.h"
#include "tests/multicast/made_up_network.h"

namespace {
std::size_t allocations = 0;
}  // namespace

// Inlined, each would seem to free what the other's namesake allocated.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  void* memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace unisono::multicast {
namespace {

// A socket without a network behind it: half of the packets are lost, and memory is all its own.
class Wire : public Socket {
 public:
  std::size_t send(int to, std::span<const Outgoing> packets) override {
    for (const Outgoing& packet : packets) {
      if (random.next() % 2 == 0 || count == queue.size()) continue;
      auto& place = queue[count++];
      std::copy_n(packet.header, packet.header_bytes, place.bytes.begin());
      std::copy_n(packet.payload, packet.payload_bytes,
                  place.bytes.begin() + static_cast<std::ptrdiff_t>(packet.header_bytes));
      place.length = packet.header_bytes + packet.payload_bytes;
      place.to_all = to == kEverybody;
    }
    return packets.size();
  }
  std::size_t receive(std::span<Incoming> rooms) override {
    std::size_t came = 0;
    for (; came < rooms.size() && came < other->count; ++came) {
      std::copy_n(other->queue[came].bytes.begin(), other->queue[came].length, rooms[came].room);
      rooms[came].bytes = other->queue[came].length;
      rooms[came].to_all = other->queue[came].to_all;
    }
    std::move(other->queue.begin() + static_cast<std::ptrdiff_t>(came), other->queue.end(),
              other->queue.begin());
    other->count -= came;
    return came;
  }

  struct Place {
    std::array<std::byte, 1500> bytes;
    std::size_t length = 0;
    bool to_all = false;
  };
  std::array<Place, 256> queue;
  std::size_t count = 0;
  Random random{1};
  Wire* other = nullptr;
};

TEST(Allocation, IsForTheFirstMessagesOnly) {
  for (const Family family : {Family::ack, Family::nack}) {
    const auto one = std::make_unique<Wire>(), two = std::make_unique<Wire>();
    one->other = two.get();
    two->other = one.get();
    Options options;
    options.members.assign(2, {0, 0, 1440, 64});
    options.secret.assign(16, std::byte{1});
    options.family = family;
    auto sender = Group::open(options, *one);
    options.me = 1;
    auto receiver = Group::open(options, *two);
    const std::vector<std::byte> text(100'000, std::byte{3});
    std::vector<std::byte> copy(text.size());
    Time now = kSecond;
    std::size_t at_first = 0;
    for (std::uint32_t message = 0; message < 20; ++message) {
      if (message == 5) at_first = allocations;
      const std::size_t bytes = message % 2 == 0 ? text.size() : 1000;
      (*sender)->start_send(message, text.data(), bytes);
      (*receiver)->start_receive(message, 0, copy.data(), bytes);
      std::size_t done = 0;
      while (done < 2 || !(*sender)->is_quiet() || !(*receiver)->is_idle()) {
        done += (*sender)->progress(now).completed.size();
        done += (*receiver)->progress(now).completed.size();
        now += 50 * kMicrosecond;
        ASSERT_LT(now, 100 * kSecond);
      }
    }
    EXPECT_GT((*sender)->counters().repairs_to_all + (*sender)->counters().repairs_to_one, 500u);
    EXPECT_EQ(allocations, at_first);
  }
}

}  // namespace
}  // namespace unisono::multicast
