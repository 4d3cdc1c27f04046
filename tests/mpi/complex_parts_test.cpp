// Complex numbers at distances that are no multiple of their size, as the parts of a structure are:
// Open MPI 5.0's own MPI_Pack gets them wrong (docs/results/foundation.md, "Known native defects").
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <numeric>
#include <vector>

#include "mpi/datatype.h"

namespace unisono {
namespace {

constexpr MPI_Aint kRecord = 24;  // {complex value; double weight;}

/// Of a datatype that is built from the values of such records, or from what is listed in `bytes`.
struct PartsLayout {
  const char* name;
  std::function<void(MPI_Datatype value, MPI_Datatype record, MPI_Datatype* type)> make;
  std::vector<MPI_Aint> values;  ///< where one element has its complex numbers
  bool leading_byte = false;     ///< and a byte at 0 before them
};

const std::vector<PartsLayout>& layouts() {
  static int two[] = {1, 1}, blocks[] = {0, 3}, size = 5, part = 2, start = 1, one = 1;
  static int block[] = {MPI_DISTRIBUTE_BLOCK}, dargs[] = {MPI_DISTRIBUTE_DFLT_DARG};
  static MPI_Aint at[] = {0, 40};
  static const std::vector<PartsLayout> all = {
      {"contiguous", [](auto, auto r, auto t) { MPI_Type_contiguous(3, r, t); }, {0, 24, 48}},
      {"vector", [](auto, auto r, auto t) { MPI_Type_vector(2, 1, 3, r, t); }, {0, 72}},
      {"hvector", [](auto v, auto, auto t) { MPI_Type_create_hvector(2, 1, 24, v, t); }, {0, 24}},
      {"blocks of two",
       [](auto v, auto, auto t) { MPI_Type_create_hvector(2, 2, 40, v, t); },
       {0, 16, 40, 56}},
      {"indexed", [](auto, auto r, auto t) { MPI_Type_indexed(2, two, blocks, r, t); }, {0, 72}},
      {"hindexed",
       [](auto v, auto, auto t) { MPI_Type_create_hindexed(2, two, at, v, t); },
       {0, 40}},
      {"indexed_block",
       [](auto, auto r, auto t) { MPI_Type_create_indexed_block(2, 1, blocks, r, t); },
       {0, 72}},
      {"hindexed_block",
       [](auto v, auto, auto t) { MPI_Type_create_hindexed_block(2, 1, at, v, t); },
       {0, 40}},
      {"struct",
       [](auto v, auto, auto t) {
         MPI_Datatype types[] = {v, v};
         MPI_Type_create_struct(2, two, at, types, t);
       },
       {0, 40}},
      {"struct with a byte",
       [](auto v, auto, auto t) {
         int ones[] = {1, 1, 1};
         MPI_Aint places[] = {0, 8, 32};
         MPI_Datatype types[] = {MPI_CHAR, v, v};
         MPI_Type_create_struct(3, ones, places, types, t);
       },
       {8, 32},
       true},
      {"subarray",
       [](auto, auto r, auto t) {
         MPI_Type_create_subarray(1, &size, &part, &start, MPI_ORDER_C, r, t);
       },
       {24, 48}},
      {"darray",
       [](auto, auto r, auto t) {
         MPI_Type_create_darray(1, 0, 1, &size, block, dargs, &one, MPI_ORDER_C, r, t);
       },
       {0, 24, 48, 72, 96}},
      {"dup",
       [](auto, auto r, auto t) {
         MPI_Datatype three;
         MPI_Type_contiguous(3, r, &three);
         MPI_Type_dup(three, t);
         MPI_Type_free(&three);
       },
       {0, 24, 48}},
      {"resized",
       [](auto, auto r, auto t) {
         MPI_Datatype three;
         MPI_Type_contiguous(3, r, &three);
         MPI_Type_create_resized(three, -8, 88, t);
         MPI_Type_free(&three);
       },
       {0, 24, 48}},
  };
  return all;
}

TEST(ComplexParts, MovedWhereverTheyStand) {
  MPI_Datatype record;
  MPI_Type_create_resized(MPI_C_DOUBLE_COMPLEX, 0, kRecord, &record);
  for (const PartsLayout& layout : layouts()) {
    MPI_Datatype type;
    layout.make(MPI_C_DOUBLE_COMPLEX, record, &type);
    MPI_Type_commit(&type);
    const TypeFacts facts = facts_of(type);
    constexpr Count kElements = 2;
    std::vector<std::byte> memory(512), expected, copy(512), blank(512);
    for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = std::byte(i * 7 + i / 256);
    for (Count i = 0; i < kElements; ++i) {
      const auto take = [&](Count at, Count bytes) {
        const auto from = memory.begin() + i * facts.extent + at;
        expected.insert(expected.end(), from, from + bytes);
        std::copy(from, from + bytes, blank.begin() + i * facts.extent + at);
      };
      if (layout.leading_byte) take(0, 1);
      for (const MPI_Aint at : layout.values) take(at, 16);
    }
    for (std::size_t shift = 0; shift < 16; ++shift) {  // the defect shows at some alignments only
      std::vector<std::byte> room(expected.size() + shift);
      std::byte* packed = room.data() + shift;
      ASSERT_EQ(pack_elements(memory.data(), kElements, type, facts, packed), MPI_SUCCESS);
      EXPECT_EQ(std::memcmp(packed, expected.data(), expected.size()), 0)
          << layout.name << " packed at " << shift;
      std::fill(copy.begin(), copy.end(), std::byte{0});
      std::memcpy(packed, expected.data(), expected.size());
      ASSERT_EQ(unpack_elements(packed, copy.data(), kElements, type, facts), MPI_SUCCESS);
      EXPECT_EQ(copy, blank) << layout.name << " unpacked from " << shift;
    }
    MPI_Type_free(&type);
  }
  MPI_Type_free(&record);
}

}  // namespace
}  // namespace unisono
