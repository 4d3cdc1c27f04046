/* All variables of MPI_T, before MPI_Init and after MPI_Finalize: one line each. For one rank. */
#include <mpi.h>
#include <stdio.h>

enum { kText = 4096 };

static void list(const char* when) {
  char name[kText], text[kText];
  int count = 0, verbosity, bind, scope, length, other, class_, readonly, continuous, atomic;
  MPI_Datatype type;
  MPI_T_enum values;
  MPI_T_cvar_get_num(&count);
  for (int i = 0; i < count; ++i) {
    length = other = kText;
    if (MPI_T_cvar_get_info(i, name, &length, &verbosity, &type, &values, text, &other, &bind,
                            &scope) == MPI_SUCCESS)
      printf("%s control var %d %s %d %d\n", when, i, name, bind, scope);
  }
  MPI_T_pvar_get_num(&count);
  for (int i = 0; i < count; ++i) {
    length = other = kText;
    if (MPI_T_pvar_get_info(i, name, &length, &verbosity, &class_, &type, &values, text, &other,
                            &bind, &readonly, &continuous, &atomic) == MPI_SUCCESS)
      printf("%s performance var %d %s %d %d\n", when, i, name, class_, bind);
  }
  MPI_T_category_get_num(&count);
  printf("%s categories %d\n", when, count);
}

int main(int argc, char** argv) {
  int provided = 0, mine = 1, sum = 0;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  list("before");
  MPI_Init(&argc, &argv);
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  list("between");
  MPI_Finalize();
  list("after");
  MPI_T_finalize(); /* once: MPICH 5.0.2 aborts where it is begun again after MPI_Finalize */
  return 0;
}
