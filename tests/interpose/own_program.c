/* own_program LIBRARY local|global|linked FUNCTION|table [MPI_PLUGIN]...: opens the library
 * (linked: is linked to it) and asks whether its own functions are called. A plugin with MPI is
 * opened and used before
 * ("+PLUGIN") or only opened, and used afterwards. "mpi": the program calls MPI itself. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif

static void* function(void* library, const char* name) {
  void* found = dlsym(library, name);
  if (found == NULL) fprintf(stderr, "%s\n", dlerror());
  return found;
}

static int table_is_own(void* library) {
  void* (**table)(void*) = function(library, "own_table");
  int x, own = table != NULL;
  for (int k = 0; own && k < 4; ++k) own = table[k](&x) == &x;
  return own;
}

static int use_plugin(const char* path) {
  int (*use)(void);
  void* plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (plugin == NULL) return fprintf(stderr, "%s\n", dlerror()), 1;
  *(void**)&use = function(plugin, "use_mpi");
  return use();
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const char* plugin = argc > 4 ? argv[4] : NULL;
  const int first = plugin != NULL && *plugin == '+';
  int own, failed = 0, (*ask)(void);
#ifdef WITH_MPI
  int rank = -1, all = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#endif
  if (first) failed |= use_plugin(plugin + 1);
  const int scope = strcmp(argv[2], "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL;
  void* library =
      strcmp(argv[2], "linked") == 0 ? RTLD_DEFAULT : dlopen(argv[1], RTLD_LAZY | scope);
  if (strcmp(argv[3], "table") == 0) {
    own = table_is_own(library);
  } else {
    *(void**)&ask = function(library, argv[3]);
    own = ask() && ask();
  }
  if (plugin != NULL && !first) failed |= use_plugin(plugin);
#ifdef WITH_MPI
  MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  own = all;
  MPI_Finalize();
  if (rank != 0) return !own;
#endif
  puts(own && !failed ? "own" : "NOT own");
  return failed || !own;
}
