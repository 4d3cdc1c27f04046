// What unisono-multicast was asked for.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace unisono::multicast {

/// What `run` and `attack` both need.
struct Where {
  std::vector<std::string> hosts;  ///< an address each, in order
  std::string interface;           ///< of this host
  std::string group_address = "239.255.77.1";
  int port = 7700;  ///< of the group; the next one is each member's own
  std::string secret = "000102030405060708090a0b0c0d0e0f";
  std::uint64_t group = 1, epoch = 1;
};

/// Something that befalls a member.
struct Fate {
  int member = -1;
  double seconds = 0;
};

struct RunOptions {
  Where where;
  int me = -1;
  std::string family = "nack";
  int fan_out = 4;
  int messages = 10;
  std::string size = "1M";
  int root = 0;  ///< -1: all in turn
  double rate = 100e6;
  double loss = 0;
  double round_trip_ms = 2;
  double limit_seconds = 10;
  std::string copied = "0";  ///< so that a time is until all have acknowledged
  Fate late, killed;
  unsigned seed = 1;
};

struct AttackOptions {
  Where where;
  int count = 100'000;  ///< of each kind
};

/// 0: all went well. Both throw std::runtime_error, with what is wrong.
int run(const RunOptions& options);
int attack(const AttackOptions& options);

std::vector<std::byte> secret_of(const std::string& hex);

}  // namespace unisono::multicast
