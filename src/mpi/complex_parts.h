// A way around a defect of Open MPI 5.0.
#pragma once
#include <mpi.h>

#include <optional>

namespace unisono {

/// Open MPI 5.0 (seen in 5.0.11) copies complex numbers as such where they are aligned, and then
/// steps by distance / size: at a distance that is no multiple of the size it reads or writes
/// beside them (opal/datatype/opal_datatype_pack_unpack_predefined.h). Messages meet that as well,
/// when they are long; MPI_Pack into aligned memory always does.
///
/// Returns a committed datatype of the same bytes in the same order with integers in place of the
/// complex numbers, to be freed by the caller; nothing if `type` has none in it, or with another
/// MPI library.
std::optional<MPI_Datatype> without_complex(MPI_Datatype type);

}  // namespace unisono
