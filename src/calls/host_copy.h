// A call whose buffers are in the memory of a device, moved to memory that the processor can touch.
#pragma once
#include <memory>
#include <vector>

#include "calls/call.h"
#include "schedule/schedule.h"

namespace unisono {

/// Stands in for a call while Unisono runs it. Which buffers are on a device is this rank's own
/// affair: the others need not know, and do the same with theirs.
class HostCopy {
 public:
  /// Copies what the call may read or write and a device holds. The datatypes must live as long as
  /// this. Throws std::bad_alloc.
  HostCopy(const Call& call, int rank, int size);

  const Call& call() const { return call_; }
  /// Whether something was copied.
  bool has_copies() const { return sent_ != nullptr || received_ != nullptr; }
  /// What has been received, back to the device, and not a byte beside it: there other calls may
  /// receive. `code` is the call's, and is handed on; MPI_ERR_BUFFER when the driver refused a
  /// copy, be it the first.
  int end(int code) const;

  /// As has_refused_buffers().
  static bool is_refused(const Call& call, int rank, int size);

 private:
  using Bytes = std::unique_ptr<std::byte[]>;
  struct Side;
  struct Range;
  /// Elements one behind the other; from the address of the buffer.
  struct Block {
    Count at = 0, count = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
  };
  void* move(const Side& side, void* buffer, Bytes& host);
  void keep_blocks(const Side& side);
  bool give_back(const Range& range) const;
  bool give_back(const Block& block) const;

  Call call_;
  Bytes sent_, received_;
  std::byte* device_ = nullptr;  // where what is received is to be; null: nowhere on a device
  std::byte* host_ = nullptr;    // and where it is
  std::vector<Block> blocks_;    // of it
  Bytes masked_;                 // twice the room of the longest block with gaps
  int code_ = MPI_SUCCESS;
};

/// Whether some buffer of the call is on a device. Only where has_devices().
bool has_device_buffers(const Call& call);

}  // namespace unisono
