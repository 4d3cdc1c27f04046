#include "apps/dsm/region.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <system_error>

namespace apps::dsm {

namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

int protection(Access access) {
  if (access == Access::none) return PROT_NONE;
  return access == Access::read ? PROT_READ : PROT_READ | PROT_WRITE;
}

}  // namespace

Region::Region(std::size_t pages)
    : page_bytes_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))), pages_(pages) {
  file_ = memfd_create("dsm", MFD_CLOEXEC);
  if (file_ < 0) fail("dsm: memfd_create");
  void* own = MAP_FAILED;
  if (ftruncate(file_, static_cast<off_t>(bytes())) == 0)
    own = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (own == MAP_FAILED) {
    const int error = errno;
    close(file_);
    errno = error;
    fail("dsm: memory for the pages");
  }
  own_ = static_cast<std::byte*>(own);
}

Region::~Region() {
  hide();
  munmap(own_, bytes());
  close(file_);
}

bool Region::show_at(std::byte* address) {
  void* found = mmap(address, bytes(), PROT_NONE, MAP_SHARED | MAP_FIXED_NOREPLACE, file_, 0);
  if (found == MAP_FAILED) return false;
  shown_ = static_cast<std::byte*>(found);
  if (found != address) hide();  // a kernel before 4.17 takes the address for a wish
  return shown_ != nullptr;
}

void Region::hide() {
  if (shown_ != nullptr) munmap(shown_, bytes());
  shown_ = nullptr;
}

bool Region::contains(const void* address) const {
  const auto* at = static_cast<const std::byte*>(address);
  return shown_ != nullptr && std::greater_equal<>()(at, shown_) &&
         std::less<>()(at, shown_ + bytes());
}

std::size_t Region::page_of(const void* address) const {
  return static_cast<std::size_t>(static_cast<const std::byte*>(address) - shown_) / page_bytes_;
}

void Region::allow(std::size_t first, std::size_t count, Access access) {
  if (mprotect(program(first), count * page_bytes_, protection(access)) != 0)
    fail("dsm: mprotect, perhaps of more pieces of memory than vm.max_map_count");
}

}  // namespace apps::dsm
