#include "node/segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/size.h"

namespace unisono::node {

namespace {

std::string reason(int error) { return std::generic_category().message(error); }

std::string size_text(std::size_t bytes) { return format_size(static_cast<std::int64_t>(bytes)); }

std::string no_room(std::size_t bytes, int error) {
  return "no " + size_text(bytes) + " of shared memory in /dev/shm: " + reason(error) +
         "; make it larger (docker run --shm-size) or ask for less";
}

/// 128 bits nobody can foresee: no collision, and no file that somebody else has put there.
Result<std::string> random_name() {
  std::array<std::uint64_t, 2> bits{};
  if (getrandom(bits.data(), sizeof bits, 0) != static_cast<ssize_t>(sizeof bits))
    return Error{"no random numbers from the system: " + reason(errno)};
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "/unisono-%016llx%016llx",
                static_cast<unsigned long long>(bits[0]), static_cast<unsigned long long>(bits[1]));
  return std::string(text.data());
}

#ifndef MADV_POPULATE_WRITE
constexpr int MADV_POPULATE_WRITE = 23;
#endif

/// Whether parts of it can be allocated: from Linux 5.14 on.
bool allocates_parts(void* page) { return madvise(page, 0, MADV_POPULATE_WRITE) == 0; }

/// Zero, or the error.
int allocate_all(int file, std::size_t bytes) {
  int error = EINTR;
  while (error == EINTR) error = posix_fallocate(file, 0, static_cast<off_t>(bytes));
  return error;
}

/// Zero, or the error.
int reserve(int file, std::size_t bytes) {
  if (!may_have_file_of(bytes)) return EFBIG;
  struct statvfs room {};
  if (ftruncate(file, static_cast<off_t>(bytes)) != 0 || fstatvfs(file, &room) != 0) return errno;
  const bool limited = room.f_blocks != 0;
  return limited && room.f_bavail < bytes / room.f_frsize ? ENOSPC : 0;
}

/// Nothing, or what is wrong with it.
std::string fault_of(int file, std::size_t bytes) {
  struct stat facts {};
  if (fstat(file, &facts) != 0) return reason(errno);
  if (facts.st_uid != geteuid()) return "it belongs to another user";
  if ((facts.st_mode & 0077) != 0) return "others may open it";
  if (static_cast<std::size_t>(facts.st_size) < bytes) return "it is too short";
  return "";
}

}  // namespace

Segment::Segment(std::string name, std::byte* data, std::size_t bytes, bool linked)
    : name_(std::move(name)), data_(data), bytes_(bytes), linked_(linked) {}

Segment::Segment(Segment&& other) noexcept
    : name_(std::move(other.name_)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      linked_(std::exchange(other.linked_, false)) {}

Segment::~Segment() {
  unlink();
  if (data_ != nullptr) munmap(data_, bytes_);
}

void Segment::unlink() {
  if (std::exchange(linked_, false)) shm_unlink(name_.c_str());
}

bool Segment::allocate(std::span<const std::byte> part) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  if (!allocates_parts(data_)) return true;  // create() has allocated all
  const auto begin = reinterpret_cast<std::uintptr_t>(part.data()) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(part.data() + part.size());
  while (madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_WRITE) != 0)
    if (errno != EINTR) return false;
  return true;
}

/// Closes the file.
Result<Segment> Segment::map(int file, const std::string& name, std::size_t bytes, bool created) {
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  int error = data == MAP_FAILED ? errno : 0;
  const bool all = error == 0 && created && !allocates_parts(data);
  if (all) error = allocate_all(file, bytes);
  close(file);
  if (error == 0) return Segment(name, static_cast<std::byte*>(data), bytes, created);
  if (data != MAP_FAILED) munmap(data, bytes);
  return Error{all ? no_room(bytes, error)
                   : "cannot map " + size_text(bytes) + " of shared memory: " + reason(error)};
}

Result<Segment> Segment::create(std::size_t bytes) {
  const Result<std::string> name = random_name();
  if (!name) return Error{name.error()};
  const int file = shm_open(name->c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
  if (file < 0) return Error{"cannot make shared memory in /dev/shm: " + reason(errno)};
  if (const int error = reserve(file, bytes); error != 0) {
    close(file);
    shm_unlink(name->c_str());
    return Error{no_room(bytes, error)};
  }
  Result<Segment> made = map(file, *name, bytes, true);
  if (!made) shm_unlink(name->c_str());
  return made;
}

Result<Segment> Segment::open(const std::string& name, std::size_t bytes) {
  const int file = shm_open(name.c_str(), O_RDWR, 0);
  if (file < 0) return Error{"cannot open shared memory /dev/shm" + name + ": " + reason(errno)};
  if (const std::string fault = fault_of(file, bytes); !fault.empty()) {
    close(file);
    return Error{"cannot use shared memory /dev/shm" + name + ": " + fault};
  }
  return map(file, name, bytes, false);
}

}  // namespace unisono::node
