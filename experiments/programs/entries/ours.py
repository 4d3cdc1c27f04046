"""The applications of apps/, which are plain MPI programs."""

from experiments.programs.program import Program, Quantity


def app(name: str, what: str, *arguments: str, ranks: tuple[int, ...] = ()) -> Program:
    """`name`: of the program in apps/, and after a hyphen which of its cases this is."""
    program = name.partition("-")[0]
    return Program(
        name=f"apps-{name}",
        what=what,
        mpis=("mpich", "openmpi"),
        command=(f"{{apps}}/{program}-{{flavour}}", *arguments, "--verify", "--json", "result.json"),
        quantities=(
            Quantity("verified", r'"verified": (\w+)'),
            Quantity("error", r'"error": #', tolerance=1, zero=1e-6),
        ),
        written=("result.json",),
        seconds=r'"seconds": #',
        ranks=ranks,
    )


PROGRAMS = (
    app("is", "NAS IS, class S", "--class", "S"),
    app("ft", "NAS FT, class S", "--class", "S"),
    app("is-w", "NAS IS, class W", "--class", "W"),
    app("ft-w", "NAS FT, class W", "--class", "W"),
    app("fft2d", "2-D FFTs", "--n", "256", "--iterations", "40"),
    app("sweep", "compressible flow by sweeps", "--n", "128", "--steps", "30"),
    app("nbody", "gravitation of 400 bodies", "--n", "400", "--steps", "40"),
    app(
        "jacobi",
        "a dense linear system, columns",
        "--form",
        "column-allreduce",
        "--n",
        "512",
        "--iterations",
        "40",
    ),
    app("adams", "parallel Adams methods", "--form", "dp", "--grid", "40"),
)
