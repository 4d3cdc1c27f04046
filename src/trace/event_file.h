// The events of one rank in a file that is mapped window by window.
#pragma once
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "base/result.h"
#include "trace/event.h"

namespace unisono::trace {

/// What is stored survives the process, however it ends, for the mapping is shared. One window is
/// mapped at a time, its disk blocks reserved and its pages present before the first event goes
/// there: a full disk is an error of the window, not a signal in a store. Not thread-safe.
class EventFile {
 public:
  static constexpr std::uint64_t kWindowBytes = std::uint64_t{1} << 20;

  /// The file must not exist yet. The error says what is wrong with it and does not name it.
  static Result<std::unique_ptr<EventFile>> create(const std::string& path);
  ~EventFile() { close(); }
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  /// Whether append will have room, which it may take a moment to make.
  bool has_room() { return used_ != end_ || advance(); }
  /// The next event, all zeros, which has the number events() - 1 from now on. Null when there is
  /// no room for another window; problem() says why.
  Event* append() {
    if (!has_room()) [[unlikely]] {
      ++lost_;
      return nullptr;
    }
    return window_ + (used_++ - first_);
  }

  void set_end(std::uint64_t number, std::int64_t end_ns) {
    set(number, offsetof(Event, end_ns), end_ns);
  }
  void set_algorithm(std::uint64_t number, std::uint16_t algorithm) {
    set(number, offsetof(Event, algorithm), algorithm);
  }

  std::uint64_t events() const { return used_; }
  std::uint64_t lost() const { return lost_; }
  const std::string& problem() const { return problem_; }

  /// Cuts the file to its events. From then on all is lost.
  void close();
  /// As close(), but leaves the file alone: in a forked child it is the parent's.
  void abandon();

 private:
  explicit EventFile(int file) : file_(file) {}
  bool advance();
  bool reserve(std::uint64_t at);
  void unmap();
  template <class T>
  void set(std::uint64_t number, std::size_t offset, T value) {
    if (number - first_ < kWindowBytes / sizeof(Event) && window_ != nullptr)
      std::memcpy(reinterpret_cast<std::byte*>(window_ + (number - first_)) + offset, &value,
                  sizeof value);
    else if (number < used_)  // another thread has moved the window on
      overwrite(number * sizeof(Event) + offset, &value, sizeof value);
  }
  void overwrite(std::uint64_t at, const void* value, std::size_t bytes) const;

  int file_ = -1;
  Event* window_ = nullptr;
  std::uint64_t first_ = 0, end_ = 0;  // of the window
  std::uint64_t used_ = 0, lost_ = 0;
  std::string problem_;  // set: nothing is appended any more
};

}  // namespace unisono::trace
