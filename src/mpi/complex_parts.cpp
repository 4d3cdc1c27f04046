#include "mpi/complex_parts.h"

#ifdef OPEN_MPI

#include <algorithm>
#include <map>
#include <vector>

#include "mpi/datatype_contents.h"

namespace unisono {

namespace {

bool is_complex(MPI_Datatype type, const Envelope& envelope) {
  if (envelope.combiner == MPI_COMBINER_F90_COMPLEX) return true;
  const MPI_Datatype all[] = {MPI_C_FLOAT_COMPLEX,
                              MPI_C_DOUBLE_COMPLEX,
                              MPI_CXX_FLOAT_COMPLEX,
                              MPI_CXX_DOUBLE_COMPLEX,
                              MPI_COMPLEX,
                              MPI_DOUBLE_COMPLEX,
                              MPI_COMPLEX8,
                              MPI_COMPLEX16,
                              MPI_COMPLEX32,
                              MPI_C_LONG_DOUBLE_COMPLEX,
                              MPI_2COMPLEX,
                              MPI_2DOUBLE_COMPLEX,
                              MPI_CXX_LONG_DOUBLE_COMPLEX};
  return type != MPI_DATATYPE_NULL &&
         std::find(std::begin(all), std::end(all), type) != std::end(all);
}

MPI_Datatype integers_of_size(MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  MPI_Datatype made = MPI_DATATYPE_NULL;
  PMPI_Type_contiguous(size / 4, MPI_UINT32_T, &made);
  return made;
}

/// Structures are padded by the alignment of their members, which is another one now.
void match_extent(MPI_Datatype& made, MPI_Datatype type) {
  MPI_Aint lb = 0, extent = 0, made_lb = 0, made_extent = 0;
  PMPI_Type_get_extent(type, &lb, &extent);
  PMPI_Type_get_extent(made, &made_lb, &made_extent);
  if (made_lb == lb && made_extent == extent) return;
  MPI_Datatype resized = MPI_DATATYPE_NULL;
  PMPI_Type_create_resized(made, lb, extent, &resized);
  PMPI_Type_free(&made);
  made = resized;
}

MPI_Datatype rebuild(MPI_Datatype type) {
  const Envelope envelope = envelope_of(type);
  if (is_complex(type, envelope)) return integers_of_size(type);
  if (envelope.is_predefined() || envelope.large) return MPI_DATATYPE_NULL;
  const DatatypeContents contents(type, envelope);
  std::vector<MPI_Datatype> types = contents.types();
  std::map<MPI_Datatype, MPI_Datatype> others;  // a structure may have the same type many times
  for (MPI_Datatype& member : types) {
    const auto [it, is_new] = others.try_emplace(member, MPI_DATATYPE_NULL);
    if (is_new) it->second = rebuild(member);
    if (it->second != MPI_DATATYPE_NULL) member = it->second;
  }
  MPI_Datatype made = MPI_DATATYPE_NULL;
  if (types != contents.types()) made = contents.rebuild(types);
  if (made != MPI_DATATYPE_NULL) match_extent(made, type);
  for (auto& [member, other] : others)
    if (other != MPI_DATATYPE_NULL) PMPI_Type_free(&other);
  return made;
}

}  // namespace

std::optional<MPI_Datatype> without_complex(MPI_Datatype type) {
  MPI_Datatype made = rebuild(type);
  if (made == MPI_DATATYPE_NULL) return std::nullopt;
  PMPI_Type_commit(&made);
  return made;
}

}  // namespace unisono

#else

namespace unisono {

std::optional<MPI_Datatype> without_complex(MPI_Datatype) { return std::nullopt; }

}  // namespace unisono

#endif
