// The kernels' own loops, bit by bit against the MPI library's.
#include "exec/kernel_reduction.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <type_traits>
#include <vector>

#ifdef UNISONO_FLAVOUR_OPENMPI
#include <mpi-ext.h>
#endif

namespace unisono {
namespace {

template <class T>
using Values = std::vector<T>;

template <class T>
Values<T> integers() {
  Values<T> values = {0, 1, 2, 3, 7, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
  for (unsigned i = 0; i < 20; ++i)
    values.push_back(static_cast<T>(0x9e3779b97f4a7c15ULL * (i + 1) >> i));
  return values;
}

template <class T>
Values<T> numbers() {
  using Limits = std::numeric_limits<T>;
  Values<T> values;
  for (const T value : {T(0), T(1), T(1.5), T(3), T(7.1), T(1e-3), T(1e4), Limits::denorm_min(),
                        Limits::min(), Limits::max(), Limits::infinity()}) {
    values.push_back(value);
    values.push_back(-value);
  }
  return values;
}

template <class T>
Values<std::complex<T>> complex_numbers() {
  Values<std::complex<T>> values;
  for (const T re : {T(0), T(1), T(-2.1), T(1e3)})
    for (const T im : {T(0), T(0.3), T(-5)}) values.emplace_back(re, im);
  return values;
}

/// C's pairs, their gaps zero.
template <class T>
struct Pair {
  T value;
  int index;
};

template <class T>
Values<Pair<T>> pairs() {
  Values<Pair<T>> values(12);
  std::memset(static_cast<void*>(values.data()), 0, values.size() * sizeof(Pair<T>));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i].value = static_cast<T>(i % 4);
    values[i].index = static_cast<int>(i % 3);
  }
  return values;
}

/// Of long double and of pairs: what is between is nobody's.
template <class T>
bool same(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, long double>)
    return std::memcmp(&a, &b, std::numeric_limits<T>::digits == 64 ? 10 : sizeof a) == 0;
  else if constexpr (requires { a.index; })
    return same(a.value, b.value) && a.index == b.index;
  else
    return std::memcmp(&a, &b, sizeof a) == 0;
}

struct Half {
  std::uint16_t bits;
};

bool is_nan(const Half& half) { return (half.bits & 0x7fffU) > 0x7c00U; }

/// Which of two NaN comes out no library says, nor which of two zeros is the lesser.
template <class T>
bool agree(const T& a, const T& b) {
  if constexpr (std::is_floating_point_v<T>)
    return same(a, b) || (std::isnan(a) && std::isnan(b)) || (a == 0 && b == 0);
  else if constexpr (std::is_same_v<T, Half>)
    return a.bits == b.bits || (is_nan(a) && is_nan(b));
  else
    return same(a, b);
}

/// Every pair of `values`.
template <class T>
void expect_as_mpi(MPI_Datatype type, std::initializer_list<MPI_Op> ops, const Values<T>& values) {
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  PMPI_Type_get_name(type, name, &length);
  Values<T> left, right;
  for (const T& a : values)
    for (const T& b : values) {
      left.push_back(a);
      right.push_back(b);
    }
  for (const MPI_Op& op : ops) {
    const auto reduction = built_in_reduction(op, type, facts_of(type));
    ASSERT_TRUE(reduction) << name;
    ASSERT_EQ(reduction->element_bytes, sizeof(T)) << name;
    Values<T> ours = left, theirs = right;
    reduction->combine(reduction->context, reinterpret_cast<const std::byte*>(left.data()),
                       reinterpret_cast<const std::byte*>(right.data()),
                       reinterpret_cast<std::byte*>(ours.data()), left.size());
    PMPI_Reduce_local(left.data(), theirs.data(), static_cast<int>(left.size()), type, op);
    for (std::size_t i = 0; i < left.size(); ++i) {
      ASSERT_TRUE(agree(ours[i], theirs[i]))
          << name << ", operation " << (&op - ops.begin()) << ", pair " << i;
    }
  }
}

