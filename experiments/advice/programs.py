"""What the advice is held to: the applications, their problems, and which collectives are forced in turn."""

from dataclasses import dataclass

from unisono import places


@dataclass(frozen=True)
class Application:
    """`collectives`: those that are forced, one at a time; `native` in all others."""

    name: str
    program: str
    arguments: tuple[str, ...]
    collectives: tuple[str, ...]

    def command(self, flavour: str) -> list[str]:
        return [str(places.build_directory() / "apps" / f"{self.program}-{flavour}"), *self.arguments]


def jacobi(form: str, *collectives: str) -> Application:
    arguments = ("--form", form, "--n", "1600", "--iterations", "12")
    return Application(f"jacobi {form}", "jacobi", arguments, collectives)


# For 8 ranks on as many hosts at 4 Mb/s: about a second each, nearly all of it in the network.
APPLICATIONS = (
    Application("ft", "ft", ("--box", "32", "32", "16", "--iterations", "15"), ("alltoall", "reduce")),
    Application("fft2d", "fft2d", ("--n", "160", "--iterations", "12"), ("alltoall",)),
    Application("transpose", "transpose", ("--n", "256", "--iterations", "10"), ("alltoall",)),
    Application("sweep", "sweep", ("--n", "64", "--steps", "12"), ("alltoall", "allreduce")),
    Application(
        "is", "is", ("--keys", "65536", "--iterations", "15"), ("alltoallv", "allreduce", "alltoall")
    ),
    Application("nbody", "nbody", ("--n", "800", "--steps", "15"), ("allgather",)),
    Application("adams", "adams", ("--form", "dp", "--grid", "40", "--steps", "4"), ("allgatherv",)),
    jacobi("row-allgather", "allgather"),
    jacobi("column-allreduce", "allreduce"),
    jacobi("column-reduce-bcast", "reduce", "bcast"),
    jacobi("column-gather-scatter", "gather", "scatter"),
)
