// Messengers as threads over an arena in plain memory, and random messages between them.
#pragma once
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "node/messenger.h"
#include "tests/node/data.h"
#include "tests/node/ranks.h"

namespace unisono::node {

struct MessageSetting {
  int size = 2;
  std::size_t slot_bytes = 256;
  WaitMode mode = WaitMode::yield;
  std::size_t direct_from = DirectFrom::kNever;
};

/// body(messenger, rank) on every rank; as on_threads_of.
template <class Memory = SharedMemory, class Body>
std::string message_threads(const MessageSetting& setting, Body body) {
  const std::vector<pid_t> processes(static_cast<std::size_t>(setting.size), getpid());
  TestArena<BasicMessenger<Memory>> arena(setting.size, setting.slot_bytes);
  return on_threads_of(setting.size, [&](int rank) {
    BasicMessenger<Memory> messenger(arena.memory(), rank, setting.size, {setting.mode});
    messenger.allow_direct(processes, setting.direct_from);
    return std::string(body(messenger, rank));
  });
}

/// Until so many completions are in the list.
template <class Memory>
void wait_for(BasicMessenger<Memory>& messenger, const std::vector<std::uint32_t>& done,
              std::size_t count) {
  while (done.size() < count) messenger.wait();
}

/// Byte i of the message with this tag.
inline std::byte message_byte(int from, int to, int tag, std::size_t i) {
  const auto seed = static_cast<std::uint64_t>((from * 64 + to) * 4096 + tag);
  return static_cast<std::byte>(random_word(seed, i / 8) >> (i % 8 * 8));
}
inline Bytes message(int from, int to, int tag, std::size_t bytes) {
  Bytes data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = message_byte(from, to, tag, i);
  return data;
}

/// Between all pairs `count` messages of up to `most` bytes, each posted by its two ranks at a
/// place of their own in a random order. Empty, or what is wrong.
template <class Memory>
std::string exchange_randomly(BasicMessenger<Memory>& messenger, int rank, int size, int count,
                              std::size_t most, std::uint64_t seed) {
  struct Post {
    bool sends = false;
    int other = 0, tag = 0;
    Bytes data;
  };
  std::vector<Post> posts;
  const auto bytes_of = [&](int from, int to, int tag) {
    const auto n = static_cast<std::uint64_t>((from * size + to) * count + tag);
    const std::size_t limits[] = {1, 100, 600, most};
    return random_word(seed, 2 * n) % (limits[random_word(seed, 2 * n + 1) % 4] + 1);
  };
  for (int other = 0; other < size; ++other)
    for (int tag = 0; tag < count && other != rank; ++tag) {
      posts.push_back({true, other, tag, message(rank, other, tag, bytes_of(rank, other, tag))});
      posts.push_back({false, other, tag, Bytes(bytes_of(other, rank, tag), kUntouched)});
    }
  const auto own = seed * 64 + static_cast<std::uint64_t>(rank);
  for (std::size_t i = posts.size(); i > 1; --i)
    std::swap(posts[i - 1], posts[random_word(own, i) % i]);

  std::vector<std::uint32_t> done;
  for (std::size_t i = 0; i < posts.size(); ++i) {
    Post& post = posts[i];
    const Completion completion{&done, static_cast<std::uint32_t>(i)};
    if (post.sends)
      messenger.send(post.other, post.tag, post.data.data(), post.data.size(), completion);
    else
      messenger.recv(post.other, post.tag, post.data.data(), post.data.size(), completion);
    if (random_word(own, i + 7) % 4 == 0) messenger.progress();
  }
  wait_for(messenger, done, posts.size());
  std::sort(done.begin(), done.end());
  for (std::size_t i = 0; i < done.size(); ++i)
    if (done[i] != i) return "completion " + std::to_string(i) + " is missing";
  for (const Post& post : posts) {
    const int from = post.sends ? rank : post.other, to = post.sends ? post.other : rank;
    if (post.data != message(from, to, post.tag, post.data.size()))
      return "message " + std::to_string(post.tag) + " from " + std::to_string(from) + " to " +
             std::to_string(to) + " of " + std::to_string(post.data.size()) + " bytes";
  }
  return messenger.take_truncated() ? "a message was longer than its receiver thought" : "";
}

}  // namespace unisono::node
