/* A library that is linked to MPI for one process; its handles are no library's. */
int MPI_Init(int* argc, char*** argv);
int MPI_Bcast(void* buffer, int count, int type, int root, int comm);
int MPI_Barrier(int comm);
int MPI_Comm_size(int comm, int* size);
void mpi_init_(int* error);
void mpi_barrier_(int* comm, int* error);
int serial_calls(void);

/* Whether all six went to it. */
int use_serial(void) {
  const int before = serial_calls();
  int x = 1, error = 1;
  int code = MPI_Init(0, 0);
  code |= MPI_Bcast(&x, 1, 12345, 0, 54321);
  code |= MPI_Barrier(54321);
  code |= MPI_Comm_size(54321, &error);
  mpi_init_(&error);
  code |= error;
  mpi_barrier_(&x, &error);
  return code == 0 && error == 0 && serial_calls() == before + 6;
}
