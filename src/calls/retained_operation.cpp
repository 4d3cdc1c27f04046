#include "calls/retained_operation.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "mpi/operation.h"

namespace unisono {

namespace {

struct Use {
  MPI_Op op;
  int calls;
  bool freed;  // by the program
};

/// Of all operations that are retained.
struct Uses {
  std::mutex mutex;
  std::vector<Use> all;
  std::atomic<std::size_t> count{0};

  std::vector<Use>::iterator find(MPI_Op op) {
    return std::find_if(all.begin(), all.end(), [op](const Use& use) { return use.op == op; });
  }
};

// Never destroyed: a program may call MPI in its own exit handlers, after ours.
Uses& uses() {
  static Uses& all = *new Uses;
  return all;
}

/// No predefined operation is defined for any datatype.
bool is_own(MPI_Op op) { return is_defined(op, TypeKind::other); }

}  // namespace

RetainedOperation::RetainedOperation(MPI_Op op) : op_(is_own(op) ? op : MPI_OP_NULL) {
  if (op_ == MPI_OP_NULL) return;
  Uses& now = uses();
  const std::lock_guard lock(now.mutex);
  const auto known = now.find(op_);
  if (known == now.all.end())
    now.all.push_back({op_, 1, false});
  else
    ++known->calls;
  now.count = now.all.size();
}

RetainedOperation::~RetainedOperation() {
  if (op_ == MPI_OP_NULL) return;
  Uses& now = uses();
  const std::lock_guard lock(now.mutex);
  const auto known = now.find(op_);
  if (--known->calls > 0) return;
  if (known->freed) PMPI_Op_free(&op_);
  now.all.erase(known);
  now.count = now.all.size();
}

bool frees_later(MPI_Op op) noexcept {
  Uses& now = uses();
  if (now.count == 0) return false;
  const std::lock_guard lock(now.mutex);
  const auto known = now.find(op);
  if (known == now.all.end()) return false;
  known->freed = true;
  return true;
}

}  // namespace unisono
