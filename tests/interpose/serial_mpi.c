/* MPI for programs of one process, as libraries of solvers bring it (MUMPS's libmpiseq): nothing of
 * it has to do with an MPI library. Each function counts. */
static int calls;

int serial_calls(void) { return calls; }

int MPI_Init(int* argc, char*** argv) {
  (void)argc, (void)argv;
  return ++calls, 0;
}
int MPI_Bcast(void* buffer, int count, int type, int root, int comm) {
  (void)buffer, (void)count, (void)type, (void)root, (void)comm;
  return ++calls, 0;
}
int MPI_Barrier(int comm) {
  (void)comm;
  return ++calls, 0;
}
/* Unisono has none of these: they are found as if it were not there. */
int MPI_Comm_size(int comm, int* size) {
  (void)comm;
  *size = 1;
  return ++calls, 0;
}
void mpi_init_(int* error) { *error = 0, ++calls; }
void mpi_barrier_(int* comm, int* error) { *error = *comm * 0, ++calls; }
