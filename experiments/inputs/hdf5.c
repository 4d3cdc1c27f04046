/* Ranks write rows of a matrix in turn into one HDF5 file, collectively, read columns back, and add them up:
   hdf5 N STEPS. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const hsize_t side = argc > 1 ? strtoull(argv[1], NULL, 10) : 256;
  const int steps = argc > 2 ? atoi(argv[2]) : 5;
  const hsize_t begin = side * rank / ranks, own = side * (rank + 1) / ranks - begin, all[2] = {side, side};
  double* const data = malloc(sizeof(double) * own * side);
  const hid_t how = H5Pcreate(H5P_FILE_ACCESS), together = H5Pcreate(H5P_DATASET_XFER);
  const hid_t undated = H5Pcreate(H5P_DATASET_CREATE); /* the file is compared as a whole */
  H5Pset_obj_track_times(undated, 0);
  H5Pset_fapl_mpio(how, MPI_COMM_WORLD, MPI_INFO_NULL);
  H5Pset_dxpl_mpio(together, H5FD_MPIO_COLLECTIVE);
  const hid_t file = H5Fcreate("matrix.h5", H5F_ACC_TRUNC, H5P_DEFAULT, how);
  double sums[2] = {0, 0}, total[2];
  for (int step = 0; step < steps; ++step) {
    char name[32];
    snprintf(name, sizeof name, "step%d", step);
    const hid_t space = H5Screate_simple(2, all, NULL);
    const hid_t set = H5Dcreate(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, undated, H5P_DEFAULT);
    hsize_t start[2] = {begin, 0}, count[2] = {own, side};
    for (hsize_t i = 0; i < own * side; ++i) data[i] = (double)((begin * side + i) * 7 % 1000 + step);
    hid_t here = H5Screate_simple(2, count, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    H5Dwrite(set, H5T_NATIVE_DOUBLE, here, space, together, data);
    H5Sclose(here);
    start[0] = 0, start[1] = begin, count[0] = side, count[1] = own;
    here = H5Screate_simple(2, count, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    if (H5Dread(set, H5T_NATIVE_DOUBLE, here, space, together, data) < 0) MPI_Abort(MPI_COMM_WORLD, 1);
    for (hsize_t i = 0; i < own * side; ++i) sums[0] += data[i], sums[1] += data[i] * (double)(i % 13);
    H5Sclose(here);
    H5Sclose(space);
    H5Dclose(set);
  }
  H5Fclose(file);
  MPI_Reduce(sums, total, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("sums %.17g %.17g\n", total[0], total[1]);
  H5Pclose(undated);
  H5Pclose(how);
  H5Pclose(together);
  MPI_Finalize();
  return 0;
}
