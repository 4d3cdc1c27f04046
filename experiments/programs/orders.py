"""Other algorithms of the MPI libraries themselves, which add in other orders than those that they choose.

What a program computes differs natively by as much, once the library, its version or the number of ranks is
another. Variables as in Open MPI's coll/tuned, MPICH's control variables and Intel MPI's I_MPI_ADJUST family.
"""

from collections.abc import Mapping, Sequence


def open_mpi(allreduce: int, reduce: int) -> Mapping[str, str]:
    tuned = "OMPI_MCA_coll_tuned_"
    return {
        f"{tuned}use_dynamic_rules": "1",
        f"{tuned}allreduce_algorithm": str(allreduce),
        f"{tuned}reduce_algorithm": str(reduce),
    }


def mpich(allreduce: str, reduce: str) -> Mapping[str, str]:
    return {
        "MPIR_CVAR_ALLREDUCE_POSIX_INTRA_ALGORITHM": "mpir",
        "MPIR_CVAR_REDUCE_POSIX_INTRA_ALGORITHM": "mpir",
        "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM": allreduce,
        "MPIR_CVAR_REDUCE_INTRA_ALGORITHM": reduce,
        "MPIR_CVAR_COLLECTIVE_FALLBACK": "silent",
    }


def intel(allreduce: int, reduce: int) -> Mapping[str, str]:
    return {"I_MPI_ADJUST_ALLREDUCE": str(allreduce), "I_MPI_ADJUST_REDUCE": str(reduce)}


# Open MPI: linear and linear, recursive doubling and chain, ring and binomial, reduce with bcast and in-order
# binary. Intel MPI: recursive doubling, ring, and binomial gather with scatter.
OPEN_MPI = (open_mpi(1, 1), open_mpi(3, 2), open_mpi(4, 5), open_mpi(2, 6))
MPICH = (
    mpich("recursive_doubling", "binomial"),
    mpich("reduce_scatter_allgather", "reduce_scatter_gather"),
    mpich("ring", "binomial"),
    mpich("tree", "binomial"),
)
INTEL = (intel(1, 2), intel(8, 1), intel(5, 5))


def other_orders(mpi: str) -> Sequence[Mapping[str, str]]:
    """What is set for each further native run with the library of that name."""
    if "openmpi" in mpi:
        return OPEN_MPI
    return INTEL if mpi == "intel" else MPICH
