/* A forest of quadtrees refined along a circle, balanced, distributed and numbered by p4est: forest LEVELS. */
#include <p4est.h>
#include <p4est_extended.h>
#include <p4est_ghost.h>
#include <p4est_nodes.h>
#include <stdio.h>
#include <stdlib.h>

static int g_levels = 7;

static int near_the_circle(p4est_t* forest, p4est_topidx_t tree, p4est_quadrant_t* cell) {
  (void)forest;
  (void)tree;
  if (cell->level >= g_levels) return 0;
  const double half = P4EST_QUADRANT_LEN(cell->level) / 2.0;
  const double x = (cell->x + half) / P4EST_ROOT_LEN - 0.5, y = (cell->y + half) / P4EST_ROOT_LEN - 0.5;
  const double reach = 2.0 * half / P4EST_ROOT_LEN, radius = x * x + y * y;
  return radius < (0.3 + reach) * (0.3 + reach) && radius > (0.3 - reach) * (0.3 - reach);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc > 1) g_levels = atoi(argv[1]);
  sc_init(MPI_COMM_WORLD, 0, 0, NULL, SC_LP_ERROR);
  p4est_init(NULL, SC_LP_ERROR);
  p4est_connectivity_t* const squares = p4est_connectivity_new_moebius();
  p4est_t* const forest = p4est_new_ext(MPI_COMM_WORLD, squares, 16, 2, 1, 0, NULL, NULL);
  for (int level = 2; level < g_levels; ++level) {
    p4est_refine(forest, 0, near_the_circle, NULL);
    p4est_partition(forest, 0, NULL);
  }
  p4est_balance(forest, P4EST_CONNECT_FULL, NULL);
  p4est_partition(forest, 0, NULL);
  p4est_ghost_t* const ghosts = p4est_ghost_new(forest, P4EST_CONNECT_FULL);
  p4est_nodes_t* const nodes = p4est_nodes_new(forest, ghosts);
  const unsigned checksum = p4est_checksum(forest);
  long long owned = nodes->num_owned_indeps, all = 0;
  MPI_Allreduce(&owned, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    printf("cells %lld checksum %08x nodes %lld\n", (long long)forest->global_num_quadrants, checksum, all);
  p4est_nodes_destroy(nodes);
  p4est_ghost_destroy(ghosts);
  p4est_destroy(forest);
  p4est_connectivity_destroy(squares);
  sc_finalize();
  MPI_Finalize();
  return 0;
}
