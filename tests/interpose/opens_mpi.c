/* opens_mpi LIBRARY local|global: calls use_mpi() of a library that it opens. Itself it is not
 * linked to MPI. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int scope = strcmp(argv[2], "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL;
  void* library = dlopen(argv[1], RTLD_NOW | scope);
  int (*use)(void);
  if (library == NULL) return fputs(dlerror(), stderr), 3;
  *(void**)&use = dlsym(library, "use_mpi");
  return use();
}
