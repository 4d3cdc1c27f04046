// The environment variables that Unisono reads. There is no other list: `unisono info` and
// docs/reference/environment.md are made from it.
#pragma once
#include <string>
#include <string_view>

namespace unisono {

struct Variable {
  std::string_view name;
  std::string_view default_value;  ///< what holds when it is not set
  std::string_view meaning;
};

inline constexpr std::string_view kForced = "the algorithm of this collective";

inline constexpr Variable kVariables[] = {
    {"UNISONO", "auto",
     "auto: choose and remember; measure: the same, as if nothing had been remembered, and what "
     "the network costs is measured; fixed: what is forced, in a profile, remembered or in the "
     "table of defaults, equal from call to call, and nothing is measured; off: every call goes "
     "straight to the MPI library"},
    {"UNISONO_BARRIER", "default", kForced},
    {"UNISONO_BCAST", "default", kForced},
    {"UNISONO_GATHER", "default", kForced},
    {"UNISONO_GATHERV", "default", kForced},
    {"UNISONO_SCATTER", "default", kForced},
    {"UNISONO_SCATTERV", "default", kForced},
    {"UNISONO_ALLGATHER", "default", kForced},
    {"UNISONO_ALLGATHERV", "default", kForced},
    {"UNISONO_ALLTOALL", "default", kForced},
    {"UNISONO_ALLTOALLV", "default", kForced},
    {"UNISONO_ALLTOALLW", "default", kForced},
    {"UNISONO_REDUCE", "default", kForced},
    {"UNISONO_ALLREDUCE", "default", kForced},
    {"UNISONO_REDUCE_SCATTER_BLOCK", "default", kForced},
    {"UNISONO_REDUCE_SCATTER", "default", kForced},
    {"UNISONO_SCAN", "default", kForced},
    {"UNISONO_EXSCAN", "default", kForced},
    {"UNISONO_NEIGHBOR_ALLGATHER", "default", kForced},
    {"UNISONO_NEIGHBOR_ALLGATHERV", "default", kForced},
    {"UNISONO_NEIGHBOR_ALLTOALL", "default", kForced},
    {"UNISONO_NEIGHBOR_ALLTOALLV", "default", kForced},
    {"UNISONO_NEIGHBOR_ALLTOALLW", "default", kForced},
    {"UNISONO_PROFILE", "", "file with the choices that `unisono tune` has measured"},
    {"UNISONO_TOPOLOGY", "",
     "file that says which nodes a switch joins, like Slurm's topology.conf "
     "(docs/reference/grids.md), or where they are on a torus (docs/guide/tori.md)"},
    {"UNISONO_ONLINE", "auto",
     "what is timed in the program's own calls: auto (within a node which of two ways is faster, "
     "between hosts in long programs whether the MPI library's own is), off (nothing), star "
     "(STAR-MPI's rules: all algorithms)"},
    {"UNISONO_ONLINE_SAVE", "", "file into which what was learned online is written, a profile"},
    {"UNISONO_REPRODUCIBLE", "runs",
     "what the order of a reduction, and so its last bits, may depend on: runs (what is equal in "
     "all runs of a program on the same ranks in the same places), placement "
     "(or 1: the number of ranks and the length, on any machine), off (or 0)"},
    {"UNISONO_REPEATS", "1",
     "0: each MPI_Alltoallv and MPI_Alltoallw that follows an order of messages exchanges the "
     "counts of all ranks; 1: not where the counts of calls repeat"},
    {"UNISONO_LOG", "", "decision: rank 0 writes what was chosen for each new kind of call"},
    {"UNISONO_TRACE", "", "folder into which every rank traces its collectives: unisono trace"},
    {"UNISONO_WAIT", "auto",
     "how a rank waits, in MPICH's own calls too: auto, spin, yield, sleep, or sleep:16, which "
     "yields as often before the first sleep of a wait; auto spins only with a core per rank"},
    {"UNISONO_PROGRESS", "calls",
     "calls: nonblocking collectives go on while the program is in a call of MPI; thread: a thread "
     "moves them while it computes, too, where the ranks have cores; it may call operations of the "
     "program's own"},
    {"UNISONO_SHM", "auto", "bytes of shared memory for the ranks of a node; 0: none"},
    {"UNISONO_SHM_RING", "auto",
     "bytes of it through which a rank passes long messages; auto: more than its core's caches"},
    {"UNISONO_SHM_STORE", "auto", "how they are written there: auto, plain, nontemporal"},
    {"UNISONO_SHM_PROBE", "auto",
     "bytes after which, and again, the ranks of a node measure their memory (before messages "
     "there in any case); 0: never"},
    {"UNISONO_SINGLE_COPY", "1",
     "0: long messages within a node only through shared memory, not by process_vm_readv"},
    {"UNISONO_DEVICE", "native",
     "collectives on buffers in the memory of a GPU: native, the MPI library runs them; host, "
     "Unisono may, on copies in the memory of the host"},
    {"UNISONO_MCAST_GROUPS", "20",
     "multicast groups that a process is in at a time, at most; of those used least recently one "
     "goes for the next"},
    {"UNISONO_MCAST_INTERFACE", "",
     "network interface, by name or IPv4 address, of multicast; empty: of the network that all "
     "hosts are on"},
    {"UNISONO_MCAST_RATE", "auto",
     "megabits a second at which a host multicasts, at most; auto: as measured between the hosts, "
     "or the interface's"},
    {"UNISONO_MCAST_RELIABILITY", "nack",
     "nack: receivers of a multicast ask for what is missing, along a tree; ack: each acknowledges "
     "to the sender"},
    {"UNISONO_MCAST_SILENCE", "0",
     "seconds after which a call fails because nothing is heard of a member of its multicast "
     "group; 0: never; more than ranks compute between calls"},
    {"UNISONO_PLAN_CACHE", "64M", "memory of a process's stored plans, at most"},
    {"UNISONO_DISABLE", "0", "anything but 0: as UNISONO=off"},
};

/// The variable's value in the environment, or its standard. `name` is one of kVariables.
std::string variable(std::string_view name);
/// "NAME=value", as it may stand in a line: without control characters, and short.
std::string setting(std::string_view name);

/// Whether that is what holds when it is not set.
bool is_standard(std::string_view name);

/// UNISONO=off, or UNISONO_DISABLE is set.
bool is_switched_off();

/// "UNISONO_REDUCE_SCATTER" for "reduce_scatter".
std::string variable_of_collective(std::string_view collective);

}  // namespace unisono
