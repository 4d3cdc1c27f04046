#include "exec/mpi_messages.h"

#include <algorithm>

namespace unisono {

// Beforehand, for nothing may fail once a message is under way.
void LibraryMessages::make_room() {
  if (requests_.size() < std::min(requests_.capacity(), ops_.capacity())) return;
  const std::size_t room = std::max<std::size_t>(16, 2 * requests_.size());
  requests_.reserve(room);
  ops_.reserve(room);
}

int LibraryMessages::progress(std::vector<OpId>& done, bool only_looks) {
  if (requests_.empty()) return MPI_SUCCESS;
  int count = 0;
  completed_.resize(requests_.size());
  statuses_.resize(requests_.size());
  const auto look = only_looks ? PMPI_Testsome : complete_some;
  const int rc = look(static_cast<int>(requests_.size()), requests_.data(), &count,
                      completed_.data(), statuses_.data());
  if (rc == MPI_ERR_IN_STATUS)
    for (int i = 0; i < count; ++i)
      if (const int error = statuses_[static_cast<std::size_t>(i)].MPI_ERROR;
          error != MPI_SUCCESS && error != MPI_ERR_PENDING)
        return error;
  if (rc != MPI_SUCCESS || count <= 0) return rc;
  std::sort(completed_.begin(), completed_.begin() + count);
  for (int i = 0; i < count; ++i)
    done.push_back(ops_[static_cast<std::size_t>(completed_[static_cast<std::size_t>(i)])].op);
  // Close the gaps: MPI has set the completed requests to null.
  std::size_t kept = 0;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;
    requests_[kept] = requests_[i];
    ops_[kept++] = ops_[i];
  }
  requests_.resize(kept);
  ops_.resize(kept);
  return MPI_SUCCESS;
}

void LibraryMessages::abandon() {
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;
    if (ops_[i].kind == OpKind::recv) PMPI_Cancel(&requests_[i]);
    PMPI_Request_free(&requests_[i]);
  }
  requests_.clear();
  ops_.clear();
}

}  // namespace unisono
