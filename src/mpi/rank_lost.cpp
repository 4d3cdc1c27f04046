#include "mpi/rank_lost.h"

#include <dlfcn.h>

#include <array>
#include <string_view>
#include <utility>

#include "mpi/error_class.h"

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

constinit thread_local const MPI_Comm* t_called_on = nullptr;

/// An older library of the same binary interface has no such class, or gives its number to another.
bool is_known() {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (PMPI_Error_string(kClass, text.data(), &length) != MPI_SUCCESS) return false;
  const std::string_view told(text.data(), static_cast<std::size_t>(length));
  return told.find("rocess") != std::string_view::npos;  // "Process Failure", "aborted processes"
}

/// A function that not all libraries have; null where failures are not handled.
template <class Function>
Function* look_up(const char* name) {
  if (rank_lost_error() == MPI_ERR_OTHER) return nullptr;
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace

int rank_lost_error() {
  static const int code = is_known() ? kClass : MPI_ERR_OTHER;
  return code;
}

int rank_lost_error(MPI_Comm comm) {
  return is_revoked(comm) && rank_lost_error() != MPI_ERR_OTHER ? kRevoked : rank_lost_error();
}

// MPICH (5.0.2) ends the job where a communicator is revoked.
bool handles_failures() {
#ifdef OPEN_MPI
  static const auto* const enabled =
      static_cast<const bool*>(dlsym(RTLD_DEFAULT, "ompi_ftmpi_enabled"));
  return enabled != nullptr && *enabled;
#else
  return false;
#endif
}

bool says_rank_lost(int code) {
  const int its_class = error_class_of(code);
  return code != MPI_SUCCESS && (its_class == rank_lost_error() || its_class == kRevoked);
}

void revoke(MPI_Comm comm) {
  static auto* const function = look_up<int(MPI_Comm)>("PMPIX_Comm_revoke");
  if (function != nullptr) function(comm);
}

bool is_revoked(MPI_Comm comm) {
  static auto* const function = look_up<int(MPI_Comm, int*)>("PMPIX_Comm_is_revoked");
  int revoked = 0;
  return function != nullptr && function(comm, &revoked) == MPI_SUCCESS && revoked != 0;
}

CalledOn::CalledOn(const MPI_Comm& comm) : outer_(std::exchange(t_called_on, &comm)) {}
CalledOn::~CalledOn() { t_called_on = outer_; }

bool is_call_revoked() {
  return handles_failures() && t_called_on != nullptr && is_revoked(*t_called_on);
}

}  // namespace unisono
