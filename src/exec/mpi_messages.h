// An execution's messages through the MPI library: one of its two transports. The other is
// node/messenger.h.
#pragma once
#include <mpi.h>

#include <vector>

#include "exec/messages.h"
#include "schedule/schedule.h"

namespace unisono {

class LibraryMessages {
 public:
  /// Starts a message of op `id`. An MPI error code.
  int start(OpKind kind, void* where, int count, MPI_Datatype type, int peer, int tag,
            MPI_Comm comm, OpId id) {
    make_room();
    MPI_Request request = MPI_REQUEST_NULL;
    const int rc = kind == OpKind::send ? kStartSend(where, count, type, peer, tag, comm, &request)
                                        : PMPI_Irecv(where, count, type, peer, tag, comm, &request);
    if (rc != MPI_SUCCESS) return rc;
    requests_.push_back(request);
    ops_.push_back({id, kind});
    return MPI_SUCCESS;
  }
  bool empty() const { return requests_.empty(); }
  /// Adds the op of each message that has become complete, earlier messages first. `only_looks`:
  /// does not wait in the simulator either. An MPI error code.
  int progress(std::vector<OpId>& done, bool only_looks);
  /// What is under way is called off as far as possible.
  void abandon();

 private:
  struct Of {
    OpId op;
    OpKind kind;
  };

  void make_room();

  std::vector<MPI_Request> requests_;
  std::vector<Of> ops_;
  std::vector<int> completed_;
  std::vector<MPI_Status> statuses_;
};

}  // namespace unisono
