// Every predefined operation on every predefined datatype of C and Fortran: what the MPI library
// refuses is refused with its class of error, whatever algorithm would run it, and what it does not
// refuse is not.
#include "check.h"

namespace {

template <class Handle>
struct Named {
  Handle handle;
  const char* name;
};
#define NAMED(handle) \
  { handle, #handle }

const Named<MPI_Op> kOperations[] = {NAMED(MPI_SUM),  NAMED(MPI_PROD),   NAMED(MPI_MAX),
                                     NAMED(MPI_MIN),  NAMED(MPI_LAND),   NAMED(MPI_LOR),
                                     NAMED(MPI_LXOR), NAMED(MPI_BAND),   NAMED(MPI_BOR),
                                     NAMED(MPI_BXOR), NAMED(MPI_MINLOC), NAMED(MPI_MAXLOC)};

const Named<MPI_Datatype> kDatatypes[] = {NAMED(MPI_CHAR),
                                          NAMED(MPI_SIGNED_CHAR),
                                          NAMED(MPI_UNSIGNED_CHAR),
                                          NAMED(MPI_WCHAR),
                                          NAMED(MPI_SHORT),
                                          NAMED(MPI_UNSIGNED_SHORT),
                                          NAMED(MPI_INT),
                                          NAMED(MPI_UNSIGNED),
                                          NAMED(MPI_LONG),
                                          NAMED(MPI_UNSIGNED_LONG),
                                          NAMED(MPI_LONG_LONG),
                                          NAMED(MPI_UNSIGNED_LONG_LONG),
                                          NAMED(MPI_INT8_T),
                                          NAMED(MPI_INT16_T),
                                          NAMED(MPI_INT32_T),
                                          NAMED(MPI_INT64_T),
                                          NAMED(MPI_UINT8_T),
                                          NAMED(MPI_UINT16_T),
                                          NAMED(MPI_UINT32_T),
                                          NAMED(MPI_UINT64_T),
                                          NAMED(MPI_AINT),
                                          NAMED(MPI_OFFSET),
                                          NAMED(MPI_COUNT),
                                          NAMED(MPI_BYTE),
                                          NAMED(MPI_PACKED),
                                          NAMED(MPI_FLOAT),
                                          NAMED(MPI_DOUBLE),
                                          NAMED(MPI_LONG_DOUBLE),
                                          NAMED(MPI_C_BOOL),
                                          NAMED(MPI_CXX_BOOL),
                                          NAMED(MPI_C_FLOAT_COMPLEX),
                                          NAMED(MPI_C_DOUBLE_COMPLEX),
                                          NAMED(MPI_C_LONG_DOUBLE_COMPLEX),
                                          NAMED(MPI_FLOAT_INT),
                                          NAMED(MPI_DOUBLE_INT),
                                          NAMED(MPI_LONG_INT),
                                          NAMED(MPI_2INT),
                                          NAMED(MPI_SHORT_INT),
                                          NAMED(MPI_LONG_DOUBLE_INT),
                                          NAMED(MPI_CHARACTER),
                                          NAMED(MPI_LOGICAL),
                                          NAMED(MPI_INTEGER),
                                          NAMED(MPI_INTEGER1),
                                          NAMED(MPI_INTEGER2),
                                          NAMED(MPI_INTEGER4),
                                          NAMED(MPI_INTEGER8),
                                          NAMED(MPI_REAL),
                                          NAMED(MPI_REAL4),
                                          NAMED(MPI_REAL8),
                                          NAMED(MPI_DOUBLE_PRECISION),
                                          NAMED(MPI_COMPLEX),
                                          NAMED(MPI_DOUBLE_COMPLEX),
                                          NAMED(MPI_2REAL),
                                          NAMED(MPI_2DOUBLE_PRECISION),
                                          NAMED(MPI_2INTEGER)};

using conformance::class_of;

void compare(const Named<MPI_Op>& op, const Named<MPI_Datatype>& type, MPI_Comm comm) {
  alignas(16) char in[64] = {}, out[64] = {};
  const int native = class_of(PMPI_Allreduce(in, out, 1, type.handle, op.handle, comm));
  const int ours = class_of(MPI_Allreduce(in, out, 1, type.handle, op.handle, comm));
  if (ours == native) return;
  std::fprintf(stderr, "%s of %s: error class %d, the MPI library's is %d\n", op.name, type.name,
               ours, native);
  CHECK(ours == native);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  if (conformance::is_mpich_4_0()) {
    conformance::left_out("defined_operations",
                          "MPICH 4.0 ends the job by an assertion where MPI_LAND is called with "
                          "datatypes that it does not refuse");
    MPI_Finalize();
    return 0;
  }
  unsigned long long all = 0;
  for (const char* algorithm : {"recursive_doubling", "shm"}) {
    conformance::force("allreduce", algorithm);
    for (const auto& type : kDatatypes) {
      if (type.handle == MPI_DATATYPE_NULL) continue;  // a library without Fortran may lack it
      for (const auto& op : kOperations) compare(op, type, comm);
      all += std::size(kOperations);
    }
  }
  MPI_Comm_free(&comm);
  conformance::passed("defined_operations", all / 3, all);
  MPI_Finalize();
  return 0;
}
