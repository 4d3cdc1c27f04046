/* What the launcher of a job says in the environment about its ranks on this node. In C, without
 * any library: the preloaded library and unisono-exec read it as well. */
#pragma once
#include <stdlib.h>

/* More than any node has: the variables are wrong. Looking for so many costs some 30 ms. */
enum { unisono_most_ranks = 1 << 12 };

struct unisono_job {
  int rank;  /* of this process among those of the node; -1: not told, or nonsense */
  int ranks; /* of the node; 0: not told */
  int all;   /* of the job; 0: not told */
};

/* A number of at most six digits; -1: there is none. */
static inline int unisono_number_in(const char* variable) {
  const char* text = getenv(variable);
  int value = 0, digits = 0;
  if (text == NULL) return -1;
  while (digits < 6 && text[digits] >= '0' && text[digits] <= '9')
    value = 10 * value + (text[digits++] - '0');
  return digits > 0 && text[digits] == '\0' ? value : -1;
}

/* Open MPI's launcher, and Hydra: MPICH's and Intel MPI's. Both tell spawned jobs their own
 * numbers. */
static inline struct unisono_job unisono_job_here(void) {
  struct unisono_job job = {-1, 0, 0};
  if (getenv("PMIX_NAMESPACE") != NULL) {
    job.rank = unisono_number_in("OMPI_COMM_WORLD_LOCAL_RANK");
    job.ranks = unisono_number_in("OMPI_COMM_WORLD_LOCAL_SIZE");
    job.all = unisono_number_in("OMPI_COMM_WORLD_SIZE");
  } else if (getenv("PMI_FD") != NULL) {
    job.rank = unisono_number_in("MPI_LOCALRANKID");
    job.ranks = unisono_number_in("MPI_LOCALNRANKS");
    job.all = unisono_number_in("PMI_SIZE");
  }
  if (job.rank < 0 || job.rank >= job.ranks || job.ranks > unisono_most_ranks)
    job.rank = -1, job.ranks = 0;
  if (job.all < job.ranks) job.all = 0;
  return job;
}

/* Whether no rank of this job can be on another node. */
static inline int unisono_whole_job_is_here(void) {
  static const char* const launched[] = {"PMIX_RANK",
                                         "PMI_RANK",
                                         "PMI_ID",
                                         "PMI_FD",
                                         "PMI_PORT",
                                         "SLURM_PROCID",
                                         "PALS_RANKID",
                                         "ALPS_APP_PE",
                                         "MPIRUN_RANK",
                                         "MV2_COMM_WORLD_RANK",
                                         "OMPI_COMM_WORLD_RANK",
                                         "JSM_NAMESPACE_RANK"};
  const struct unisono_job job = unisono_job_here();
  /* Ranks that Hydra has spawned may not be able to see each other (hydra.cpp). */
  const int see = getenv("PMIX_NAMESPACE") != NULL || getenv("PMI_SPAWNED") == NULL;
  if (job.ranks > 0 && see) return job.ranks == job.all;
  for (size_t k = 0; k < sizeof launched / sizeof *launched; ++k)
    if (getenv(launched[k]) != NULL) return 0;
  return 1;
}

/* UNISONO=off, or UNISONO_DISABLE set to anything but 0. */
static inline int unisono_is_switched_off(void) {
  const char *mode = getenv("UNISONO"), *disabled = getenv("UNISONO_DISABLE");
  if (mode != NULL && mode[0] == 'o' && mode[1] == 'f' && mode[2] == 'f' && mode[3] == '\0')
    return 1;
  return disabled != NULL && disabled[0] != '\0' && (disabled[0] != '0' || disabled[1] != '\0');
}

/* The same, and nothing else is asked for: a trace of the MPI library's collectives is. */
static inline int unisono_does_nothing(void) {
  const char* trace = getenv("UNISONO_TRACE");
  return unisono_is_switched_off() && (trace == NULL || *trace == '\0');
}
