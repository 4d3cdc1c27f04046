/* children COMMAND: runs it before MPI_Init and afterwards, and says which of our files are mapped.
 * With no command: only that, while MPI is there. PRELOAD: what the program itself has put into
 * LD_PRELOAD, where nobody can write. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say_maps(void) {
  char line[4096], last[4096] = "";
  FILE* maps = fopen("/proc/self/maps", "r");
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    const char* name = strstr(line, "libunisono");
    if (name == NULL || strcmp(name, last) == 0) continue;
    strcpy(last, name);
    printf("mapped %s", name);
  }
  if (maps != NULL) fclose(maps);
}

int main(int argc, char** argv) {
  int rank, sum = 0;
#ifdef PRELOAD
  putenv("LD_PRELOAD=" PRELOAD);
#endif
  if (argc > 1 && system(argv[1]) != 0) puts("before: FAILED");
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (argc > 1 && system(argv[1]) != 0) puts("after: FAILED");
  if (rank == 0 || argc == 1) say_maps();
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
