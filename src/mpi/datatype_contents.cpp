#include "mpi/datatype_contents.h"

#include <cstddef>

// Open MPI 5 has no large-count forms, and some libraries with MPICH's interface are older.
#if MPI_VERSION >= 4
#define UNISONO_HAS_LARGE_COUNTS
#pragma weak PMPI_Type_get_envelope_c
#endif

namespace unisono {

Envelope envelope_of(MPI_Datatype type) {
  Envelope e;
#ifdef UNISONO_HAS_LARGE_COUNTS
  if (PMPI_Type_get_envelope_c != nullptr) {
    MPI_Count integers = 0, addresses = 0, large = 0, types = 0;
    PMPI_Type_get_envelope_c(type, &integers, &addresses, &large, &types, &e.combiner);
    e.integers = static_cast<int>(integers);
    e.addresses = static_cast<int>(addresses);
    e.types = static_cast<int>(types);
    e.large = large > 0;
    return e;
  }
#endif
  PMPI_Type_get_envelope(type, &e.integers, &e.addresses, &e.types, &e.combiner);
  return e;
}

DatatypeContents::DatatypeContents(MPI_Datatype type, const Envelope& e)
    : combiner_(e.combiner),
      integers_(static_cast<std::size_t>(e.integers)),
      addresses_(static_cast<std::size_t>(e.addresses)),
      types_(static_cast<std::size_t>(e.types)) {
  PMPI_Type_get_contents(type, e.integers, e.addresses, e.types, integers_.data(),
                         addresses_.data(), types_.data());
}

DatatypeContents::~DatatypeContents() {
  for (MPI_Datatype& type : types_)
    if (!envelope_of(type).is_predefined()) PMPI_Type_free(&type);
}

// The order of the arguments in the arrays: MPI-4.1, 5.1.13.
MPI_Datatype DatatypeContents::rebuild(const std::vector<MPI_Datatype>& types) const {
  std::vector<int> integers = integers_;  // some declarations of SMPI lack a const
  int* i = integers.data();
  const MPI_Aint* a = addresses_.data();
  const MPI_Datatype t = types.empty() ? MPI_DATATYPE_NULL : types[0];
  MPI_Datatype made = MPI_DATATYPE_NULL;
  switch (combiner_) {
    case MPI_COMBINER_DUP: PMPI_Type_dup(t, &made); break;
    case MPI_COMBINER_CONTIGUOUS: PMPI_Type_contiguous(i[0], t, &made); break;
    case MPI_COMBINER_VECTOR: PMPI_Type_vector(i[0], i[1], i[2], t, &made); break;
    case MPI_COMBINER_HVECTOR: PMPI_Type_create_hvector(i[0], i[1], a[0], t, &made); break;
    case MPI_COMBINER_INDEXED: PMPI_Type_indexed(i[0], i + 1, i + 1 + i[0], t, &made); break;
    case MPI_COMBINER_HINDEXED: PMPI_Type_create_hindexed(i[0], i + 1, a, t, &made); break;
    case MPI_COMBINER_INDEXED_BLOCK:
      PMPI_Type_create_indexed_block(i[0], i[1], i + 2, t, &made);
      break;
    case MPI_COMBINER_HINDEXED_BLOCK:
      PMPI_Type_create_hindexed_block(i[0], i[1], a, t, &made);
      break;
    case MPI_COMBINER_STRUCT: PMPI_Type_create_struct(i[0], i + 1, a, types.data(), &made); break;
    case MPI_COMBINER_SUBARRAY: {
      const std::ptrdiff_t n = i[0];
      PMPI_Type_create_subarray(i[0], i + 1, i + 1 + n, i + 1 + 2 * n, i[1 + 3 * n], t, &made);
      break;
    }
    case MPI_COMBINER_DARRAY: {
      const std::ptrdiff_t n = i[2];
      int* arrays = i + 3;
      PMPI_Type_create_darray(i[0], i[1], i[2], arrays, arrays + n, arrays + 2 * n, arrays + 3 * n,
                              arrays[4 * n], t, &made);
      break;
    }
    case MPI_COMBINER_RESIZED: PMPI_Type_create_resized(t, a[0], a[1], &made); break;
    default: break;
  }
  return made;
}

}  // namespace unisono
