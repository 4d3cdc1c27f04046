// Datatypes together with their type maps, so that a test knows which byte of a buffer is data.
#pragma once
#include <mpi.h>

#include <string>
#include <vector>

#include "random.h"

namespace conformance {

enum class Kind : unsigned char {
  character,  ///< no reduction is defined
  byte,       ///< bitwise operations only
  logical,
  integer,
  unsigned_integer,
  floating,
  complex,
};

struct Basic {
  MPI_Datatype handle;
  const char* name;
  int size;
  int value_bytes;  ///< bytes that hold the value: 10 of the 16 of an x86 long double
  Kind kind;
};

const std::vector<Basic>& basics();
const Basic& basic_named(const std::string& name);

/// A value and an index, for MPI_MINLOC and MPI_MAXLOC.
struct Pair {
  MPI_Datatype handle;
  const char* name;
  const Basic* value;
  MPI_Aint index_at;
};
const std::vector<Pair>& pairs();

struct Entry {
  const Basic* basic;
  MPI_Aint at;
};

/// A committed datatype and its type map. Owns the handle unless it is predefined.
class Type {
 public:
  Type(MPI_Datatype handle, bool owned, std::vector<Entry> map, std::string text);
  Type(Type&& other) noexcept;
  Type& operator=(Type&&) = delete;
  ~Type();

  MPI_Datatype handle() const { return handle_; }
  const std::vector<Entry>& map() const { return map_; }
  MPI_Aint lb() const { return lb_; }
  MPI_Aint extent() const { return extent_; }
  MPI_Aint first() const { return first_; }  ///< lowest byte of the type map
  MPI_Aint last() const { return last_; }    ///< one past the highest
  bool empty() const { return map_.empty(); }
  const std::string& text() const { return text_; }

 private:
  MPI_Datatype handle_;
  bool owned_;
  std::vector<Entry> map_;
  MPI_Aint lb_ = 0, extent_ = 0, first_ = 0, last_ = 0;
  std::string text_;
};

Type predefined(const Basic& basic);
Type predefined(const Pair& pair);
Type contiguous(int n, const Type& t);
Type vector(int blocks, int length, int stride, const Type& t);
Type hindexed(const std::vector<MPI_Aint>& at, const Type& t);
Type structure(const std::vector<Entry>& map);
Type resized(const Type& t, MPI_Aint lb, MPI_Aint extent);
Type duplicate(const Type& t);

/// What a message is made of: the signature is a multiple of these basic types.
struct Unit {
  std::vector<const Basic*> parts;
  const Pair* pair = nullptr;  ///< there is a predefined type of this signature
};
Unit random_unit(Rng& rng);

/// A datatype of `units` units, in one of many memory layouts. Up to `instances` of it may stand
/// one behind the other. `interleave`: also those whose extent is smaller than their true extent.
Type random_type(Rng& rng, const Unit& unit, int units, long long instances,
                 bool interleave = true);

/// All basic types at multiples of 16 bytes, in the order of the signature.
Type aligned_type(const Unit& unit, int units);

/// Which is binary compatible with MPICH, so that programs find it out while they run.
bool is_intel_mpi();
/// Debian's, 4.0.2.
bool is_old_mpich();
/// Debian's, 4.1.4.
bool is_old_open_mpi();

/// The MPI library itself may pack, unpack, send or receive this datatype wrongly.
bool broken_native_type(const Type& type);

}  // namespace conformance
