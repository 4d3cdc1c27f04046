// A file that is open, and what is asked of it: of the descriptor, since what a path names may
// change.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"

struct stat;

namespace unisono {

/// Closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  explicit operator bool() const { return number_ >= 0; }
  int get() const { return number_; }
  /// Whether closing it, which may be what writes it, succeeded.
  bool close();

 private:
  int number_;
};

/// What errno says.
std::string reason();

/// Why this is not the user's own; empty: it is. Who may write it may have written anything.
std::string stranger(const struct stat& facts);

/// The whole of a plain file of at most so many bytes.
Result<std::string> read_whole(const Descriptor& file, std::size_t most_bytes);

/// Whether all of it was written; errno says why not.
bool write_whole(const Descriptor& file, std::string_view text);

}  // namespace unisono
