/* Preloaded beside Unisono: at the end of a process writes how many collectives ran in Unisono and
   how many it left to the MPI library, into the file COUNTS_FOLDER/RANK. */
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
  if (counts == NULL || folder == NULL || rank == NULL) return;
  snprintf(name, sizeof name, "%s/%s", folder, rank);
  FILE* const file = fopen(name, "w");
  if (file == NULL) return;
  counts(&own, &left);
  fprintf(file, "%llu %llu\n", own, left);
  fclose(file);
}
