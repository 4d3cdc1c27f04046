// How a derived datatype was made.
#pragma once
#include <mpi.h>

#include <vector>

namespace unisono {

/// The large-count forms are asked for where MPI has them: MPICH refuses to tell of a type made by
/// one (MPI_Type_vector_c) in the plain form.
struct Envelope {
  int combiner = MPI_COMBINER_NAMED;
  int integers = 0, addresses = 0, types = 0;
  bool large = false;  ///< made with large counts, which nobody here looks at

  /// Neither made by the program nor to be freed by it.
  bool is_predefined() const {
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
  }
};

Envelope envelope_of(MPI_Datatype type);

/// The arguments a derived datatype was made with, none of them large; frees the handles that MPI
/// hands out.
class DatatypeContents {
 public:
  DatatypeContents(MPI_Datatype type, const Envelope& envelope);
  ~DatatypeContents();
  DatatypeContents(const DatatypeContents&) = delete;
  DatatypeContents& operator=(const DatatypeContents&) = delete;

  const std::vector<int>& integers() const { return integers_; }
  const std::vector<MPI_Aint>& addresses() const { return addresses_; }
  const std::vector<MPI_Datatype>& types() const { return types_; }

  /// Another datatype made in the same way of other types; MPI_DATATYPE_NULL if the way is unknown.
  MPI_Datatype rebuild(const std::vector<MPI_Datatype>& types) const;

 private:
  int combiner_;
  std::vector<int> integers_;
  std::vector<MPI_Aint> addresses_;
  std::vector<MPI_Datatype> types_;
};

}  // namespace unisono
