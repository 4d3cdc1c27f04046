// A call whose buffers are in the memory of a device, moved to memory that the processor can touch.
#pragma once
#include <memory>

#include "calls/call.h"

namespace unisono {

/// Stands in for a call while Unisono runs it. Which buffers are on a device is this rank's own
/// affair: the others need not know, and do the same with theirs.
class HostCopy {
 public:
  /// Copies what the call may read or write and a device holds. Throws std::bad_alloc.
  HostCopy(const Call& call, int rank, int size);

  const Call& call() const { return call_; }
  /// MPI_SUCCESS, or MPI_ERR_BUFFER when the driver refused to copy.
  int begin() const { return code_; }
  /// What has been received, back to the device; `code` is the call's, and is handed on.
  int end(int code) const;

 private:
  /// From its first byte to its last; gaps are copied along.
  struct Span {
    std::byte* device = nullptr;
    std::size_t bytes = 0;
    std::unique_ptr<std::byte[]> host;
  };
  struct Side;
  void* move(const Side& side, void* buffer, Span& span);

  Call call_;
  Span sent_, received_;
  int code_ = 0;
};

/// Whether some buffer of the call is on a device. Only where has_devices().
bool has_device_buffers(const Call& call);

}  // namespace unisono
