#include "trace/event_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "files/file.h"

namespace unisono::trace {

namespace {

constexpr std::uint64_t kEventsOfWindow = EventFile::kWindowBytes / sizeof(Event);

/// Makes the pages present and writable, so that no event takes a page fault.
bool populate(void* memory, std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  if (madvise(memory, bytes, MADV_POPULATE_WRITE) == 0) return true;
  if (errno != EINVAL) return false;  // EINVAL: a kernel before 5.14
#endif
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  for (std::size_t at = 0; at < bytes; at += page) static_cast<volatile char*>(memory)[at] = 0;
  return true;
}

}  // namespace

Result<std::unique_ptr<EventFile>> EventFile::create(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0) return Error{std::strerror(errno)};
  std::unique_ptr<EventFile> made(new EventFile(file));
  if (made->advance()) return made;
  ::unlink(path.c_str());
  return Error{made->problem_};
}

bool EventFile::reserve(std::uint64_t at) {
  if (!may_have_file_of(at + kWindowBytes)) {
    problem_ = std::strerror(EFBIG);
    return false;
  }
  int error = 0;
  do {
    error = posix_fallocate(file_, static_cast<off_t>(at), static_cast<off_t>(kWindowBytes));
  } while (error == EINTR);
  if (error != 0) problem_ = std::strerror(error);
  return error == 0;
}

bool EventFile::advance() {
  if (!problem_.empty()) return false;
  const std::uint64_t at = used_ * sizeof(Event);
  if (!reserve(at)) return false;
  void* memory = mmap(nullptr, kWindowBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_,
                      static_cast<off_t>(at));
  if (memory == MAP_FAILED) {
    problem_ = std::strerror(errno);
    return false;
  }
  madvise(memory, kWindowBytes, MADV_DONTFORK);
  if (!populate(memory, kWindowBytes)) {
    problem_ = std::strerror(errno);
    munmap(memory, kWindowBytes);
    return false;
  }
  unmap();
  window_ = static_cast<Event*>(memory);
  first_ = used_;
  end_ = first_ + kEventsOfWindow;
  return true;
}

void EventFile::unmap() {
  if (window_ != nullptr) munmap(window_, kWindowBytes);
  window_ = nullptr;
}

void EventFile::close() {
  if (file_ < 0) return;
  [[maybe_unused]] const int cut = ftruncate(file_, static_cast<off_t>(used_ * sizeof(Event)));
  unmap();
  abandon();
}

void EventFile::abandon() {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
  window_ = nullptr;
  end_ = used_;
  problem_ = "closed";
}

void EventFile::overwrite(std::uint64_t at, const void* value, std::size_t bytes) const {
  if (file_ < 0) return;
  [[maybe_unused]] const auto written = ::pwrite(file_, value, bytes, static_cast<off_t>(at));
}

}  // namespace unisono::trace
