#include "mpi/rank_lost.h"

#include <dlfcn.h>

#include <array>
#include <string_view>

namespace unisono {

namespace {

#if defined(MPI_ERR_PROC_FAILED)
constexpr int kClass = MPI_ERR_PROC_FAILED;
#elif defined(MPIX_ERR_PROC_FAILED)
constexpr int kClass = MPIX_ERR_PROC_FAILED;
#elif defined(MPI_ERR_PROC_ABORTED)
constexpr int kClass = MPI_ERR_PROC_ABORTED;
#else
constexpr int kClass = MPI_ERR_OTHER;
#endif

#if defined(MPI_ERR_REVOKED)
constexpr int kRevoked = MPI_ERR_REVOKED;
#elif defined(MPIX_ERR_REVOKED)
constexpr int kRevoked = MPIX_ERR_REVOKED;
#else
constexpr int kRevoked = kClass;
#endif

/// An older library of the same binary interface has no such class, or gives its number to another.
bool is_known() {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (PMPI_Error_string(kClass, text.data(), &length) != MPI_SUCCESS) return false;
  const std::string_view told(text.data(), static_cast<std::size_t>(length));
  return told.find("rocess") != std::string_view::npos;  // "Process Failure", "aborted processes"
}

}  // namespace

int rank_lost_error() {
  static const int code = is_known() ? kClass : MPI_ERR_OTHER;
  return code;
}

bool says_rank_lost(int code) {
  int its_class = MPI_SUCCESS;
  if (code == MPI_SUCCESS || PMPI_Error_class(code, &its_class) != MPI_SUCCESS) return false;
  return its_class == rank_lost_error() || its_class == kRevoked;
}

// Looked up, for libraries without it.
void revoke(MPI_Comm comm) {
  using Function = int(MPI_Comm);
  static auto* const function =
      reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, "PMPIX_Comm_revoke"));
  if (function != nullptr && rank_lost_error() != MPI_ERR_OTHER) function(comm);
}

}  // namespace unisono
