"""The programs of the paper on process arrival patterns: how each is started, and what it says."""

import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from unisono.core import places
from unisono.core.errors import UnisonoError

from experiments import harness, testbeds
from experiments.testbeds import Real

INPUTS = testbeds.ROOT / "experiments" / "inputs"
LAMMPS_HOME = testbeds.ROOT / ".deps" / "programs" / "lammps" / "usr"
LAMMPS_TIME = re.compile(r"^Loop time of (\S+) on \d+ procs", re.MULTILINE)
LIMIT = 120.0  # seconds for a run


@dataclass(frozen=True)
class Times:
    seconds: float  # the main loop, on the slowest rank
    in_collectives: float | None  # of all iterations, mean over the ranks; None: the program does not say


@dataclass(frozen=True)
class Program:
    """What is started, by MPI flavour; `into`: the option that names a file for a JSON object."""

    name: str
    description: str
    command: Callable[[str], list[str]]
    into: str
    read: Callable[[str], Times]
    flavours: tuple[str, ...] = ("mpich", "openmpi")

    def source_lines(self) -> int | None:
        """Table 2's #lines; None for programs that are not ours."""
        folder = testbeds.ROOT / "apps" / self.name
        if not folder.is_dir():
            return None
        return sum(len(file.read_text().splitlines()) for file in folder.iterdir())


def times_of_app(output: str) -> Times:
    result = harness.printed_object(output, "an application")
    return Times(result["seconds"], sum(result["collective_seconds"]))


def times_of_lammps(output: str) -> Times:
    found = LAMMPS_TIME.search(output)
    if not found:
        raise UnisonoError("LAMMPS: printed no loop time")
    return Times(float(found[1]), None)


def app(name: str, description: str, *arguments: str) -> Program:
    folder = places.build_directory() / "apps"
    return Program(
        name,
        description,
        lambda mpi: [str(folder / f"{name}-{mpi}"), *arguments],
        "--json",
        times_of_app,
    )


def lammps_command() -> list[str] | None:
    """Of an lmp on PATH, which must be of the MPI library that is used, or of Debian's in .deps."""
    own = LAMMPS_HOME / "bin" / "lmp"
    if own.exists():
        libraries = [str(places.REPOSITORY / ".deps" / "openmpi" / "lib")]
        libraries += map(str, (LAMMPS_HOME / "lib").glob("*-linux-gnu*"))
        return ["env", f"LD_LIBRARY_PATH={':'.join(libraries)}", str(own)]
    found = shutil.which("lmp")
    return [found] if found else None


def lammps(name: str, description: str, steps: int) -> Program | None:
    line = lammps_command()
    if line is None:
        return None
    script = str(INPUTS / f"{name.removeprefix('lammps-')}.lammps")
    complete = [*line, "-in", script, "-var", "steps", str(steps), "-log", "none"]
    return Program(name, description, lambda _: complete, "", times_of_lammps, ("openmpi",))


def programs(ranks: int, scale: float, side: int) -> dict[str, Program]:
    """`scale` multiplies the iterations; `side`, a power of two, the sides of the problems. Sizes leave most
    of the time to the network of a lab."""

    def often(iterations: int) -> str:
        return str(max(2, round(iterations * scale)))

    def multiple(least: int) -> str:
        return str(-(-least // ranks) * ranks)

    found = [
        app("fft2d", "2-D FFTs", "--n", multiple(256 * side), "--iterations", often(300)),
        app("transpose", "a matrix transposed", "--n", multiple(256 * side), "--iterations", often(300)),
        app("sweep", "hydrodynamics by 1-D sweeps", "--n", multiple(128 * side), "--steps", often(150)),
        app("is", "integers sorted by buckets", "--keys", str(65536 * side**2), "--iterations", often(300)),
        app("nbody", "gravitation of N bodies", "--n", str(800 * side), "--steps", often(300)),
        lammps("lammps-copper", "molecular dynamics, copper", int(often(300))),
        lammps("lammps-melt", "molecular dynamics, a melt", int(often(300))),
    ]
    if ranks & (ranks - 1) == 0:  # its box has powers of two
        box = ("--box", str(32 * side), str(32 * side), str(max(32 * side, ranks)))
        found.insert(0, app("ft", "a diffusion equation by 3-D FFTs", *box, "--iterations", often(300)))
    return {program.name: program for program in found if program is not None}


def chosen(text: str, ranks: int, scale: float, side: int = 1) -> list[Program]:
    if side < 1 or side & (side - 1):
        raise UnisonoError(f"--side {side}: wants a power of two")
    known = programs(ranks, scale, side)
    if not text:
        return list(known.values())
    for name in text.split(","):
        if name.startswith("lammps") and name not in known:
            harness.console.print(f"[dim]{name}: no LAMMPS here: scripts/fetch_programs.sh lammps[/dim]")
        elif name not in known:
            raise UnisonoError(f"--programs {name}: valid are {', '.join(known)}")
    return [known[name] for name in text.split(",") if name in known]


def before(command: list[str], prefix: Sequence[str]) -> list[str]:
    """The prefix directly before the program: env, if there is one, stays first."""
    at = next((i for i, word in enumerate(command) if word != "env" and "=" not in word), 0)
    return [*command[:at], *prefix, *command[at:]]


def run(testbed: Real, ranks: int, program: Program, variables: Mapping[str, str]) -> Times:
    """Once; with variables under Unisono."""
    command = before(program.command(testbed.mpi.flavour), testbeds.prefix(variables))
    result = testbed.start(command, ranks, LIMIT, into=program.into)
    if not result.ok:
        raise UnisonoError(f"{testbed.name}, {ranks} ranks: {program.name}: {result.problem}")
    for line in result.output.splitlines():
        if line.startswith("unisono"):  # that a profile does not hold here, say
            harness.console.print(f"[dim]{line}[/dim]", soft_wrap=True)
    return program.read(result.output)