// Sums that do not fit are nobody's business: ours wrap, Open MPI's of 8 and 16 bits do not.
template <class T>
void expect_integers_as_mpi(std::initializer_list<MPI_Datatype> types) {
  const Values<T> small = {0, 1, 2, 3, 7, 11, static_cast<T>(std::is_signed_v<T> ? -9 : 9)};
  for (const MPI_Datatype type : types) {
    expect_as_mpi<T>(type, {MPI_SUM, MPI_PROD}, sizeof(T) < sizeof(int) ? small : integers<T>());
    expect_as_mpi<T>(type,
                     {MPI_MIN, MPI_MAX, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR},
                     integers<T>());
  }
}

TEST(BuiltInReduction, OfIntegersIsTheLibrarys) {
  expect_integers_as_mpi<std::int8_t>({MPI_SIGNED_CHAR, MPI_INT8_T});
  expect_integers_as_mpi<std::int16_t>({MPI_SHORT, MPI_INT16_T});
  expect_integers_as_mpi<std::int32_t>({MPI_INT, MPI_INT32_T});
  expect_integers_as_mpi<std::int64_t>({MPI_LONG, MPI_LONG_LONG, MPI_INT64_T});
  expect_integers_as_mpi<std::uint8_t>({MPI_UNSIGNED_CHAR, MPI_UINT8_T});
  expect_integers_as_mpi<std::uint16_t>({MPI_UNSIGNED_SHORT, MPI_UINT16_T});
  expect_integers_as_mpi<std::uint32_t>({MPI_UNSIGNED, MPI_UINT32_T});
  expect_integers_as_mpi<std::uint64_t>({MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG, MPI_UINT64_T});
}

TEST(BuiltInReduction, OfFloatingNumbersIsTheLibrarys) {
  const auto ops = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX};
  expect_as_mpi(MPI_FLOAT, ops, numbers<float>());
  expect_as_mpi(MPI_DOUBLE, ops, numbers<double>());
  expect_as_mpi(MPI_LONG_DOUBLE, ops, numbers<long double>());
}

// The MPI library's type of half precision, where it has one.
#if defined(UNISONO_FLAVOUR_MPICH)
#define UNISONO_HALF_TYPE MPIX_C_FLOAT16
#elif defined(UNISONO_FLAVOUR_OPENMPI) && defined(OMPI_HAVE_MPI_EXT_SHORTFLOAT)
#define UNISONO_HALF_TYPE MPIX_SHORT_FLOAT
#endif

#ifdef UNISONO_HALF_TYPE
TEST(BuiltInReduction, OfHalfPrecisionIsTheLibrarys) {
  const MPI_Datatype type = UNISONO_HALF_TYPE;
  Values<Half> values;
  for (unsigned bits = 0; bits < 1U << 16; bits += 41)
    values.push_back({static_cast<std::uint16_t>(bits ^ (bits >> 8 & 1))});
  for (const unsigned bits : {0U, 1U, 0x3ffU, 0x400U, 0x7bffU, 0x7c00U, 0x7c01U, 0x7e00U})
    for (const unsigned sign : {0U, 0x8000U})
      values.push_back({static_cast<std::uint16_t>(bits | sign)});
  expect_as_mpi(type, {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX}, values);
  EXPECT_FALSE(built_in_reduction(MPI_BAND, type, facts_of(type)));
}
#endif

