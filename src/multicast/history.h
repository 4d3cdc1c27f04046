// Copies of short messages that somebody may still ask for, so that their sender need not wait.
#pragma once
#include <cstddef>
#include <cstring>
#include <optional>
#include <vector>

namespace unisono::multicast {

class History {
 public:
  History(std::size_t messages, std::size_t bytes, std::size_t longest)
      : free_bytes_(bytes), longest_(longest), copies_(messages) {}

  /// Where the copy is, if there is room. Memory is kept for later copies.
  std::optional<std::size_t> copy(const std::byte* data, std::size_t bytes) {
    if (bytes > longest_ || bytes > free_bytes_) return {};
    for (std::size_t i = 0; i < copies_.size(); ++i) {
      Copy& copy = copies_[i];
      if (copy.is_used) continue;
      if (copy.data.size() < bytes) copy.data.resize(bytes);
      if (bytes > 0) std::memcpy(copy.data.data(), data, bytes);
      copy.bytes = bytes;
      copy.is_used = true;
      free_bytes_ -= bytes;
      return i;
    }
    return {};
  }
  const std::byte* data(std::size_t place) const { return copies_[place].data.data(); }
  void forget(std::size_t place) {
    free_bytes_ += copies_[place].bytes;
    copies_[place].is_used = false;
  }

 private:
  struct Copy {
    std::vector<std::byte> data;
    std::size_t bytes = 0;
    bool is_used = false;
  };

  std::size_t free_bytes_, longest_;
  std::vector<Copy> copies_;
};

}  // namespace unisono::multicast
