/* Ranks write columns of a field collectively into one netCDF-4 file, read rows back, and add them up: netcdf N. */
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>
#include <stdio.h>
#include <stdlib.h>

static void must(int status) {
  if (status == NC_NOERR) return;
  printf("%s\n", nc_strerror(status));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, file, dims[3], field;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const size_t side = argc > 1 ? strtoul(argv[1], NULL, 10) : 200;
  must(nc_create_par("field.nc", NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &file));
  must(nc_def_dim(file, "time", NC_UNLIMITED, &dims[0]));
  must(nc_def_dim(file, "y", side, &dims[1]));
  must(nc_def_dim(file, "x", side, &dims[2]));
  must(nc_def_var(file, "field", NC_FLOAT, 3, dims, &field));
  must(nc_put_att_text(file, field, "units", 1, "m"));
  must(nc_enddef(file));
  must(nc_var_par_access(file, field, NC_COLLECTIVE));
  const size_t begin = side * rank / ranks, own = side * (rank + 1) / ranks - begin;
  float* const data = malloc(sizeof(float) * own * side);
  long long sum = 0, total = 0;
  for (size_t time = 0; time < 4; ++time) {
    for (size_t i = 0; i < own * side; ++i) data[i] = (float)((i * 11 + rank * 5 + time) % 997);
    size_t start[3] = {time, 0, begin}, count[3] = {1, side, own};
    must(nc_put_vara_float(file, field, start, count, data));
    start[1] = begin, start[2] = 0, count[1] = own, count[2] = side;
    must(nc_get_vara_float(file, field, start, count, data));
    for (size_t i = 0; i < own * side; ++i) sum += (long long)data[i] * (long long)(i % 17);
  }
  must(nc_close(file));
  MPI_Reduce(&sum, &total, 1, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("sum %lld\n", total);
  MPI_Finalize();
  return 0;
}
