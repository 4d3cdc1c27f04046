// The problems of the NAS Parallel Benchmarks for IS, and the ranks of five keys that they publish.
// Sources: RNR-94-007, section 2.5; numbers, buckets, tested keys and their ranks as in NPB 3.4.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace apps::is {

constexpr int kTested = 5;       // keys whose rank is known
constexpr int kIterations = 10;  // of every class

/// What is known of the key that is at `index` of all keys, while iteration i = 1, 2, .. has put i
/// at place i and 2^bits - i ten places on: how many keys are smaller.
struct Tested {
  std::size_t index;
  std::int64_t smaller, change;  // that many, and by how many more with each iteration
  std::int64_t in(int iteration) const { return smaller + change * iteration; }
};

struct Class {
  int key_bits;  // 2^key_bits keys
  int bits, bucket_bits;
  std::array<Tested, kTested> tested;
};

// The benchmark writes what does not change with the iteration apart: W's first two ranks are
// 1249 + (i - 2) and 11698 + (i - 2), all of A's are counted from i - 1.
inline const std::map<std::string, Class> kClasses{
    {"S",
     {16,
      11,
      9,
      {{{48427, 0, 1}, {17148, 18, 1}, {23627, 346, 1}, {62548, 64917, -1}, {4431, 65463, -1}}}}},
    {"W",
     {20,
      16,
      10,
      {{{357773, 1247, 1},
        {934767, 11696, 1},
        {875723, 1039987, -1},
        {898999, 1043896, -1},
        {404505, 1048018, -1}}}}},
    {"A",
     {23,
      19,
      10,
      {{{2112377, 103, 1},
        {662041, 17522, 1},
        {5336171, 123927, 1},
        {3642833, 8288933, -1},
        {4250760, 8388265, -1}}}}},
    {"B",
     {25,
      21,
      10,
      {{{41869, 33422937, -1},
        {812306, 10244, 1},
        {5102857, 59149, 1},
        {18232239, 33135281, -1},
        {26860214, 99, 1}}}}},
    {"C",
     {27,
      23,
      10,
      {{{44172927, 61147, 1},
        {72999161, 882988, 1},
        {74326391, 266290, 1},
        {129606274, 133997595, -1},
        {21736814, 133525895, -1}}}}}};

}  // namespace apps::is
