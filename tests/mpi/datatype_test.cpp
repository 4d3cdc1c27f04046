#include "mpi/datatype.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace unisono {
namespace {

/// A committed datatype that frees itself.
struct Type {
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  template <class Make>
  explicit Type(Make make) {
    make(&handle);
    MPI_Type_commit(&handle);
  }
  ~Type() { MPI_Type_free(&handle); }
  TypeFacts facts() const { return facts_of(handle); }
};

TEST(Datatype, PredefinedTypes) {
  EXPECT_EQ(facts_of(MPI_DOUBLE).size, 8);
  EXPECT_TRUE(facts_of(MPI_DOUBLE).dense);
  EXPECT_TRUE(facts_of(MPI_2INT).dense);
  EXPECT_FALSE(facts_of(MPI_DOUBLE_INT).dense);  // 12 bytes in 16
  EXPECT_EQ(facts_of(MPI_DOUBLE_INT).kind, TypeKind::pair);
}

TEST(Datatype, OperationsThatFit) {
  const auto fits = [](MPI_Op op, MPI_Datatype type) {
    return is_defined(op, facts_of(type).kind);
  };
  EXPECT_TRUE(fits(MPI_SUM, MPI_DOUBLE));
  EXPECT_TRUE(fits(MPI_BXOR, MPI_BYTE));
  EXPECT_TRUE(fits(MPI_MAXLOC, MPI_2INT));
  EXPECT_FALSE(fits(MPI_BAND, MPI_DOUBLE));
  EXPECT_FALSE(fits(MPI_SUM, MPI_2INT));
  EXPECT_FALSE(fits(MPI_OP_NULL, MPI_INT));
  const Type three([](auto t) { MPI_Type_contiguous(3, MPI_INT, t); });
  EXPECT_FALSE(fits(MPI_SUM, three.handle));
}

TEST(Datatype, WithoutGapsAndInOrderIsDense) {
  EXPECT_TRUE(Type([](auto t) { MPI_Type_contiguous(3, MPI_INT, t); }).facts().dense);
  EXPECT_TRUE(Type([](auto t) { MPI_Type_vector(3, 2, 2, MPI_INT, t); }).facts().dense);
  EXPECT_FALSE(Type([](auto t) { MPI_Type_vector(3, 2, 3, MPI_INT, t); }).facts().dense);
}

TEST(Datatype, WithoutGapsButOutOfOrderIsNotDense) {
  const Type swapped([](auto t) {
    int displs[] = {1, 0};
    MPI_Type_create_indexed_block(2, 1, displs, MPI_INT, t);
  });
  EXPECT_EQ(swapped.facts().size, swapped.facts().extent);
  EXPECT_FALSE(swapped.facts().dense);
}

TEST(Datatype, NegativeLowerBoundsAndLargeExtents) {
  const Type shifted([](auto t) { MPI_Type_create_resized(MPI_INT, -8, 24, t); });
  EXPECT_EQ(shifted.facts().true_lb, 0);
  EXPECT_EQ(shifted.facts().extent, 24);
  EXPECT_FALSE(shifted.facts().dense);
}

TEST(Datatype, PackAndUnpackAreInverse) {
  const Type type([](auto t) { MPI_Type_vector(2, 1, 3, MPI_INT, t); });
  const TypeFacts facts = type.facts();
  std::vector<int> values(40), copy(40, -1);
  std::iota(values.begin(), values.end(), 0);
  std::vector<int> packed(10);
  ASSERT_EQ(pack_elements(reinterpret_cast<std::byte*>(values.data()), 5, type.handle, facts,
                          reinterpret_cast<std::byte*>(packed.data())),
            MPI_SUCCESS);
  EXPECT_EQ(packed, (std::vector<int>{0, 3, 4, 7, 8, 11, 12, 15, 16, 19}));
  ASSERT_EQ(unpack_elements(reinterpret_cast<std::byte*>(packed.data()),
                            reinterpret_cast<std::byte*>(copy.data()), 5, type.handle, facts),
            MPI_SUCCESS);
  EXPECT_EQ(copy[3], 3);
  EXPECT_EQ(copy[19], 19);
  EXPECT_EQ(copy[1], -1);  // a gap
}

// The facts hang on the type, so that a new type in the place of an old one gets its own.
TEST(Datatype, FactsGoWithTheType) {
  for (int n = 1; n < 100; ++n)
    EXPECT_EQ(Type([n](auto t) { MPI_Type_contiguous(n, MPI_INT, t); }).facts().size, 4 * n);
}

#if MPI_VERSION >= 4
TEST(Datatype, LargeCountConstructors) {
  const Type type([](auto t) { MPI_Type_vector_c(3, 2, 3, MPI_INT, t); });
  EXPECT_EQ(type.facts().size, 24);
  EXPECT_FALSE(type.facts().dense);
}
#endif

}  // namespace
}  // namespace unisono
