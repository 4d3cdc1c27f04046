// Pages of memory seen twice: by the program, as far as they may be read or written, and by the
// library, which always may. This part needs no MPI.
#pragma once
#include <cstddef>

namespace apps::dsm {

enum class Access { none, read, write };

class Region {
 public:
  /// Zeros, which the program does not see yet. Throws std::system_error where there is no memory.
  explicit Region(std::size_t pages);
  ~Region();
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  /// Shows them to the program there, without access; false where something is in the way.
  bool show_at(std::byte* address);
  void hide();

  std::size_t pages() const { return pages_; }
  std::size_t page_bytes() const { return page_bytes_; }
  /// As the program sees it, and as the library does.
  std::byte* program(std::size_t page) const { return shown_ + page * page_bytes_; }
  std::byte* library(std::size_t page) const { return own_ + page * page_bytes_; }
  bool contains(const void* address) const;
  std::size_t page_of(const void* address) const;
  /// Throws std::system_error where the system has too many pieces of memory already
  /// (vm.max_map_count; neighbours with the same access are one).
  void allow(std::size_t first, std::size_t count, Access access);

 private:
  std::size_t bytes() const { return pages_ * page_bytes_; }

  std::size_t page_bytes_, pages_;
  int file_ = -1;
  std::byte *own_ = nullptr, *shown_ = nullptr;
};

}  // namespace apps::dsm
