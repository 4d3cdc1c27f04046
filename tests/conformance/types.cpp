#include "types.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace conformance {

const std::vector<Basic>& basics() {
  static const std::vector<Basic> table = [] {
    std::vector<Basic> all;
    const auto add = [&](MPI_Datatype handle, const char* name, Kind kind, int value_bytes = 0) {
      int size = 0;
      if (handle == MPI_DATATYPE_NULL) return;
      PMPI_Type_size(handle, &size);
      if (size > 0) all.push_back({handle, name, size, value_bytes ? value_bytes : size, kind});
    };
    add(MPI_INT, "int", Kind::integer);
    add(MPI_DOUBLE, "double", Kind::floating);
    add(MPI_BYTE, "byte", Kind::byte);
    add(MPI_CHAR, "char", Kind::character);
    add(MPI_SIGNED_CHAR, "signed_char", Kind::integer);
    add(MPI_UNSIGNED_CHAR, "unsigned_char", Kind::unsigned_integer);
    add(MPI_SHORT, "short", Kind::integer);
    add(MPI_UNSIGNED_SHORT, "unsigned_short", Kind::unsigned_integer);
    add(MPI_UNSIGNED, "unsigned", Kind::unsigned_integer);
    add(MPI_LONG, "long", Kind::integer);
    add(MPI_UNSIGNED_LONG, "unsigned_long", Kind::unsigned_integer);
    add(MPI_LONG_LONG, "long_long", Kind::integer);
    add(MPI_INT8_T, "int8_t", Kind::integer);
    add(MPI_UINT16_T, "uint16_t", Kind::unsigned_integer);
    add(MPI_UINT32_T, "uint32_t", Kind::unsigned_integer);
    add(MPI_UINT64_T, "uint64_t", Kind::unsigned_integer);
    add(MPI_AINT, "aint", Kind::integer);
    add(MPI_OFFSET, "offset", Kind::integer);
    add(MPI_COUNT, "count", Kind::integer);
    add(MPI_WCHAR, "wchar", Kind::character);
    add(MPI_C_BOOL, "bool", Kind::logical);
    add(MPI_FLOAT, "float", Kind::floating);
    add(MPI_LONG_DOUBLE, "long_double", Kind::floating, 10);
    add(MPI_C_FLOAT_COMPLEX, "float_complex", Kind::complex);
    add(MPI_C_DOUBLE_COMPLEX, "double_complex", Kind::complex);
    return all;
  }();
  return table;
}

const Basic& basic_named(const std::string& name) {
  for (const Basic& basic : basics())
    if (name == basic.name) return basic;
  std::fprintf(stderr, "no basic type %s\n", name.c_str());
  std::abort();
}

const std::vector<Pair>& pairs() {
  static const std::vector<Pair> table = {
      {MPI_2INT, "2int", &basic_named("int"), 4},
      {MPI_DOUBLE_INT, "double_int", &basic_named("double"), 8},
      {MPI_FLOAT_INT, "float_int", &basic_named("float"), 4},
      {MPI_LONG_INT, "long_int", &basic_named("long"), 8},
      {MPI_SHORT_INT, "short_int", &basic_named("short"), 4},
      {MPI_LONG_DOUBLE_INT, "long_double_int", &basic_named("long_double"), 16},
  };
  return table;
}

Type::Type(MPI_Datatype handle, bool owned, std::vector<Entry> map, std::string text)
    : handle_(handle), owned_(owned), map_(std::move(map)), text_(std::move(text)) {
  if (owned_) PMPI_Type_commit(&handle_);
  PMPI_Type_get_extent(handle_, &lb_, &extent_);
  if (map_.empty()) return;
  first_ = last_ = map_.front().at;
  for (const Entry& e : map_) {
    first_ = std::min(first_, e.at);
    last_ = std::max(last_, e.at + e.basic->size);
  }
}

Type::Type(Type&& other) noexcept
    : handle_(other.handle_),
      owned_(std::exchange(other.owned_, false)),
      map_(std::move(other.map_)),
      lb_(other.lb_),
      extent_(other.extent_),
      first_(other.first_),
      last_(other.last_),
      text_(std::move(other.text_)) {}

Type::~Type() {
  if (owned_) PMPI_Type_free(&handle_);
}

