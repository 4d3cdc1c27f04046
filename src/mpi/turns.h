// The MPI library's own turns: it moves its messages in every function in which a program waits, in
// C or Fortran, whatever it waits for. There Unisono's are moved as well, so that a nonblocking
// collective goes on in a rank that waits for something else, as MPI demands.
#pragma once
#include <mpi.h>

namespace unisono {

/// Whether this library can be asked for that: Open MPI, and MPICH from 4.3 on, but not through the
/// standard ABI. The same on all ranks, but not while one of them ends (Ending).
bool has_turns();

/// While this thread ends MPI. MPICH (5.0.2) has no turns any more when it calls the delete
/// functions of MPI_COMM_SELF's attributes, in which programs may call collectives: has_turns() is
/// false.
class Ending {
 public:
  Ending();
  ~Ending();
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;

 private:
  bool before_;
};

/// Moves what there is to move and tells whether anything is left. It neither waits nor comes back
/// into itself: what it calls of the MPI library may have turns. Of MPICH it calls nothing that has
/// any, for which that holds a lock: look_in_turn() in place of PMPI_Testsome.
using Turn = bool (*)() noexcept;

/// Calls `turn` in every turn from the next one on, until it says that nothing is left, or longer.
/// Always with the same function. Precondition: has_turns(). False: the library cannot.
bool take_turns(Turn turn) noexcept;

/// Where the library may end, or begin anew: it may have forgotten what it was asked for, so that
/// the next take_turns() asks again.
void leave_turns() noexcept;

/// Whether this thread is in a turn.
bool is_in_turn();

/// PMPI_Testsome for requests that are not null, without a turn of the library's own.
int look_in_turn(int n, MPI_Request* requests, int* count, int* done, MPI_Status* statuses);

/// Of one: whether it is over, with its error in `code`.
inline bool is_over_in_turn(MPI_Request& request, int& code) {
  int count = 0, which = 0;
  MPI_Status status;
  code = look_in_turn(1, &request, &count, &which, &status);
  return code != MPI_SUCCESS || count > 0;
}

}  // namespace unisono
