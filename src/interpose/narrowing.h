// Large-count calls on an MPI library that has only the int forms (MPI 3, Open MPI 5).
#pragma once
#include <mpi.h>

#include <climits>
#include <memory>
#include <new>

#include "calls/nonblocking.h"
#include "calls/persistent.h"
#include "mpi/peers.h"

namespace unisono {

/// An array of ints in place of one with 64 bits, for the duration of a call. Small ones take no
/// allocation; the others one of 4 bytes per rank.
class NarrowArray {
 public:
  operator const int*() const { return is_given_ ? data() : nullptr; }

 private:
  friend class Narrowing;
  const int* data() const { return heap_ ? heap_.get() : inline_; }

  static constexpr int kInline = 64;
  int inline_[kInline];
  std::unique_ptr<int[]> heap_;
  bool is_given_ = false;  // also of no entries: who has no neighbours still gives an address
};

/// Narrows the arguments of one call. Those that MPI says are not significant are not looked at.
class Narrowing {
 public:
  Narrowing(const char* function, MPI_Comm comm);
  Narrowing(const char* function, MPI_Comm comm, int root);

  bool root() const { return at_root_; }
  bool leaf() const { return at_leaf_; }
  bool either() const { return at_root_ || at_leaf_; }

  int count(long long value, bool significant) {
    if (!significant) return 0;
    if (value > INT_MAX || value < INT_MIN) fail(MPI_ERR_COUNT, value);
    return static_cast<int>(value);
  }

  /// An entry per peer.
  template <class Integer>
  NarrowArray array(const Integer* values, bool significant, PerPeer per) {
    NarrowArray result;
    if (!significant || code_ != MPI_SUCCESS) return result;
    const int size = count_peers(comm_, per);
    if (size > NarrowArray::kInline) result.heap_.reset(new (std::nothrow) int[size]);
    if (size > NarrowArray::kInline && !result.heap_) {
      fail(MPI_ERR_NO_MEM, size);
      return result;
    }
    result.is_given_ = true;
    narrow(values, size, const_cast<int*>(result.data()));
    return result;
  }

  /// The same, for longer than the call: until keep() has seen it done. Null, where none is given.
  template <class Integer>
  const int* lasting_array(const Integer* values, bool significant, PerPeer per) {
    if (!significant || failed()) return nullptr;
    const int size = count_peers(comm_, per);
    std::unique_ptr<int[]>& kept = kept_[kept_count_++];
    kept.reset(new (std::nothrow) int[size]);
    if (kept == nullptr)
      fail(MPI_ERR_NO_MEM, size);
    else
      narrow(values, size, kept.get());
    return kept.get();
  }

  /// After a nonblocking call with lasting arrays: they are kept until the request is done.
  int keep(int code, MPI_Request* request) {
    if (code == MPI_SUCCESS && kept_count_ > 0) keep_until_done(std::move(kept_), request);
    return code;
  }

  /// After a persistent one: until the request is freed. By its address: it may be read before the
  /// call that makes it, as the arguments of any function.
  int keep_on(int code, const MPI_Request* request) {
    if (code == MPI_SUCCESS && kept_count_ > 0) keep_until_freed(std::move(kept_), *request);
    return code;
  }

  bool failed() const { return code_ != MPI_SUCCESS; }

  /// Raises the error as MPI does, through the communicator's error handler.
  int report() const;

 private:
  template <class Integer>
  void narrow(const Integer* values, int size, int* into) {
    for (int i = 0; i < size; ++i) into[i] = count(values[i], true);
  }
  void fail(int code, long long value);

  const char* function_;
  MPI_Comm comm_;
  bool at_root_ = true, at_leaf_ = true;
  int code_ = MPI_SUCCESS;
  long long value_ = 0;
  KeptArrays kept_;
  std::size_t kept_count_ = 0;
};

}  // namespace unisono
