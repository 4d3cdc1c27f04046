// The public interface by weak reference: the same program runs alone (the functions are null),
// with Unisono linked in, and with Unisono preloaded.
#pragma once
#include "unisono/unisono.h"

extern "C" {
__attribute__((weak)) int unisono_force(const char* collective, const char* spec);
__attribute__((weak)) const char* unisono_error(void);
__attribute__((weak)) void unisono_counts(unsigned long long* own, unsigned long long* native);
__attribute__((weak)) int unisono_open_group(MPI_Comm comm, int members, const int ranks[]);
}

namespace conformance {

inline bool has_unisono() { return unisono_force != nullptr; }

/// Collectives that this process ran in Unisono so far.
inline unsigned long long own_calls() {
  unsigned long long own = 0, native = 0;
  if (unisono_counts != nullptr) unisono_counts(&own, &native);
  return own;
}

}  // namespace conformance
