#include "calls/bound_call.h"

#include <gtest/gtest.h>

#include <array>

#include "calls/signature.h"

namespace unisono {
namespace {

TEST(SignatureBytes, AreEqualWhateverTheTypesOfARank) {
  MPI_Datatype three = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(3, MPI_INT, &three);
  MPI_Type_commit(&three);
  const std::array ints = {255, 255, 258}, triples = {85, 85, 86}, displs = {0, 300, 600};
  int somewhere = 0;
  Call call{.collective = Collective::allgatherv, .sendbuf = MPI_IN_PLACE, .recvbuf = &somewhere};
  call.rdispls = displs.data();
  call.recvcounts = ints.data();
  call.recvtype = MPI_INT;
  const auto in_ints = signature_bytes(call, 0, 3);
  call.recvcounts = triples.data();
  call.recvtype = three;
  const auto in_triples = signature_bytes(call, 1, 3);
  EXPECT_EQ(in_ints, 1024);
  EXPECT_EQ(in_triples, in_ints);
  call.recvbuf = nullptr;  // the MPI library says what is wrong
  EXPECT_EQ(signature_bytes(call, 1, 3), std::nullopt);
  MPI_Type_free(&three);
}

}  // namespace
}  // namespace unisono
