// libunisono-bookend.so, which holds nothing: see mpi/loaded_libraries.h.
extern const int unisono_bookend;
const int unisono_bookend = 0;
