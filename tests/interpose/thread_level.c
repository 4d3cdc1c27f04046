/* What a program is given that asks for no threads, or for "funneled". */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  int level = -1, provided = -1;
  if (argc > 1 && strcmp(argv[1], "funneled") == 0)
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  else
    MPI_Init(&argc, &argv);
  MPI_Query_thread(&level);
  puts(level == MPI_THREAD_MULTIPLE   ? "thread level multiple"
       : level == MPI_THREAD_FUNNELED ? "thread level funneled"
       : level == MPI_THREAD_SINGLE   ? "thread level single"
                                      : "thread level serialized");
  MPI_Finalize();
  return 0;
}
