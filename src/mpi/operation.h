// Which operations MPI defines for which datatypes (MPI-4.1, 6.9.2). An operation and a datatype
// that do not fit are an error on all ranks, which the MPI library must find before any message.
#pragma once
#include <mpi.h>

namespace unisono {

enum class TypeKind : unsigned char {
  other,  ///< derived, or nothing that the standard names: no predefined operation
  integer,
  fortran_integer,  ///< some MPI libraries refuse logical operations on it, as the standard does
  floating,
  half,  ///< IEEE 754's 16 bits, in an extension of the MPI library
  logical,
  complex,
  byte,
  pair,  ///< of MPI_MINLOC and MPI_MAXLOC
};

TypeKind kind_of(MPI_Datatype type);

/// Whether `op` is the program's own, or predefined and defined for this kind. False for
/// MPI_OP_NULL and for operations that are none of a reduction.
bool is_defined(MPI_Op op, TypeKind kind);

/// Whether the bits of a result depend on the order in which the contributions of so many ranks are
/// combined: sums and products that round, from three ranks on; maxima and minima, which may meet
/// NaN or zeros of either sign; whatever the program's own operations do. Precondition:
/// is_defined().
bool depends_on_order(MPI_Op op, TypeKind kind, int ranks);

}  // namespace unisono
