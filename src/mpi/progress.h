// Lets the MPI library move its messages, of whatever communicator, and takes none.
#pragma once

namespace unisono {

/// Local; once. False: the library cannot be asked.
bool start_progress();
/// Before the library ends. Nothing where it was not started.
void stop_progress();
/// Between the two. By any thread.
void let_progress();

}  // namespace unisono
