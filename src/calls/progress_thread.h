// UNISONO_PROGRESS=thread: moves what is in flight while the program computes.
#pragma once

namespace unisono {

/// Whether the user asks for one: MPI must be begun with MPI_THREAD_MULTIPLE then.
bool wants_progress_thread();

/// What keeps it from running here, for the user; null: it runs from now on. `has_core`: the node
/// has one for it, beside those of its ranks.
const char* start_progress_thread(bool has_core);

/// Before MPI_Finalize: it calls MPI no more.
void stop_progress_thread() noexcept;

}  // namespace unisono
