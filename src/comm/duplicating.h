// Duplicates that the program makes by MPI_Comm_idup.
#pragma once

namespace unisono {

/// Before MPI_Comm_idup, or its form with an info. Open MPI (5.0.11) makes the communicators of a
/// process one after the other, those of older ones first, and begins the next when the last is
/// there. Unisono would wait in a collective for a duplicate that another rank asks for only after
/// that collective, which MPI allows. When it is there, only MPI knows: from then on Unisono makes
/// no communicators on this rank, nor on those that would share them.
void note_duplicating() noexcept;
bool may_be_duplicating() noexcept;

}  // namespace unisono
