"""Open MPI: the rules file of coll/tuned (coll_tuned_dynamic_rules_filename).

Numbers only: collectives; of each its number, the communicator sizes; of each its smallest size and
the message sizes; of each its smallest size, algorithm, fan-out, segment size. A rule holds up to the
next one; algorithm 0 is coll/tuned's own decision. Source: Open MPI 5, coll_tuned_dynamic_file.c.
"""

import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from unisono.core.errors import SetupError, UnisonoError
from unisono.core.places import Mpi
from unisono.tune.native.rules import Algorithm, Rule, size_text

# Of COLLTYPE in ompi/mca/coll/base/coll_base_functions.h. Rules for scan and exscan are read, but Open
# MPI 5.0.11 does not follow them (tests/python/test_tune_native_run.py).
NUMBERS = {
    "allgather": 0,
    "allreduce": 2,
    "alltoall": 3,
    "barrier": 6,
    "bcast": 7,
    "gather": 9,
    "reduce": 11,
    "reduce_scatter": 12,
    "reduce_scatter_block": 13,
    "scatter": 15,
}
BY_ALL_BLOCKS = {"allgather", "alltoall"}  # the library's size is that of all ranks' blocks
# The root's count is not significant in place, so ranks could choose differently. A barrier has no size.
WITHOUT_SIZES = {"gather", "scatter", "barrier"}
PIPELINED, SPLIT, WHOLE_TOO = (8 << 10, 32 << 10, 128 << 10), (32 << 10,), (0, 32 << 10)
SEGMENTS: dict[str, dict[str, tuple[int, ...]]] = {
    "bcast": {
        "chain": PIPELINED,
        "pipeline": PIPELINED,
        "split_binary_tree": SPLIT,
        "binary_tree": SPLIT,
        "binomial": WHOLE_TOO,
    },
    "reduce": {
        "chain": PIPELINED,
        "pipeline": PIPELINED,
        "binary": SPLIT,
        "binomial": WHOLE_TOO,
        "in-order_binary": SPLIT,
    },
    "allreduce": {"segmented_ring": PIPELINED},
}
FAN_OUT = {"chain": 4}  # chains beside one another, coll_tuned's standard
DECISION = Algorithm("decision", {"number": 0, "fan_out": 0, "segment": 0})
NO_ALGORITHM = Algorithm("none", {"number": 9999, "fan_out": 0, "segment": 0})


class OpenMpi:
    def __init__(self, mpi: Mpi) -> None:
        self.mpi = mpi
        self.names = names_of(ask(mpi))

    def algorithms(self, collective: str, ranks: int) -> list[Algorithm]:
        found = []
        names = self.names.get(collective, {}) if collective in NUMBERS else {}
        for number, name in names.items():
            if name == "two_proc" and ranks != 2:
                continue
            segments = SEGMENTS.get(collective, {}).get(name, (0,))
            found += [algorithm(number, name, segment) for segment in segments]
        return found

    def tells_sizes(self, collective: str) -> bool:
        return collective not in WITHOUT_SIZES

    def write(self, rules: Sequence[Rule], file: Path) -> dict[str, str]:
        file.write_text(text_of(rules))
        return {
            "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
            "OMPI_MCA_coll_tuned_dynamic_rules_filename": str(file.absolute()),
        }

    def tripwire(self, rule: Rule) -> Rule:
        """coll/tuned refuses a number it does not have: MPI_ERR_ARG from the call."""
        return Rule(rule.collective, rule.ranks, rule.low, rule.high, NO_ALGORITHM)


def ask(mpi: Mpi) -> str:
    command = [str(mpi.home / "bin" / "ompi_info"), "--param", "coll", "tuned", "--level", "9", "--parsable"]
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise SetupError(f"{command[0]}: cannot be asked for the algorithms of coll/tuned: {error}") from None


ENUMERATOR = re.compile(r":param:coll_tuned_(\w+)_algorithm:enumerator:value:(\d+):(.+)")


def names_of(info: str) -> dict[str, dict[int, str]]:
    found: dict[str, dict[int, str]] = {}
    for collective, number, name in ENUMERATOR.findall(info):
        if number != "0":
            found.setdefault(collective, {})[int(number)] = name
    if not found:
        raise SetupError("this Open MPI has no coll/tuned, for which the rules file is: nothing to tune")
    return found


def algorithm(number: int, name: str, segment: int) -> Algorithm:
    shown = f"{name}:segment={size_text(segment)}" if segment else name
    return Algorithm(shown, {"number": number, "fan_out": FAN_OUT.get(name, 0), "segment": segment})


def text_of(rules: Sequence[Rule]) -> str:
    lines = ["rule-file-version-2"]
    collectives = sorted({rule.collective for rule in rules}, key=NUMBERS.__getitem__)
    lines.append(f"{len(collectives)} # collectives")
    for collective in collectives:
        own = [rule for rule in rules if rule.collective == collective]
        counts = sorted({rule.ranks for rule in own})
        # A communicator takes the last entry that is not larger; the first also if it is larger.
        entries = {0: [], **{p + 1: [] for p in counts}, **{p: by_size(own, p) for p in counts}}
        lines += ["", f"{NUMBERS[collective]} # {collective}", f"{len(entries)} # communicator sizes"]
        for ranks in sorted(entries):
            sizes = entries[ranks] or [(0, DECISION)]
            lines.append(f"{ranks} {len(sizes)} # ranks, message sizes")
            for low, chosen in sizes:
                form = chosen.form
                line = f"{low} {form['number']} {form['fan_out']} {form['segment']}"
                lines.append(f"{line} # {chosen.name}")
    return "\n".join(lines) + "\n"


def by_size(rules: Sequence[Rule], ranks: int) -> list[tuple[int, Algorithm]]:
    """Where a size begins, and the algorithm from there on."""
    found: list[tuple[int, Algorithm]] = []
    ends = 0  # of what is covered so far
    for rule in sorted((rule for rule in rules if rule.ranks == ranks), key=lambda rule: rule.low):
        factor = ranks if rule.collective in BY_ALL_BLOCKS else 1
        if rule.low * factor > ends:
            found.append((ends, DECISION))
        found.append((rule.low * factor, rule.algorithm))
        if rule.high is None:
            return found
        ends = (rule.high + 1) * factor
    return [*found, (ends, DECISION)]


Entry = tuple[str, int, int, int, int, int]  # collective, ranks, from size, algorithm, fan-out, segment


def entries_of(text: str) -> list[Entry]:
    """The rules as the library reads them."""
    header, _, body = text.partition("\n")
    if header.strip() != "rule-file-version-2":
        raise UnisonoError(f"no rules file of coll/tuned, version 2: it begins with {header[:40]!r}")
    try:
        numbers = (int(word) for line in body.splitlines() for word in line.partition("#")[0].split())
        found = list(entries(numbers))
        if next(numbers, None) is not None:
            raise ValueError("more numbers than announced")
    except (ValueError, StopIteration, RuntimeError, KeyError) as error:
        raise UnisonoError(f"no rules file of coll/tuned: {error or 'it ends too early'}") from None
    return found


def entries(numbers: Iterator[int]) -> Iterator[Entry]:
    names = {number: name for name, number in NUMBERS.items()}
    for _ in range(next(numbers)):
        collective = names[next(numbers)]
        for _ in range(next(numbers)):
            ranks = next(numbers)
            for _ in range(next(numbers)):
                yield collective, ranks, next(numbers), next(numbers), next(numbers), next(numbers)
