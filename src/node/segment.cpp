#include "node/segment.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <string>
#include <system_error>
#include <utility>

#include "base/size.h"
#include "files/file.h"
#include "node/pages.h"

namespace unisono::node {

namespace {

constexpr const char* kFolder = "/dev/shm";

std::string reason(int error) { return std::generic_category().message(error); }

std::string size_text(std::size_t bytes) { return format_size(static_cast<std::int64_t>(bytes)); }

std::string no_room(std::size_t bytes, int error) {
  const std::string size = size_text(bytes);
  if (error == EFBIG)
    return "no " + size + " of shared memory: this process may have no file of that size; raise " +
           "the limit (ulimit -f) or ask for less";
  return "no " + size + " of shared memory in /dev/shm: " + reason(error) +
         "; make it larger (docker run --shm-size) or ask for less";
}

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

bool is_in_memory(int file) {
  struct statfs facts {};
  return fstatfs(file, &facts) == 0 && (facts.f_type == TMPFS_MAGIC || facts.f_type == RAMFS_MAGIC);
}

/// A file of memory that has no name and never had one. First one that counts among the files of
/// /dev/shm, whose size is the limit that an administrator sets. Where there is no such folder, or
/// it is on a disk, one that counts as memory of its user's control group only.
int open_nameless() {
  const int file = ::open(kFolder, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
  if (file >= 0 && is_in_memory(file)) return file;
  if (file >= 0) close(file);
  constexpr unsigned kNeverExecuted =
      8;  // MFD_NOEXEC_SEAL, which sysctl vm.memfd_noexec may ask for
  int other = memfd_create("unisono", MFD_CLOEXEC | kNeverExecuted);
  if (other < 0 && errno == EINVAL) other = memfd_create("unisono", MFD_CLOEXEC);  // before 6.3
  if (other >= 0) fchmod(other, 0600);
  return other;
}

/// Nothing, or what is wrong with it.
std::string fault_of(const struct stat& facts, const SegmentPlace& place) {
  if (facts.st_dev != place.device || facts.st_ino != place.inode) return "it is another file";
  if (facts.st_uid != geteuid()) return "it belongs to another user";
  if ((facts.st_mode & 0077) != 0) return "others may open it";
  if (static_cast<std::uint64_t>(facts.st_size) < place.bytes) return "it is too short";
  return "";
}

Error not_found(const SegmentPlace& place, const std::string& why) {
  return Error{"cannot open the shared memory of process " + std::to_string(place.process) + ": " +
               why};
}

}  // namespace

Segment::Segment(int file, std::byte* data, std::size_t bytes)
    : file_(file), data_(data), bytes_(bytes) {}

Segment::Segment(Segment&& other) noexcept
    : file_(std::exchange(other.file_, -1)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

Segment::~Segment() {
  close_file();
  if (data_ != nullptr) munmap(data_, bytes_);
}

void Segment::close_file() {
  if (file_ >= 0) close(std::exchange(file_, -1));
}

SegmentPlace Segment::place() const {
  struct stat facts {};
  if (file_ < 0 || fstat(file_, &facts) != 0) return {};
  return {bytes_, getpid(), file_, facts.st_dev, facts.st_ino};
}

/// Closes the file if that fails.
Result<Segment> Segment::map(int file, std::size_t bytes, bool created) {
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  int error = data == MAP_FAILED ? errno : 0;
  const bool all = error == 0 && created && !allocates_parts(data);
  if (all) error = allocate_all(file, bytes);
  if (error == 0) return Segment(file, static_cast<std::byte*>(data), bytes);
  if (data != MAP_FAILED) munmap(data, bytes);
  close(file);
  return Error{all ? no_room(bytes, error)
                   : "cannot map " + size_text(bytes) + " of shared memory: " + reason(error)};
}

Result<Segment> Segment::create(std::size_t bytes) {
  const int file = open_nameless();
  if (file < 0) return Error{"cannot make shared memory: " + reason(errno)};
  if (const int error = reserve(file, bytes); error != 0) {
    close(file);
    return Error{no_room(bytes, error)};
  }
  return map(file, bytes, true);
}

Result<Segment> Segment::adopt(int file, const SegmentPlace& place) {
  struct stat facts {};
  if (file < 0 || fstat(file, &facts) != 0) return not_found(place, reason(errno));
  if (const std::string fault = fault_of(facts, place); !fault.empty()) {
    close(file);
    return not_found(place, fault);
  }
  Result<Segment> mapped = map(file, place.bytes, false);
  if (mapped) (*mapped).close_file();
  return mapped;
}

Result<Segment> Segment::open(const SegmentPlace& place) {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/%lld/fd/%lld",
                static_cast<long long>(place.process), static_cast<long long>(place.file));
  // In another namespace of processes this is another process's file, which opening may change.
  struct stat facts {};
  if (stat(path.data(), &facts) != 0) return not_found(place, reason(errno));
  if (const std::string fault = fault_of(facts, place); !fault.empty())
    return not_found(place, fault);
  return adopt(::open(path.data(), O_RDWR | O_CLOEXEC), place);
}

}  // namespace unisono::node
