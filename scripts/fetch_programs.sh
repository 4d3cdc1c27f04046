#!/usr/bin/env bash
# Debian's LAMMPS into .deps/programs, for experiments/arrival/applications.py; nothing is installed. It is linked
# to libmpi.so.40, and runs on the Open MPI in .deps. experiments/programs installs what it needs by itself.
#
#   scripts/fetch_programs.sh lammps
set -euo pipefail
cd "$(dirname "$0")/.."

[[ ${1:-lammps} == lammps && $# -le 1 ]] || { echo "unisono: $*: valid is lammps" >&2; exit 2; }
command -v apt-get >/dev/null || { echo "unisono: no apt-get here" >&2; exit 1; }
home=$PWD/.deps/programs/lammps/usr
[[ -x $home/bin/lmp ]] && exit 0
work=$(mktemp -d)
(cd "$work" && apt-get download -qq lammps liblammps0 libkim-api2 libvoro++1 libfftw3-double3)
for package in "$work"/*.deb; do dpkg-deb --extract "$package" "$work/root"; done
mkdir -p "$(dirname "$home")"
rm -rf "$home"
mv "$work/root/usr" "$home"
rm -rf "$work"
libraries=$PWD/.deps/openmpi/lib:$(echo "$home"/lib/*-linux-gnu)
missing=$(LD_LIBRARY_PATH=$libraries ldd "$home/bin/lmp" | sed -n 's/ => not found//p' |
  sort -u | tr -d '\t' | tr '\n' ' ')
if [[ $missing ]]; then
  echo "unisono: lmp also needs $missing: install Debian's packages with them" >&2
  exit 1
fi
