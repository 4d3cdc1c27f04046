// Operations whose result is exact, whatever the order of evaluation that MPI allows.
#pragma once
#include <mpi.h>

#include <string>
#include <vector>

#include "random.h"
#include "types.h"

namespace conformance {

/// A user-defined associative operation on groups of 32-bit words: left (+) right.
struct UserOperation {
  const char* name;
  int words;         ///< words of one element
  bool commutative;  ///< mathematically; it may be declared either way
  void (*combine)(const unsigned* left, const unsigned* right, unsigned* result);
};

const std::vector<UserOperation>& user_operations();

/// An operation together with the datatype it is used with.
struct Reduction {
  MPI_Op op = MPI_OP_NULL;
  bool commutative = true;  ///< as declared to MPI
  const UserOperation* user = nullptr;
  const char* builtin = nullptr;
  std::string text;
};

/// Creates the handles of all user-defined operations; once, after MPI_Init.
void create_operations();
void free_operations();

Reduction random_builtin(Rng& rng, const Basic& basic);
Reduction random_pair_reduction(Rng& rng);
/// `may_be_large`: also handles made by MPI_Op_create_c.
Reduction random_user_reduction(Rng& rng, bool may_be_large);

/// A basic type for which builtin operations exist.
const Basic& random_reducible(Rng& rng);

/// A value such that no reduction of a few dozen of them overflows or rounds.
void write_value(Rng& rng, const Basic& basic, const Reduction& reduction, void* at);

/// User-defined operations are given a handle; these say which type map belongs to it.
void register_type(const Type& type);
void unregister_type(const Type& type);

}  // namespace conformance
