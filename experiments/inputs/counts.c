/* Preloaded beside Unisono: at the end of a process adds a line to the file COUNTS_FOLDER/RANK, with how many
   collectives ran in Unisono and how many it left to the MPI library. A rank may have several processes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((destructor)) static void write_counts(void) {
  void (*counts)(unsigned long long*, unsigned long long*);
  *(void**)&counts = dlsym(RTLD_DEFAULT, "unisono_counts");
  const char *folder = getenv("COUNTS_FOLDER"), *rank = getenv("OMPI_COMM_WORLD_RANK");
  unsigned long long own = 0, left = 0;
  char name[4096];
  if (rank == NULL) rank = getenv("PMI_RANK");  // MPICH and Intel MPI
  if (counts == NULL || folder == NULL || rank == NULL) return;
  counts(&own, &left);
  if (own + left == 0) return;
  snprintf(name, sizeof name, "%s/%s", folder, rank);
  FILE* const file = fopen(name, "a");
  if (file == NULL) return;
  fprintf(file, "%llu %llu\n", own, left);
  fclose(file);
}
