// UNISONO_PROGRESS=thread: moves what is in flight while the program computes.
#pragma once

namespace unisono {

/// Whether the user asks for one: MPI must be begun with MPI_THREAD_MULTIPLE then.
bool wants_progress_thread();

/// `has_core`: the node has one for it, beside those of its ranks. False: the system has no thread.
bool start_progress_thread(bool has_core);

/// Before MPI_Finalize: it calls MPI no more.
void stop_progress_thread() noexcept;

}  // namespace unisono
