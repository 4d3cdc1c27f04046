// Memory that the processes of a node share. It has no name: whatever dies, and whenever, the
// kernel gives it back. The others get it from the process that has made it, through /proc or a
// socket (node/handover.h).
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"

namespace unisono::node {

/// Where others find a segment while the process that made it holds its file; plain numbers.
struct SegmentPlace {
  std::uint64_t bytes = 0;  ///< 0: there is none
  std::int64_t process = 0, file = -1;
  std::uint64_t device = 0, inode = 0;  ///< what must be found there
};

class Segment {
 public:
  /// Zeroed; what of it nobody has allocated (pages.h) takes no memory. In /dev/shm, as POSIX
  /// shared memory, or, where that is no folder for it, of no file system. Where /dev/shm has no
  /// room for all of it, that is the error: one line that names the folder, the size and what to
  /// do.
  static Result<Segment> create(std::size_t bytes);
  /// By the /proc file system, which shows a process's files to those that may trace it.
  static Result<Segment> open(const SegmentPlace& place);
  /// Takes the file over, from wherever it comes. Refuses any but the one that is to be at `place`,
  /// and what is not this user's, not private to him or too short.
  static Result<Segment> adopt(int file, const SegmentPlace& place);

  Segment(Segment&& other) noexcept;
  Segment& operator=(Segment&&) = delete;
  ~Segment();

  std::span<std::byte> memory() const { return {data_, bytes_}; }
  /// For others, until close_file(): the creator's descriptor, and where it is.
  int file() const { return file_; }
  SegmentPlace place() const;
  /// When all have it, or one of them could not. Done by the destructor at the latest.
  void close_file();

 private:
  Segment(int file, std::byte* data, std::size_t bytes);
  static Result<Segment> map(int file, std::size_t bytes, bool created);

  int file_ = -1;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace unisono::node