namespace {

std::vector<Entry> copies(const Type& t, const std::vector<MPI_Aint>& at) {
  std::vector<Entry> map;
  map.reserve(at.size() * t.map().size());
  for (const MPI_Aint offset : at)
    for (const Entry& e : t.map()) map.push_back({e.basic, e.at + offset});
  return map;
}

std::string call(const char* what, std::initializer_list<long long> numbers, const Type& t) {
  std::string text = std::string(what) + "(";
  for (const long long n : numbers) text += std::to_string(n) + ",";
  return text + t.text() + ")";
}

MPI_Aint round_up(MPI_Aint n, MPI_Aint to) { return (n + to - 1) / to * to; }

}  // namespace

Type predefined(const Basic& basic) { return {basic.handle, false, {{&basic, 0}}, basic.name}; }

Type predefined(const Pair& pair) {
  return {pair.handle, false, {{pair.value, 0}, {&basic_named("int"), pair.index_at}}, pair.name};
}

Type contiguous(int n, const Type& t) {
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  PMPI_Type_contiguous(n, t.handle(), &handle);
  std::vector<MPI_Aint> at;
  for (int i = 0; i < n; ++i) at.push_back(i * t.extent());
  return {handle, true, copies(t, at), call("contiguous", {n}, t)};
}

Type vector(int blocks, int length, int stride, const Type& t) {
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  PMPI_Type_vector(blocks, length, stride, t.handle(), &handle);
  std::vector<MPI_Aint> at;
  for (int i = 0; i < blocks; ++i)
    for (int j = 0; j < length; ++j) at.push_back((i * stride + j) * t.extent());
  return {handle, true, copies(t, at), call("vector", {blocks, length, stride}, t)};
}

Type hindexed(const std::vector<MPI_Aint>& at, const Type& t) {
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  PMPI_Type_create_hindexed_block(static_cast<int>(at.size()), 1, at.data(), t.handle(), &handle);
  std::string text = "hindexed(";
  for (const MPI_Aint offset : at) text += std::to_string(offset) + ",";
  return {handle, true, copies(t, at), text + t.text() + ")"};
}

Type structure(const std::vector<Entry>& map) {
  std::vector<int> lengths(map.size(), 1);
  std::vector<MPI_Aint> at;
  std::vector<MPI_Datatype> types;
  std::string text = "struct(";
  for (const Entry& e : map) {
    at.push_back(e.at);
    types.push_back(e.basic->handle);
    text += std::to_string(e.at) + ":" + e.basic->name + ",";
  }
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  PMPI_Type_create_struct(static_cast<int>(map.size()), lengths.data(), at.data(), types.data(),
                          &handle);
  text.back() = ')';
  return {handle, true, map, text};
}

Type resized(const Type& t, MPI_Aint lb, MPI_Aint extent) {
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  PMPI_Type_create_resized(t.handle(), lb, extent, &handle);
  return {handle, true, t.map(), call("resized", {lb, extent}, t)};
}

Type duplicate(const Type& t) {
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  PMPI_Type_dup(t.handle(), &handle);
  return {handle, true, t.map(), call("dup", {}, t)};
}

Unit random_unit(Rng& rng) {
  Unit unit;
  if (rng.chance(25)) {
    unit.pair = &rng.pick(pairs());
    unit.parts = {unit.pair->value, &basic_named("int")};
  } else if (rng.chance(20)) {
    const long long parts = rng.between(2, 4);
    for (long long i = 0; i < parts; ++i) unit.parts.push_back(&rng.pick(basics()));
  } else {
    unit.parts = {&rng.pick(basics())};
  }
  return unit;
}

