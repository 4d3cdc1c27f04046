"""What is known of functions that have no body in the file: MPI's and the C library's."""

from __future__ import annotations

import re

COLLECTIVES = {
    *("Barrier", "Bcast", "Gather", "Gatherv", "Scatter", "Scatterv", "Allgather", "Allgatherv", "Alltoall"),
    *("Alltoallv", "Alltoallw", "Allreduce", "Reduce", "Reduce_scatter", "Reduce_scatter_block", "Scan"),
    *("Exscan", "Neighbor_allgather", "Neighbor_allgatherv", "Neighbor_alltoall", "Neighbor_alltoallv"),
    "Neighbor_alltoallw",
}
# Nothing of these waits for another rank, nor ends what is in flight.
LOCAL = {
    *("Comm_rank", "Comm_size", "Wtime", "Wtick", "Type_size", "Type_get_extent", "Get_count", "Initialized"),
    *("Get_processor_name", "Cart_coords", "Cart_rank", "Cart_shift", "Finalized", "Dims_create", "Abort"),
    *("Group_size", "Group_rank", "Comm_compare", "Comm_set_errhandler", "Error_string", "Pcontrol"),
}
# They end before they return, and keep no address.
BLOCKING = {
    "Send",
    "Ssend",
    "Rsend",
    "Bsend",
    "Recv",
    "Sendrecv",
    "Sendrecv_replace",
    "Probe",
    "Reduce_local",
}
# These give the same to all ranks of the communicator; where, by number of argument, and which arguments must
# be the same for that (a datatype may leave out other places on another rank).
SAME_RESULT = {"Allreduce": 1, "Bcast": 0, "Comm_size": 1, "Dims_create": 2}
SAME_IF = {"Allreduce": (2, 3), "Bcast": (1, 2), "Comm_size": (), "Dims_create": (0, 1)}
# The C types of the datatypes of what is called `whole` there.
TYPES = {"MPI_INT": "int", "MPI_LONG": "long", "MPI_DOUBLE": "double", "MPI_FLOAT": "float"}
TYPES |= {"MPI_UNSIGNED": "int", "MPI_UNSIGNED_LONG": "long", "MPI_LONG_LONG": "long long"}
MAKES_COMMUNICATOR = {
    *("Comm_dup", "Comm_split", "Comm_split_type", "Comm_create", "Cart_create", "Cart_sub", "Graph_create"),
    *("Dist_graph_create", "Dist_graph_create_adjacent", "Comm_dup_with_info"),
}
# A communicator that these have made may reach ranks of another program.
OTHER_PROGRAMS = {
    *("Comm_spawn", "Comm_spawn_multiple", "Comm_get_parent", "Comm_connect", "Comm_accept", "Comm_join"),
    *("Intercomm_create", "Intercomm_create_from_groups", "Intercomm_merge"),
}

ALLOCATE = {"malloc", "calloc", "aligned_alloc", "valloc"}
ALLOCATE_INTO = {"posix_memalign", "MPI_Alloc_mem"}
FREE = {"free", "realloc", "reallocarray", "MPI_Free_mem", "munmap"}
# Their value follows from their arguments, and they write nothing.
PURE = {
    *(
        "sqrt",
        "fabs",
        "pow",
        "exp",
        "log",
        "log2",
        "log10",
        "sin",
        "cos",
        "tan",
        "floor",
        "ceil",
        "round",
        "abs",
    ),
    *("labs", "fmax", "fmin", "fmod", "cbrt", "hypot", "lround", "trunc", "sqrtf", "fabsf", "isnan", "atan"),
}
PARSES = {"atoi", "atol", "atof", "atoll", "strtol", "strtod", "strtoul", "strcmp", "strncmp", "strlen"}
# They return at once whatever other ranks do, and keep no address. Not those that give back an argument.
QUIET = {
    *PURE, *PARSES, *FREE, *ALLOCATE, *ALLOCATE_INTO,
    *("printf", "fprintf", "puts", "fputs", "putchar", "putc", "fputc", "fflush", "perror", "snprintf"),
    *("sprintf", "exit", "abort", "_exit", "assert", "__assert_fail", "memset", "memcpy", "memmove"),
    *("memcmp", "rand", "srand", "rand_r", "random", "srandom", "drand48", "srand48", "erand48", "time"),
    *("clock", "clock_gettime", "gettimeofday", "fwrite", "fclose", "strcpy", "strncpy", "strcat", "strncat"),
}  # fmt: skip
RETURNS_ARGUMENT = {"memset", "memcpy", "memmove", "strcpy", "strncpy", "strcat", "strncat", "realloc"}
# They only read what stands for "...", unless the format has a %n.
READS = {"printf", "fprintf", "snprintf", "sprintf"}
LEAVES = {"exit", "abort", "_exit", "_Exit", "quick_exit", "MPI_Abort", "__assert_fail"}
JUMPS = {"setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "longjmp", "siglongjmp"}
THREADS = {"pthread_create", "thrd_create", "signal", "sigaction"}


def only_reads(format_: str) -> bool:
    """Of printf and its like; `` is a format that is not seen."""
    return bool(format_) and not re.search(r"%[^a-zA-Z%]*[hlqjztLI]*n", format_.replace("%%", ""))


def base(name: str) -> str:
    """`MPI_Allreduce_c` and `PMPI_Allreduce` are `Allreduce`; what is not MPI's is ``."""
    found = re.fullmatch(r"P?MPI_(.+?)(_c)?", name)
    return found[1] if found else ""


def is_mpi(name: str) -> bool:
    return name.startswith(("MPI_", "PMPI_"))


def collective(name: str) -> bool:
    return name.startswith("MPI_") and base(name) in COLLECTIVES


def persistent(name: str) -> str:
    """The function that makes the request: MPI_Bcast_init, MPI_Bcast_init_c."""
    return f"MPI_{base(name)}_init" + ("_c" if name.endswith("_c") else "")


def keeps_address(name: str) -> bool:
    """Of MPI's functions: what it is given may be written after it has returned."""
    short = base(name)
    return (
        short not in COLLECTIVES | LOCAL | BLOCKING | MAKES_COMMUNICATOR
        and (
            short.startswith(
                ("I", "Win_", "Get", "Put", "Rget", "Rput", "Fetch", "Buffer_", "Compare", "Partitioned")
            )
            or short.endswith(("_init", "_begin"))
            or "_i" in short
        )
        and short not in {"Init", "Init_thread", "Iprobe", "Info_create", "Improbe"}
    )


def gives_back(name: str) -> bool:
    """Of MPI's functions: another one may give the program the address again."""
    short = base(name)
    return short.endswith(("_set_attr", "_keyval", "_datarep")) or short in {
        *("Attr_put", "Keyval_create", "Grequest_start", "Win_create", "Win_attach", "Buffer_attach"),
        *("Comm_attach_buffer", "Session_attach_buffer"),
    }


def completes(name: str) -> bool:
    """Whether something in flight may have been written when it returns."""
    return is_mpi(name) and base(name) not in COLLECTIVES | LOCAL | BLOCKING | MAKES_COMMUNICATOR