TEST(BuiltInReduction, OfTheRestIsTheLibrarys) {
  expect_as_mpi<std::uint8_t>(MPI_BYTE, {MPI_BAND, MPI_BOR, MPI_BXOR}, integers<std::uint8_t>());
  expect_as_mpi<std::uint8_t>(MPI_C_BOOL, {MPI_LAND, MPI_LOR, MPI_LXOR}, {0, 1});
  expect_as_mpi(MPI_C_FLOAT_COMPLEX, {MPI_SUM}, complex_numbers<float>());
  expect_as_mpi(MPI_C_DOUBLE_COMPLEX, {MPI_SUM}, complex_numbers<double>());
  const auto locations = {MPI_MINLOC, MPI_MAXLOC};
  expect_as_mpi(MPI_2INT, locations, pairs<int>());
  expect_as_mpi(MPI_SHORT_INT, locations, pairs<short>());
  expect_as_mpi(MPI_LONG_INT, locations, pairs<long>());
  expect_as_mpi(MPI_FLOAT_INT, locations, pairs<float>());
  expect_as_mpi(MPI_DOUBLE_INT, locations, pairs<double>());
  expect_as_mpi(MPI_LONG_DOUBLE_INT, locations, pairs<long double>());
}

TEST(BuiltInReduction, IsOfNothingElse) {
  for (const MPI_Op op : {MPI_REPLACE, MPI_NO_OP, MPI_OP_NULL})
    EXPECT_FALSE(built_in_reduction(op, MPI_INT, facts_of(MPI_INT)));
  for (const MPI_Datatype type : {MPI_AINT, MPI_OFFSET, MPI_COUNT, MPI_LOGICAL, MPI_CHAR})
    EXPECT_FALSE(built_in_reduction(MPI_SUM, type, facts_of(type)));
  EXPECT_FALSE(built_in_reduction(MPI_BAND, MPI_DOUBLE, facts_of(MPI_DOUBLE)));
  EXPECT_FALSE(built_in_reduction(MPI_MAX, MPI_C_DOUBLE_COMPLEX, facts_of(MPI_C_DOUBLE_COMPLEX)));
}

TEST(CanReduceInNode, PredefinedDatatypes) {
  for (const MPI_Datatype type : {MPI_INT, MPI_DOUBLE_INT, MPI_C_LONG_DOUBLE_COMPLEX, MPI_BYTE}) {
    EXPECT_TRUE(can_reduce_in_node(facts_of(type)));
    EXPECT_LE(facts_of(type).extent, static_cast<Count>(kLargestPredefined));
  }
  EXPECT_FALSE(can_reduce_in_node(facts_of(MPI_CHAR)));
  MPI_Datatype two = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &two);
  MPI_Type_commit(&two);
  EXPECT_FALSE(can_reduce_in_node(facts_of(two)));
  MPI_Type_free(&two);
}

MPI_Datatype g_seen = MPI_DATATYPE_NULL;

/// Keeps the digits of both: 1 and 2 are 12.
void append(void* in, void* inout, int* count, MPI_Datatype* type) {
  g_seen = *type;
  for (int i = 0; i < *count; ++i) {
    long& right = static_cast<long*>(inout)[i];
    long tens = 10;
    while (tens <= right) tens *= 10;
    right += static_cast<long*>(in)[i] * tens;
  }
}

TEST(KernelReduction, CallsTheProgramsOperationInOrder) {
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(append, 0, &op);
  const KernelReduction made(op, MPI_LONG, facts_of(MPI_LONG));
  const node::Reduction& reduction = made.get();
  constexpr std::size_t kCount = 1000;  // more than are called at once
  const Values<long> left(kCount, 12), right(kCount, 3);
  Values<long> out(kCount), onto = left;
  const auto combine = [&](const Values<long>& into, Values<long>& result) {
    reduction.combine(reduction.context, reinterpret_cast<const std::byte*>(into.data()),
                      reinterpret_cast<const std::byte*>(right.data()),
                      reinterpret_cast<std::byte*>(result.data()), kCount);
  };
  combine(left, out);
  combine(onto, onto);
  EXPECT_EQ(out, Values<long>(kCount, 123));
  EXPECT_EQ(onto, out);
  EXPECT_EQ(right, Values<long>(kCount, 3));
  EXPECT_EQ(g_seen, MPI_LONG);
  MPI_Op_free(&op);
}

}  // namespace
}  // namespace unisono
