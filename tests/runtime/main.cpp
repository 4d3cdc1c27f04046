// Every rank runs all tests; those that need a partner use ranks 0 and 1.
#include <gtest/gtest.h>
#include <mpi.h>

#include "mpi/datatype.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  ::testing::InitGoogleTest(&argc, argv);
  unisono::start_datatypes();
  int failed = RUN_ALL_TESTS();
  unisono::stop_datatypes();
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return failed;
}
