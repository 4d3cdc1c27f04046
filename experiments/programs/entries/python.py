"""Python programs on the MPI libraries of PyPI, and Intel's benchmarks."""

from collections.abc import Sequence

from experiments.programs.program import WHEELS, Program, Quantity

MPI4PY = ("mpi4py==4.1.2", "numpy==2.4.6")
PYTHON = "{wheels}/bin/python"
# Tells MPICH 5 in both arms to sleep where ranks share cores: 4 ranks that spin on 2 cores take minutes.
NAPS = {
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "1",
}
# Everything but what starts processes, which mpiexec and the machine would have to allow, and a module that
# fails natively under the wheel of MPICH 5.0.2 (testGetFortranInfo).
SUITE = ("-e", "spawn", "-e", "dynproc", "-e", "mpiabi")


def script(
    name: str, what: str, file: str, arguments: Sequence[str], quantities: Sequence[Quantity]
) -> Program:
    return Program(
        name=name,
        what=what,
        mpis=WHEELS,
        wheels=MPI4PY,
        command=(PYTHON, f"{{inputs}}/{file}.py", *arguments),
        quantities=quantities,
        seconds=rf"^{file}: # s",
    )


def benchmarks(program: str, what: str, names: Sequence[str]) -> Program:
    """Of times there is nothing to compare: which rows are printed, with how many bytes and repetitions."""
    options = ["-npmin", "{ranks}", "-iter", "50", "-iter_policy", "off", "-msglog", "0:14", "-time", "2"]
    return Program(
        name=program.lower(),
        what=what,
        mpis=("mpich", "intel"),
        wheels=("impi-rt==2021.19.0",),
        command=(f"{{wheels}}/bin/{program}", *options, *names),
        variables=NAPS,
        quantities=(
            Quantity("benchmarks", r"^\x23 Benchmarking (\w+)"),
            Quantity("bytes and repetitions", r"^ +(\d+) +(\d+) +\d+\.\d+"),
        ),
    )


PROGRAMS = (
    Program(
        name="mpi4py-tests",
        what="mpi4py's own test suite",
        mpis=WHEELS,
        wheels=MPI4PY,
        sources=("mpi4py==4.1.2",),
        command=(PYTHON, "{home}/mpi4py-4.1.2/test/main.py", *SUITE),
        variables=NAPS,
        quantities=(
            Quantity("tests", r"^Ran (\d+) tests", sort=True),
            Quantity("result", r"^(OK|FAILED)\b", sort=True),
        ),
        seconds=r"^Ran \d+ tests in #s",
        limit=400,
    ),
    script(
        "k-means",
        "clusters of points, two Allreduces an iteration",
        "kmeans",
        ("3000", "60"),
        (
            Quantity("counts", r"\bcounts ([\d ]+)$"),
            Quantity("centres", r"^centres " + " ".join(["#"] * 16), tolerance=1e-10),
        ),
    ),
    script(
        "conjugate-gradients",
        "conjugate gradients for a Laplacian",
        "gradients",
        ("96", "80"),
        (
            Quantity("residuals", r"^residual #", tolerance=1e-6),
            Quantity("product", r", product #", tolerance=1e-9),
        ),
    ),
    script(
        "gradient-descent",
        "data-parallel training of a network, a gradient of 2 MB a step",
        "descent",
        ("512", "20"),
        (Quantity("losses", r"^loss #", tolerance=1e-3), Quantity("weights", r", weights #", tolerance=1e-4)),
    ),
    benchmarks(
        "IMB-MPI1",
        "Intel's benchmarks of blocking collectives",
        ("Bcast", "Allreduce", "Allgather", "Alltoall", "Reduce", "Gather", "Scatter", "Barrier"),
    ),
    benchmarks(
        "IMB-NBC",
        "Intel's benchmarks of nonblocking collectives",
        ("Ibcast", "Iallreduce", "Iallgather", "Ialltoall"),
    ),
)
