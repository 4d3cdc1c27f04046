// How the members of unisono-multicast find each other, and give their results to the first: over
// TCP, with the first one in the middle.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace unisono::multicast {

class Meeting {
 public:
  /// Waits for all, `seconds` at most. Throws std::runtime_error, with what is wrong.
  Meeting(const std::vector<std::string>& addresses, int me, int port, double seconds);
  ~Meeting();
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;

  /// Every member gives as many bytes, and all get what all gave, in order.
  std::vector<std::byte> exchange(std::span<const std::byte> own);
  /// The same, to the first member only; of one that has gone, nothing but zeros.
  std::vector<std::byte> gather(std::span<const std::byte> own);

 private:
  int me_ = 0;
  std::size_t members_ = 0;
  std::vector<int> sockets_;  // at the first: of each other member; else one
};

}  // namespace unisono::multicast
