#include "mpi/operation.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace unisono {

namespace {

template <class T>
bool is_one_of(T value, std::initializer_list<T> list) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

/// Extensions of MPICH and its like, and of Open MPI. By name: libraries that do not have the type
/// lack its handle or its symbol. Not MPICH's MPIX_BFLOAT16: it has no product, which aborts the
/// job, and rounds sums up where both neighbours are equally near.
bool is_half(MPI_Datatype type) {
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  PMPI_Type_get_name(type, name, &length);
  return is_one_of<std::string_view>(name, {"MPIX_C_FLOAT16", "MPI_SHORT_FLOAT"});
}

/// An operation of the library's own, for one that the standard does not name: MPIX_EQUAL of MPICH
/// counts elements of a buffer of its own, and aborts the job by other calls than its collectives'.
bool is_extension([[maybe_unused]] MPI_Op op) {
#ifdef MPICH_NAME
  return (static_cast<unsigned>(op) >> 24) == 0x58;  // the handles of what is built in
#else
  return false;
#endif
}

}  // namespace

TypeKind kind_of(MPI_Datatype type) {
  // An MPI library without Fortran may have null handles for its types.
  if (type == MPI_DATATYPE_NULL) return TypeKind::other;
  if (is_one_of(type, {MPI_INT,       MPI_LONG,          MPI_SHORT,
                       MPI_UNSIGNED,  MPI_UNSIGNED_LONG, MPI_UNSIGNED_SHORT,
                       MPI_LONG_LONG, MPI_SIGNED_CHAR,   MPI_UNSIGNED_LONG_LONG,
                       MPI_INT8_T,    MPI_UNSIGNED_CHAR, MPI_INT16_T,
                       MPI_INT32_T,   MPI_INT64_T,       MPI_UINT8_T,
                       MPI_UINT16_T,  MPI_UINT32_T,      MPI_UINT64_T,
                       MPI_AINT,      MPI_OFFSET,        MPI_COUNT}))
    return TypeKind::integer;
  if (is_one_of(type, {MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8}))
    return TypeKind::fortran_integer;
  if (is_one_of(type, {MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION,
                       MPI_REAL4, MPI_REAL8}))
    return TypeKind::floating;
  if (is_one_of(type, {MPI_C_BOOL, MPI_CXX_BOOL, MPI_LOGICAL})) return TypeKind::logical;
  if (is_one_of(type, {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX,
                       MPI_COMPLEX, MPI_DOUBLE_COMPLEX}))
    return TypeKind::complex;
  if (type == MPI_BYTE) return TypeKind::byte;
  if (is_one_of(type, {MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_2INT, MPI_SHORT_INT,
                       MPI_LONG_DOUBLE_INT, MPI_2REAL, MPI_2DOUBLE_PRECISION, MPI_2INTEGER}))
    return TypeKind::pair;
  if (is_half(type)) return TypeKind::half;
  return TypeKind::other;
}

bool is_defined(MPI_Op op, TypeKind kind) {
  using enum TypeKind;
  if (is_one_of(op, {MPI_OP_NULL, MPI_REPLACE, MPI_NO_OP})) return false;
  if (is_one_of(op, {MPI_SUM, MPI_PROD}))
    return is_one_of(kind, {integer, fortran_integer, floating, half, complex});
  if (is_one_of(op, {MPI_MAX, MPI_MIN}))
    return is_one_of(kind, {integer, fortran_integer, floating, half});
  if (is_one_of(op, {MPI_LAND, MPI_LOR, MPI_LXOR})) return is_one_of(kind, {integer, logical});
  if (is_one_of(op, {MPI_BAND, MPI_BOR, MPI_BXOR}))
    return is_one_of(kind, {integer, fortran_integer, byte});
  if (is_one_of(op, {MPI_MINLOC, MPI_MAXLOC})) return kind == pair;
  return !is_extension(op);
}

bool depends_on_order(MPI_Op op, TypeKind kind, int ranks) {
  using enum TypeKind;
  const bool is_exact = is_one_of(kind, {integer, fortran_integer});
  if (is_one_of(op, {MPI_SUM, MPI_PROD})) return ranks > 2 && !is_exact;
  if (is_one_of(op, {MPI_MAX, MPI_MIN, MPI_MINLOC, MPI_MAXLOC})) return ranks > 1 && !is_exact;
  return ranks > 2 && !is_one_of(op, {MPI_LAND, MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR});
}

}  // namespace unisono
