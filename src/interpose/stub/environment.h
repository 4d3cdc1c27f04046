// LD_PRELOAD, once MPI has begun.
#pragma once

/// Takes Unisono out of LD_PRELOAD: what the program starts from now on starts as without it.
void unisono_leave_environment(void);
