#!/usr/bin/env bash
# Debian's MPI programs into .deps/programs, for experiments/arrival/applications.py and
# experiments/programs.py; nothing is installed:
#
#   scripts/fetch_programs.sh lammps hpcc espresso fftw petsc      # or some of them
#
# LAMMPS, HPCC and FFTW are linked to libmpi.so.40 and run on the Open MPI in .deps, too. Quantum ESPRESSO
# is Fortran, for which that one has no libraries, and PETSc does not compile with its header: they need
# Debian's openmpi-bin and, PETSc, libopenmpi-dev.
set -euo pipefail
cd "$(dirname "$0")/.."

declare -A packages=(
  [lammps]="lammps liblammps0 libkim-api2 libvoro++1 libfftw3-double3"
  [hpcc]="hpcc libblas3"
  [espresso]="quantum-espresso quantum-espresso-data libscalapack-openmpi2.2 libblas3 liblapack3 libfftw3-double3 libgfortran5"
  [fftw]="libfftw3-dev libfftw3-mpi-dev libfftw3-mpi3 libfftw3-double3"
  [petsc]="libpetsc-real3.18 libpetsc-real3.18-dev libpetsc3.18-dev-common libpetsc3.18-dev-examples
    libaec0 libsuitesparseconfig5 libamd2 libblas3 libbtf1 libcamd2 libccolamd2 libcolamd2 liblapack3
    libmetis5 libcholmod3 libcombblas1.16.0 libfftw3-mpi3 libfftw3-double3 libsz2 libhdf5-openmpi-103-1
    libptscotch-7.0 libsuperlu-dist8 libhypre-2.26.0 libklu1 libscalapack-openmpi2.2 libmumps-5.5 libspqr2
    libsuperlu5 libscotch-7.0 libtrilinos-kokkos-13.2 libtrilinos-teuchos-13.2 libtrilinos-epetra-13.2
    libtrilinos-triutils-13.2 libtrilinos-epetraext-13.2 libtrilinos-trilinosss-13.2
    libtrilinos-amesos-13.2 libtrilinos-aztecoo-13.2 libtrilinos-galeri-13.2 libtrilinos-ifpack-13.2
    libtrilinos-zoltan-13.2 libtrilinos-ml-13.2 libumfpack5 libgfortran5"
)
declare -A programs=([lammps]=lmp [hpcc]=hpcc [espresso]=pw.x [fftw]=transform [petsc]=ex2)

command -v apt-get >/dev/null || { echo "unisono: no apt-get here" >&2; exit 1; }
for name in "${@:-lammps}"; do
  [[ ${packages[$name]:-} ]] || { echo "unisono: $name: valid are ${!packages[*]}" >&2; exit 2; }
  home=$PWD/.deps/programs/$name/usr program=${programs[$name]}
  [[ -x $home/bin/$program ]] && continue
  work=$(mktemp -d)
  read -ra wanted <<<"${packages[$name]//$'\n'/ }"
  (cd "$work" && apt-get download -qq "${wanted[@]}")
  for package in "$work"/*.deb; do dpkg-deb --extract "$package" "$work/root"; done
  mkdir -p "$(dirname "$home")"
  rm -rf "$home"
  mv "$work/root/usr" "$home"
  rm -rf "$work"
  libraries=$(echo "$home"/lib/*-linux-gnu "$home"/lib/*-linux-gnu/{blas,lapack} | tr ' ' ':')
  [[ $name == espresso || $name == petsc ]] || libraries=$PWD/.deps/openmpi/lib:$libraries
  if [[ $name == fftw ]]; then
    mkdir -p "$home/bin"
    g++ -O2 -std=c++20 -I"$home/include" -I.deps/openmpi/include experiments/inputs/transform.cpp \
      -o "$home/bin/$program" -L"$(echo "$home"/lib/*-linux-gnu)" -lfftw3_mpi -lfftw3 \
      -L.deps/openmpi/lib -lmpi -Wl,-rpath-link,"$libraries"
  fi
  if [[ $name == petsc ]]; then
    mkdir -p "$home/bin"
    mpicc.openmpi -O2 -I"$home"/share/petsc/3.18/include -I"$(echo "$home"/lib/petscdir/*/*-real/include)" \
      "$home"/share/petsc/3.18/share/petsc/examples/src/ksp/ksp/tutorials/ex2.c -o "$home/bin/$program" \
      "$(echo "$home"/lib/*-linux-gnu/libpetsc_real.so.3.18)" -Wl,-rpath-link,"$libraries"
  fi
  missing=$(LD_LIBRARY_PATH=$libraries ldd "$home/bin/$program" | sed -n 's/ => not found//p' |
    sort -u | tr -d '\t' | tr '\n' ' ')
  if [[ $missing ]]; then
    echo "unisono: $program also needs $missing: install Debian's packages with them" >&2
    exit 1
  fi
done
