// Memory that the processes of a node share: POSIX shared memory of a random name, mode 0600.
#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "base/result.h"

namespace unisono::node {

class Segment {
 public:
  /// Zeroed; what of it is not used takes no memory. Where /dev/shm has no room for all of it, that
  /// is the error: one line that names the folder, the size and what to do.
  static Result<Segment> create(std::size_t bytes);
  /// Refuses what is not this user's, not private to him or shorter than `bytes`.
  static Result<Segment> open(const std::string& name, std::size_t bytes);

  Segment(Segment&& other) noexcept;
  Segment& operator=(Segment&&) = delete;
  ~Segment();

  const std::string& name() const { return name_; }
  std::span<std::byte> memory() const { return {data_, bytes_}; }
  /// Really allocates this part, near to the processor that asks where nobody has before. Before it
  /// is used: where there is no room any more the answer is false, and nobody gets SIGBUS later.
  bool allocate(std::span<const std::byte> part);
  /// The creator, as soon as all have opened it, or when one of them could not: then nothing is
  /// left behind however the processes end. Done by the destructor at the latest.
  void unlink();

 private:
  Segment(std::string name, std::byte* data, std::size_t bytes, bool linked);
  static Result<Segment> map(int file, const std::string& name, std::size_t bytes, bool created);

  std::string name_;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  bool linked_ = false;  // by us, under its name
};

}  // namespace unisono::node
