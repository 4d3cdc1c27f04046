"""What messages cost where a trace was made, by a machine file, what jobs remembered, or the trace itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unisono.core import files, memory
from unisono.core.errors import UnisonoError
from unisono.trace.metrics import OneWay
from unisono.trace.reader import Trace

Json = dict[str, Any]
# Of ports as in cheap switches, and of TCP's least timeout on Linux: as src/model/machine.h has them.
CHEAP_SWITCH = {"buffer_bytes": 65536.0, "window_bytes": 32768.0, "timeout_s": 0.2}
LONGEST = 1 << 24  # bytes: of the messages that MPI_Finalize times
TOLD = 2.0  # times: so much longer a message takes that says what its bytes cost
ALIKE = 3.0  # times: further away the network of a memory is another one
# What the costs of messages may be wrong by, times: of a file; of a probe of 60 ms in MPI_Init; of
# single messages in MPI_Finalize, which say nothing of all ranks sending at once.
FILE_ERROR, MEMORY_ERROR, TRACE_ERROR = 1.1, 1.25, 1.5


@dataclass(frozen=True)
class Machine:
    """`body` is a machine file's (docs/reference/model.md); `memory`: what jobs remembered, if known."""

    body: Json
    source: str  # in words
    memory: Json | None = None
    error: float = FILE_ERROR  # times

    @property
    def loses(self) -> bool:
        """Whether messages of several nodes to one may be lost, as far as anybody knows."""
        return bool(self.body.get("incast"))

    def without_loss(self) -> Json:
        return {name: value for name, value in self.body.items() if name != "incast"}


def of_trace(trace: Trace, file: Path | None) -> Machine:
    """An error of one line where nothing is known."""
    if file is not None:
        return Machine(read(file), str(file))
    remembered = of_memory(trace)
    if remembered is not None:
        return remembered
    if not trace.one_way:
        raise UnisonoError(
            f"{trace.folder}: nothing says what messages cost there: the trace holds no one-way times, "
            "and no job has remembered them; name a file with --machine (docs/guide/model.md makes one)"
        )
    if not tells_of_long_messages(trace):
        raise UnisonoError(
            f"{trace.folder}: nothing says what long messages cost there: on such a slow network "
            f"MPI_Finalize timed none of more than {max(trace.one_way)} B, and no job remembered them; "
            "name a file with --machine (docs/guide/model.md makes one)"
        )
    return Machine(by_one_way(trace), "the trace's own one-way times", of_node(trace), TRACE_ERROR)


def tells_of_long_messages(trace: Trace) -> bool:
    """Not where it timed only such as take no longer for more bytes, and the program's are longer."""
    longest = max(int(rank.events["bytes"].max(initial=0)) for rank in trace.ranks.values())
    sizes, seconds = list(trace.one_way), list(trace.one_way.values())
    return sizes[-1] >= min(longest, LONGEST) or seconds[-1] > TOLD * seconds[0]


def read(file: Path) -> Json:
    try:
        body = files.decoded(files.read_bytes(file))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no JSON"
        raise UnisonoError(f"--machine {file}: {reason}; unisono-model fit makes one") from error
    if not isinstance(body, dict) or body.get("format") != "unisono-machine":
        raise UnisonoError(f"--machine {file}: no machine file; unisono-model fit makes one")
    return body


def of_memory(trace: Trace) -> Machine | None:
    """What jobs of the trace's MPI library have found, on the network that is most like the trace's."""
    several = len({rank.host for rank in trace.ranks.values()}) > 1
    level = "between_nodes" if several else "within_node"
    fitting: list[tuple[float, Path, Json]] = []
    for path, kept in memory.each():
        where, machine = kept.get("where", {}), kept.get("machine")
        if where.get("mpi", {}).get("library") != trace.first.start.mpi or not machine:
            continue
        if level in machine.get("levels", {}):
            fitting.append((distance(trace, machine["levels"][level]), path, kept))
    fitting.sort(key=lambda one: one[0])
    if not fitting or fitting[0][0] > ALIKE:
        return None
    _, path, kept = fitting[0]
    body = completed(kept["machine"], several)
    return Machine(body, f"what jobs remembered ({path.name})", kept, MEMORY_ERROR)


def of_node(trace: Trace) -> Json | None:
    """What jobs on one node have remembered, which time no messages, where it cannot be another node's."""
    if len({rank.host for rank in trace.ranks.values()}) > 1:
        return None
    library = trace.first.start.mpi
    alike = [
        kept for _, kept in memory.each() if kept.get("where", {}).get("mpi", {}).get("library") == library
    ]
    return alike[0] if len(alike) == 1 else None


def completed(machine: Json, several: bool) -> Json:
    """With the ports that the library itself reckons with."""
    return {**machine, "incast": CHEAP_SWITCH} if several else machine


def distance(trace: Trace, level: Mapping[str, Any]) -> float:
    """How many times the longest message that the trace timed took longer, or shorter, than the memory
    says; 1 where the trace timed none."""
    if not trace.one_way:
        return 1.0
    size = max(trace.one_way)
    pieces = [piece for piece in level["one_way"] if piece["from_bytes"] <= size]
    said = pieces[-1]["alpha_s"] + pieces[-1]["beta_s_per_byte"] * size if pieces else 0.0
    ratio = trace.one_way[size] / said if said > 0 else ALIKE + 1
    return max(ratio, 1 / ratio)


def by_one_way(trace: Trace) -> Json:
    """Hockney's model: a message keeps its ports for as long as it takes."""
    one_way = OneWay(trace.one_way)
    line = [{"from_bytes": 0, "alpha_s": one_way.alpha, "beta_s_per_byte": one_way.beta}]
    level = {"one_way": line, "gap": line, "exchange": [], "active": 1}
    several = len({rank.host for rank in trace.ranks.values()}) > 1
    body = {
        "format": "unisono-machine",
        "version": 1,
        "mpi": {"flavour": "", "library": trace.first.start.mpi},
        "levels": {"between_nodes" if several else "within_node": level},
        "reduce_s_per_byte": 0.0,
        "copy_s_per_byte": 0.0,
    }
    return completed(body, several)
