#include "ops.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

namespace conformance {

namespace {

// x -> a x + b; first left, then right.
void affine(const unsigned* l, const unsigned* r, unsigned* out) {
  const unsigned a = l[0] * r[0], b = r[0] * l[1] + r[1];
  out[0] = a;
  out[1] = b;
}

void matrix(const unsigned* l, const unsigned* r, unsigned* out) {
  const unsigned product[4] = {l[0] * r[0] + l[1] * r[2], l[0] * r[1] + l[1] * r[3],
                               l[2] * r[0] + l[3] * r[2], l[2] * r[1] + l[3] * r[3]};
  std::memcpy(out, product, sizeof product);
}

// A string as its hash, the power of the base and its length; concatenation.
void concatenate(const unsigned* l, const unsigned* r, unsigned* out) {
  const unsigned hash = l[0] * r[1] + r[0], power = l[1] * r[1], length = l[2] + r[2];
  out[0] = hash;
  out[1] = power;
  out[2] = length;
}

void leftmost(const unsigned* l, const unsigned*, unsigned* out) { out[0] = l[0]; }
void rightmost(const unsigned*, const unsigned* r, unsigned* out) { out[0] = r[0]; }

void sum_and_xor(const unsigned* l, const unsigned* r, unsigned* out) {
  const unsigned sum = l[0] + r[0], parity = l[1] ^ r[1];
  out[0] = sum;
  out[1] = parity;
}

void product(const unsigned* l, const unsigned* r, unsigned* out) { out[0] = l[0] * r[0]; }

/// Calls in flight may name the same one, if it is predefined.
std::multimap<MPI_Datatype, const Type*>& registered() {
  static std::multimap<MPI_Datatype, const Type*> types;
  return types;
}
std::mutex g_registering;

const Type* find_registered(MPI_Datatype datatype) {
  const std::lock_guard lock(g_registering);
  const auto it = registered().find(datatype);
  return it == registered().end() ? nullptr : it->second;
}

constexpr int kMostWords = 4;

void apply(const UserOperation& operation, const void* in, void* inout, long long count,
           MPI_Datatype datatype) {
  // A user function may ask MPI about its datatype while a collective is under way.
  MPI_Aint lb = 0, extent = 0;
  MPI_Type_get_extent(datatype, &lb, &extent);
  const Type* const type = find_registered(datatype);
  if (type == nullptr) {
    std::fprintf(stderr, "operation %s was given a datatype that the program did not pass\n",
                 operation.name);
    MPI_Abort(MPI_COMM_WORLD, 1);
    return;
  }
  const std::vector<Entry>& map = type->map();
  const auto words = static_cast<std::size_t>(operation.words);
  for (long long i = 0; i < count; ++i) {
    for (std::size_t k = 0; k + words <= map.size(); k += words) {
      unsigned left[kMostWords], right[kMostWords], result[kMostWords];
      for (std::size_t w = 0; w < words; ++w) {
        const MPI_Aint at = i * extent + map[k + w].at;
        std::memcpy(&left[w], static_cast<const char*>(in) + at, sizeof(unsigned));
        std::memcpy(&right[w], static_cast<const char*>(inout) + at, sizeof(unsigned));
      }
      operation.combine(left, right, result);
      for (std::size_t w = 0; w < words; ++w)
        std::memcpy(static_cast<char*>(inout) + i * extent + map[k + w].at, &result[w],
                    sizeof(unsigned));
    }
  }
}

constexpr UserOperation kUser[] = {
    {"affine", 2, false, affine},           {"matrix", 4, false, matrix},
    {"concatenate", 3, false, concatenate}, {"leftmost", 1, false, leftmost},
    {"rightmost", 1, false, rightmost},     {"sum_and_xor", 2, true, sum_and_xor},
    {"product", 1, true, product},
};
constexpr std::size_t kUsers = std::size(kUser);

template <std::size_t I>
void user_function(void* in, void* inout, int* count, MPI_Datatype* datatype) {
  apply(kUser[I], in, inout, *count, *datatype);
}

#if MPI_VERSION >= 4
template <std::size_t I>
void user_function_c(void* in, void* inout, MPI_Count* count, MPI_Datatype* datatype) {
  apply(kUser[I], in, inout, *count, *datatype);
}
#endif

struct Handles {
  MPI_Op natural = MPI_OP_NULL;  ///< declared commutative if it is
  MPI_Op ordered = MPI_OP_NULL;  ///< declared non-commutative
  MPI_Op large = MPI_OP_NULL;    ///< natural, by MPI_Op_create_c
};
Handles g_handles[kUsers];

template <std::size_t I>
void create_one() {
  MPI_Op_create(user_function<I>, kUser[I].commutative, &g_handles[I].natural);
  MPI_Op_create(user_function<I>, 0, &g_handles[I].ordered);
#if MPI_VERSION >= 4
  MPI_Op_create_c(user_function_c<I>, kUser[I].commutative, &g_handles[I].large);
#endif
}

template <std::size_t... I>
void create_all(std::index_sequence<I...>) {
  (create_one<I>(), ...);
}

struct Named {
  MPI_Op op;
  const char* name;
};

template <class T>
void put(void* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

}  // namespace

const std::vector<UserOperation>& user_operations() {
  static const std::vector<UserOperation> all(std::begin(kUser), std::end(kUser));
  return all;
}

void create_operations() { create_all(std::make_index_sequence<kUsers>()); }

void free_operations() {
  for (Handles& h : g_handles)
    for (MPI_Op* op : {&h.natural, &h.ordered, &h.large})
      if (*op != MPI_OP_NULL) MPI_Op_free(op);
}

Reduction random_builtin(Rng& rng, const Basic& basic) {
  const Named sum = {MPI_SUM, "sum"}, prod = {MPI_PROD, "prod"}, max = {MPI_MAX, "max"},
              min = {MPI_MIN, "min"}, band = {MPI_BAND, "band"}, bor = {MPI_BOR, "bor"},
              bxor = {MPI_BXOR, "bxor"}, land = {MPI_LAND, "land"}, lor = {MPI_LOR, "lor"},
              lxor = {MPI_LXOR, "lxor"};
  std::vector<Named> allowed;
  switch (basic.kind) {
    case Kind::character: break;
    case Kind::byte: allowed = {band, bor, bxor}; break;
    case Kind::logical: allowed = {land, lor, lxor}; break;
    case Kind::integer:
    case Kind::unsigned_integer:
      allowed = {sum, prod, max, min, band, bor, bxor, land, lor, lxor};
      break;
    case Kind::floating: allowed = {sum, prod, max, min}; break;
    case Kind::complex: allowed = {sum}; break;  // products differ in the signs of zeros
  }
  // Logical operations are defined on C integers and logicals, not on MPI_AINT and its like; both
  // MPICH and Open MPI agree only on these.
  const std::string name = basic.name;
  if (name == "aint" || name == "offset" || name == "count")
    allowed = {sum, prod, max, min, band, bor, bxor};
  const Named& chosen = rng.pick(allowed);
  return {chosen.op, true, nullptr, chosen.name, chosen.name};
}

Reduction random_pair_reduction(Rng& rng) {
  if (rng.chance(50)) return {MPI_MINLOC, true, nullptr, "minloc", "minloc"};
  return {MPI_MAXLOC, true, nullptr, "maxloc", "maxloc"};
}

Reduction random_user_reduction(Rng& rng, bool may_be_large) {
  const auto i = static_cast<std::size_t>(rng.below(kUsers));
  const UserOperation& user = user_operations()[i];
  const Handles& h = g_handles[i];
  const bool large = rng.chance(30), ordered = rng.chance(30);
  if (large && may_be_large && h.large != MPI_OP_NULL)
    return {h.large, user.commutative, &user, nullptr, std::string(user.name) + "_c"};
  if (ordered) return {h.ordered, false, &user, nullptr, std::string(user.name) + ",ordered"};
  return {h.natural, user.commutative, &user, nullptr, user.name};
}

const Basic& random_reducible(Rng& rng) {
  for (;;) {
    const Basic& basic = rng.pick(basics());
    if (basic.kind != Kind::character) return basic;
  }
}

void write_value(Rng& rng, const Basic& basic, const Reduction& reduction, void* at) {
  const std::string op = reduction.builtin ? reduction.builtin : "-";
  const auto whole = static_cast<std::size_t>(basic.size);
  const long long value = op == "prod"                       ? rng.pick({-1, 1, 1, 2})
                          : op == "sum"                      ? rng.between(-8, 8)
                          : op == "minloc" || op == "maxloc" ? rng.between(-3, 3)
                          : op.front() == 'l'                ? rng.pick({0, 0, 1, 5})
                                                             : rng.between(-100, 100);
  switch (basic.kind) {
    case Kind::floating:
      if (whole == sizeof(float)) return put(at, static_cast<float>(value));
      if (whole == sizeof(double)) return put(at, static_cast<double>(value));
      return put(at, static_cast<long double>(value));
    case Kind::complex: {
      const long long imaginary = rng.between(-8, 8);
      if (whole == 2 * sizeof(float)) {
        const float z[2] = {static_cast<float>(value), static_cast<float>(imaginary)};
        return put(at, z[0]), put(static_cast<char*>(at) + sizeof(float), z[1]);
      }
      put(at, static_cast<double>(value));
      return put(static_cast<char*>(at) + sizeof(double), static_cast<double>(imaginary));
    }
    case Kind::logical: return put(at, static_cast<bool>(value != 0));
    case Kind::integer:
      if (op == "sum" || op == "prod" || op == "minloc" || op == "maxloc" || op.front() == 'l') {
        switch (whole) {
          case 1: return put(at, static_cast<std::int8_t>(value));
          case 2: return put(at, static_cast<std::int16_t>(value));
          case 4: return put(at, static_cast<std::int32_t>(value));
          default: return put(at, static_cast<std::int64_t>(value));
        }
      }
      break;
    case Kind::unsigned_integer:
      // Open MPI 5.0 adds 8 and 16 bits sometimes with saturation, sometimes without. MPICH 4.0.2
      // and, of unsigned long, Open MPI 4.1.4 compare as if there were a sign.
      if (op.front() == 'l' || (whole < 4 && (op == "sum" || op == "prod")) ||
          ((op == "min" || op == "max") && (is_old_mpich() || is_old_open_mpi()))) {
        std::memset(at, 0, whole);
        return put(at, static_cast<std::uint8_t>(value < 0 ? -value : value));
      }
      break;
    default: break;
  }
  for (std::size_t i = 0; i < whole; ++i)
    static_cast<unsigned char*>(at)[i] = static_cast<unsigned char>(rng.next());
}

void register_type(const Type& type) {
  const std::lock_guard lock(g_registering);
  registered().emplace(type.handle(), &type);
}
void unregister_type(const Type& type) {
  const std::lock_guard lock(g_registering);
  std::erase_if(registered(), [&type](const auto& entry) { return entry.second == &type; });
}

}  // namespace conformance
