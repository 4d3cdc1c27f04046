#include "interpose/narrowing.h"

#include <unistd.h>

#include <cstdio>

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
  if (code_ == MPI_ERR_COUNT) {
    dprintf(STDERR_FILENO,
            "unisono: %s: %lld does not fit in an int, and this MPI library has no %s of its own\n",
            function_, value_, function_);
  } else {
    dprintf(STDERR_FILENO, "unisono: %s: no memory for the counts of %lld ranks\n", function_,
            value_);
  }
  PMPI_Comm_call_errhandler(comm_, code_);
  return code_;
}

}  // namespace unisono
