"""What the advice is held to: the applications, their problems, and which collectives are forced in turn."""

from dataclasses import dataclass

from unisono.core import places


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
    arguments = ("--form", form, "--n", "4000", "--iterations", "15")
    return Application(f"jacobi {form}", "jacobi", arguments, collectives)


# For 8 ranks on as many hosts at 50 Mb/s: about a second each, most of it in the network.
APPLICATIONS = (
    Application("ft", "ft", ("--box", "64", "64", "32", "--iterations", "20"), ("alltoall", "reduce")),
    Application("fft2d", "fft2d", ("--n", "384", "--iterations", "20"), ("alltoall",)),
    Application("transpose", "transpose", ("--n", "512", "--iterations", "20"), ("alltoall",)),
    Application("sweep", "sweep", ("--n", "256", "--steps", "10"), ("alltoall", "allreduce")),
    Application(
        "is",
        "is",
        ("--keys", "524288", "--bucket-bits", "11", "--iterations", "15"),
        ("alltoallv", "allreduce", "alltoall"),
    ),
    Application("nbody", "nbody", ("--n", "1600", "--steps", "20"), ("allgather",)),
    Application("adams", "adams", ("--form", "dp", "--grid", "100", "--steps", "6"), ("allgatherv",)),
    jacobi("row-allgather", "allgather"),
    jacobi("column-allreduce", "allreduce"),
    jacobi("column-reduce-bcast", "reduce", "bcast"),
    jacobi("column-gather-scatter", "gather", "scatter"),
)