namespace {

/// `units` units in signature order, in `slots` of the size of the largest part, shuffled.
std::vector<Entry> shuffled_entries(Rng& rng, const Unit& unit, int units) {
  MPI_Aint slot = 4;
  for (const Basic* basic : unit.parts) slot = std::max<MPI_Aint>(slot, round_up(basic->size, 4));
  const int entries = units * static_cast<int>(unit.parts.size());
  const std::vector<int> order = rng.permutation(entries + static_cast<int>(rng.below(4)));
  const MPI_Aint shift = rng.between(-6, 3) * slot;
  std::vector<Entry> map;
  for (int i = 0; i < entries; ++i) {
    const auto at = static_cast<std::size_t>(i);
    map.push_back({unit.parts[at % unit.parts.size()], shift + order[at] * slot});
  }
  return map;
}

Type single_unit(Rng& rng, const Unit& unit) {
  if (unit.parts.size() == 1) return predefined(*unit.parts.front());
  if (unit.pair != nullptr && rng.chance(60)) return predefined(*unit.pair);
  return structure(shuffled_entries(rng, unit, 1));
}

Type random_layout(Rng& rng, const Unit& unit, int units, long long instances, bool interleave) {
  const Type one = single_unit(rng, unit);
  const auto gap = [&] { return static_cast<int>(rng.between(1, 3)); };
  switch (rng.below(9)) {
    case 0: return vector(units, 1, 1 + gap(), one);
    case 1: return vector(units, 1, -1 - gap(), one);
    case 2: {  // out of order, with holes
      const std::vector<int> order = rng.permutation(units + gap());
      const long long shift = rng.between(-4, 4);
      std::vector<MPI_Aint> at;
      for (int i = 0; i < units; ++i)
        at.push_back((order[static_cast<std::size_t>(i)] + shift) * one.extent());
      return hindexed(at, one);
    }
    case 3: return structure(shuffled_entries(rng, unit, units));
    case 4: {  // larger than what it holds, on both sides
      const Type inner = contiguous(units, one);
      const MPI_Aint before = 16 * rng.below(3), after = 16 * rng.below(3);
      return resized(inner, inner.lb() - before, before + round_up(inner.extent(), 16) + after);
    }
    case 5: {  // the column of a matrix: instances interleave
      const int columns = static_cast<int>(std::max<long long>(instances, 1) + rng.below(3));
      if (!interleave) return vector(units, 1, 1 + gap(), one);
      const Type column = vector(units, 1, columns, one);
      return resized(column, one.lb(), one.extent());
    }
    case 6: {  // negative bounds around a plain vector
      const Type inner = contiguous(units, one);
      return resized(hindexed({-16 * rng.between(1, 4)}, inner), -16 * rng.between(4, 6),
                     round_up(inner.extent(), 16) + 16 * rng.between(6, 8));
    }
    case 7: return units == 1 ? duplicate(one) : duplicate(vector(units, 1, 1 + gap(), one));
    default:
      if (units % 2 == 0) return contiguous(2, vector(units / 2, 1, 1 + gap(), one));
      return contiguous(units, one);
  }
}

}  // namespace

Type random_type(Rng& rng, const Unit& unit, int units, long long instances, bool interleave) {
  if (rng.chance(25)) {
    Type one = single_unit(rng, unit);
    if (units == 1) return one;
    return contiguous(units, one);
  }
  return random_layout(rng, unit, units, instances, interleave);
}

Type aligned_type(const Unit& unit, int units) {
  constexpr MPI_Aint kSlot = 16;
  std::vector<Entry> map;
  for (int i = 0; i < units; ++i)
    for (const Basic* basic : unit.parts)
      map.push_back({basic, kSlot * static_cast<MPI_Aint>(map.size())});
  const Type inner = structure(map);
  return resized(inner, 0, kSlot * static_cast<MPI_Aint>(map.size()));
}

namespace {

const std::string& library_version() {
  static const std::string text = [] {
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    PMPI_Get_library_version(version, &length);
    return std::string(version);
  }();
  return text;
}

}  // namespace

bool is_intel_mpi() { return library_version().starts_with("Intel"); }

bool is_old_mpich() {
  return library_version().starts_with("MPICH") &&
         library_version().find("4.0.") != std::string::npos;
}

bool is_old_open_mpi() { return library_version().starts_with("Open MPI v4."); }

bool broken_native_type(const Type& type) {
#ifdef OPEN_MPI
  // Open MPI 5.0.11 moves complex numbers wrongly when the next one in the signature is at a
  // distance that is no multiple of their size, depending on alignments and lengths of messages.
  for (std::size_t i = 0; i < type.map().size(); ++i) {
    const bool last = i + 1 == type.map().size();
    const Entry& entry = type.map()[i];
    const Entry& next = type.map()[last ? 0 : i + 1];
    const MPI_Aint distance = next.at - entry.at + (last ? type.extent() : 0);
    if (entry.basic->kind == Kind::complex && next.basic->kind == Kind::complex &&
        distance % entry.basic->size != 0)
      return true;
  }
#endif
  static_cast<void>(type);
  return false;
}

}  // namespace conformance
