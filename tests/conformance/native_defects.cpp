// Which of the defects of the MPI libraries that these programs know and avoid the library at hand
// has; on demand, without Unisono, one rank: mpiexec -n 1 native_defects_<flavour>
#include <mpi.h>

#include <cstddef>
#include <cstdio>
#include <vector>

namespace {

void print(const char* defect, bool present) {
  std::printf("%-8s %s\n", present ? "present" : "absent", defect);
}

/// {complex value; double weight;}, of which only the value is packed: Open MPI 5.0.11 steps by
/// 24 / 16 complex numbers. src/mpi/complex_parts.h is the way around it.
bool complex_at_odd_distances() {
  constexpr int kRecords = 2;
  std::vector<double> records, packed(2 * kRecords);
  for (int i = 0; i < 3 * kRecords; ++i) records.push_back(i);
  MPI_Datatype values;
  MPI_Type_create_hvector(kRecords, 1, 3 * sizeof(double), MPI_C_DOUBLE_COMPLEX, &values);
  MPI_Type_commit(&values);
  int position = 0;
  MPI_Pack(records.data(), 1, values, packed.data(), 2 * kRecords * sizeof(double), &position,
           MPI_COMM_SELF);
  MPI_Type_free(&values);
  return packed != std::vector<double>{0, 1, 3, 4};
}

/// What a rank sends to itself in a collective: Open MPI 5.0.11 copies it in portions of 64 KiB
/// when the two datatypes differ, and loses its place when a basic type lies across the cut.
bool copies_across_64_kib() {
  struct Pair {
    double value;
    int index;
  };
  struct Swapped {
    int index;
    double value;
  };
  constexpr int kPairs = 5462;  // 12 bytes each
  std::vector<Pair> sent(kPairs);
  std::vector<Swapped> received(kPairs);
  for (int i = 0; i < kPairs; ++i) sent[static_cast<std::size_t>(i)] = {i / 2.0, i};
  int lengths[] = {1, 1};
  MPI_Aint at[] = {offsetof(Swapped, value), offsetof(Swapped, index)};
  MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT}, swapped;
  MPI_Type_create_struct(2, lengths, at, types, &swapped);
  MPI_Type_commit(&swapped);
  MPI_Alltoall(sent.data(), kPairs, MPI_DOUBLE_INT, received.data(), kPairs, swapped,
               MPI_COMM_SELF);
  MPI_Type_free(&swapped);
  for (std::size_t i = 0; i < sent.size(); ++i)
    if (received[i].value != sent[i].value || received[i].index != sent[i].index) return true;
  return false;
}

/// Sums of unsigned integers of 8 and 16 bits: in C they wrap, Open MPI 5.0.11 stops at the largest
/// value where its vector instructions add (AVX's saturating additions).
template <class Integer>
bool sums_saturate(MPI_Datatype type) {
  constexpr int kMany = 256;
  std::vector<Integer> in(kMany, static_cast<Integer>(-1)), inout(kMany, 2);
  MPI_Reduce_local(in.data(), inout.data(), kMany, type, MPI_SUM);
  return inout != std::vector<Integer>(kMany, 1);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  print("complex numbers at distances that are no multiple of their size",
        complex_at_odd_distances());
  print("copies between unlike datatypes across 64 KiB", copies_across_64_kib());
  print("sums of unsigned integers of 8 bits stop at 255",
        sums_saturate<unsigned char>(MPI_UINT8_T));
  print("sums of unsigned integers of 16 bits stop at 65535",
        sums_saturate<unsigned short>(MPI_UINT16_T));
  MPI_Finalize();
}
