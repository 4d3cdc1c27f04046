#include "interpose/narrowing.h"

#include <array>
#include <cstdio>

#include "base/say.h"

namespace unisono {

Narrowing::Narrowing(const char* function, MPI_Comm comm) : function_(function), comm_(comm) {}

Narrowing::Narrowing(const char* function, MPI_Comm comm, int root) : Narrowing(function, comm) {
  int inter = 0, rank = 0;
  if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS) return;  // the call itself will complain
  if (inter) {
    at_root_ = root == MPI_ROOT;
    at_leaf_ = root != MPI_ROOT && root != MPI_PROC_NULL;
  } else {
    PMPI_Comm_rank(comm, &rank);
    at_root_ = rank == root;
  }
}

void Narrowing::fail(int code, long long value) {
  if (failed()) return;
  code_ = code;
  value_ = value;
}

int Narrowing::report() const {
  const char* form =
      code_ == MPI_ERR_COUNT
          ? "%s: %lld does not fit in an int, and this MPI library has no such function of its own"
          : "%s: no memory for the counts of %lld ranks";
  std::array<char, 200> line{};
  std::snprintf(line.data(), line.size(), form, function_, value_);
  say_in_need(line.data());
  PMPI_Comm_call_errhandler(comm_, code_);
  return code_;
}

}  // namespace unisono
