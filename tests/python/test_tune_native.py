"""Files for MPI libraries, and which algorithms go into them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from unisono.core.errors import UnisonoError
from unisono.core.places import Mpi
from unisono.tune.native import choose, mpich, openmpi, verify
from unisono.tune.native.bench import Read, Reader
from unisono.tune.native.record import DEFAULT, Cell, Measured, Record
from unisono.tune.native.rules import Algorithm, Rule, intervals
from unisono.tune.native.tuning import Tuning

PIPELINE = openmpi.algorithm(3, "pipeline", 32 << 10)
CHAIN = openmpi.algorithm(2, "chain", 8 << 10)
RING = mpich.algorithm("algorithm=MPIR_Allreduce_intra_ring", mpich.Known("intra_ring", guards=mpich.ENOUGH))
TREE = mpich.algorithm("algorithm=MPIR_Bcast_intra_tree", mpich.Known("intra_tree", {"k": 4}))


def test_borders_are_geometric_means_and_end_near_the_measured_sizes() -> None:
    a, b = PIPELINE, CHAIN
    assert intervals([8, 128, 2048], {8: a, 128: b, 2048: b}) == [(0, 32, a), (33, 4096, b)]
    assert intervals([64, 1024], {64: a}) == [(32, 256, a)]
    assert intervals([64, 1024, 4096], {64: a, 4096: a}) == [(32, 256, a), (2049, 8192, a)]


# Open MPI


def open_mpi_choice(text: str, collective: str, ranks: int, size: int) -> int:
    """As coll/tuned looks it up: the last communicator size not above, the last message size not above."""
    own = [entry for entry in openmpi.entries_of(text) if entry[0] == collective]
    if not own:
        return 0
    count = max((e[1] for e in own if e[1] <= ranks), default=own[0][1])
    return max((e[2], e[3]) for e in own if e[1] == count and e[2] <= size)[1]


def test_rules_file_is_followed_inside_the_rules_only() -> None:
    rules = [
        Rule("bcast", 4, 100, 199, PIPELINE),
        Rule("bcast", 4, 200, 399, CHAIN),
        Rule("bcast", 5, 0, 50, CHAIN),
        Rule("allgather", 16, 10, 20, openmpi.algorithm(4, "ring", 0)),
        Rule("barrier", 4, 0, None, openmpi.algorithm(6, "tree", 0)),
    ]
    text = openmpi.text_of(rules)
    for ranks in (1, 2, 3, 4, 5, 6, 16, 17, 64):
        for size in (0, 49, 50, 51, 99, 100, 199, 200, 399, 400, 1 << 30):
            expected = next((r for r in rules if verify.holds(r, Cell("bcast", ranks, size))), None)
            number = expected.algorithm.form["number"] if expected else 0
            assert open_mpi_choice(text, "bcast", ranks, size) == number, (ranks, size)
    # its size is that of all blocks
    found = [open_mpi_choice(text, "allgather", 16, size) for size in (159, 160, 335, 336)]
    assert found == [0, 4, 4, 0]
    assert open_mpi_choice(text, "barrier", 4, 0) == 6
    assert ("bcast", 4, 100, 3, 0, 32 << 10) in openmpi.entries_of(text)


@pytest.mark.parametrize(
    "text", ["", "xx", "rule-file-version-2\n1\n7\n1\n4 2\n0 1 0 0", "rule-file-version-2\n1\n99\n0\n"]
)
def test_broken_rules_files_are_refused(text: str) -> None:
    with pytest.raises(UnisonoError, match="no rules file"):
        openmpi.entries_of(text)


def test_algorithms_are_read_from_ompi_info() -> None:
    prefix = "mca:coll:tuned:param:coll_tuned_"
    lines = ["bcast_algorithm:enumerator:value:0:ignore", "bcast_algorithm:enumerator:value:3:pipeline"]
    assert openmpi.names_of("".join(f"{prefix}{line}\n" for line in lines)) == {"bcast": {3: "pipeline"}}
    with pytest.raises(UnisonoError, match="no coll/tuned"):
        openmpi.names_of("")


# MPICH

STOCK: mpich.Tree = {
    "collective=bcast": {
        "comm_type=intra": {
            "comm_size<8": {"algorithm=SMALL": {}},
            "comm_size=any": {"avg_msg_size<=1000": {"algorithm=SHORT": {}}, "any": {"algorithm=LONG": {}}},
        },
        "comm_type=inter": {"algorithm=INTER": {}},
    },
    "collective=allreduce": {"comm_type=intra": {"algorithm=STOCK": {}}},
    "collective=exscan": {"algorithm=EXSCAN": {}},
    "collective=gather": {"comm_type=intra": {"algorithm=GATHER": {}}},
}


def mpich_choice(tree: mpich.Tree, call: Mapping[str, Any]) -> str:
    """As csel.c searches: the first answer that holds, downwards."""
    for key, below in tree.items():
        if key.startswith(("algorithm=", "composition=")):
            return key.partition("=")[2]
        if key == "count<pow2":
            holds = call["count"] < call["comm_size"]
        elif "<" in key:
            name, _, bound = key.replace("<=", "<").partition("<")
            holds = call[name] < int(bound) + ("<=" in key)
        else:
            name, _, value = key.partition("=")
            holds = key == "any" or value == "any" or call[name] == value
        if holds:
            return mpich_choice(below, call)
    raise AssertionError(f"no answer for {call}")


def call(collective: str, ranks: int, size: int, **more: Any) -> dict[str, Any]:
    standard = {"comm_type": "intra", "is_commutative": "yes", "is_op_built_in": "yes", "count": size // 4}
    sizes = {"avg_msg_size": size, "total_msg_size": size * ranks}
    return {"collective": collective, "comm_size": ranks, **standard, **sizes, **more}


def test_tuned_calls_are_grafted_and_others_stay() -> None:
    rules = [
        Rule("bcast", 16, 100, 199, TREE),
        Rule("bcast", 16, 400, 800, TREE),
        Rule("bcast", 17, 0, 50, TREE),
        Rule("gather", 4, 0, None, mpich.algorithm("algorithm=MPIR_Gather_allcomm_nb", mpich.NB)),
        Rule("exscan", 4, 0, None, mpich.algorithm("algorithm=MPIR_Exscan_allcomm_nb", mpich.NB)),
    ]
    grafted = json.loads(json.dumps(mpich.graft(STOCK, rules, composition=False)))
    for collective in ("bcast", "gather", "exscan"):
        for ranks in (1, 3, 4, 5, 7, 15, 16, 17, 18):
            for size in (0, 50, 51, 99, 100, 199, 200, 400, 800, 801, 5000):
                asked = call(collective, ranks, size)
                tuned = any(verify.holds(rule, Cell(collective, ranks, size)) for rule in rules)
                chosen = mpich_choice(grafted, asked)
                assert chosen.startswith("MPIR_") == tuned, asked
                if not tuned:
                    assert chosen == mpich_choice(STOCK, asked)
    assert mpich_choice(grafted, call("bcast", 16, 150, comm_type="inter")) == "INTER"


def test_calls_that_the_algorithm_cannot_serve_keep_the_stock_one() -> None:
    rule = Rule("allreduce", 8, 0, 1 << 20, RING)
    grafted = mpich.graft(STOCK, [rule], composition=False)
    assert mpich_choice(grafted, call("allreduce", 8, 4096)) == "MPIR_Allreduce_intra_ring"
    for hindrance in ({"is_commutative": "no"}, {"is_op_built_in": "no"}, {"count": 7}):
        assert mpich_choice(grafted, call("allreduce", 8, 4096, **hindrance)) == "STOCK"
    divided = mpich.graft(STOCK, [rule], composition=True)
    assert mpich_choice(divided, call("allreduce", 8, 4096)) == "MPIDI_Allreduce_intra_composition_beta"
    assert mpich_choice(divided, call("allreduce", 8, 4096, is_commutative="no")) == "STOCK"


def test_selection_trees_stand_in_the_library() -> None:
    text = json.dumps(
        {"collective=bcast": {"algorithm=MPIR_Bcast_intra_binomial": {}}}, separators=(",", ":")
    )
    assert list(mpich.trees_in(b"\x7fELF\0" + text.encode() + b"\0more", "lib")) == [mpich.MPIR]
    with pytest.raises(UnisonoError, match="lib: no selection tree"):
        mpich.trees_in(b"\x7fELF\0", "lib")


# Choosing


def test_interval_needs_six_values_and_encloses_the_median() -> None:
    assert choose.interval([1.0] * 5) is None
    assert choose.interval([3, 1, 2, 6, 5, 4]) == choose.Ratio(3.5, 1, 6)
    assert choose.interval(list(range(1, 10))) == choose.Ratio(5, 2, 8)


class FakeLibrary:
    """Algorithms by name; writing remembers the rules."""

    mpi = Mpi("openmpi", Path())

    def __init__(self) -> None:
        self.rules: Sequence[Rule] = []

    def algorithms(self, collective: str, ranks: int) -> list[Algorithm]:
        return [Algorithm(name, {"name": name}) for name in ("slow", "fast", "crashes")]

    def tells_sizes(self, collective: str) -> bool:
        return collective != "gather"

    def write(self, rules: Sequence[Rule], file: Path) -> dict[str, str]:
        self.rules = rules
        return {"RULES": "yes"}

    def tripwire(self, rule: Rule) -> Rule:
        raise NotImplementedError


class FakeBench:
    """Times by collective, size and algorithm; 100 us by default. None: the job ends there."""

    def __init__(self, times: Mapping[tuple[str, int, str], float | None]) -> None:
        self.library, self.times, self.jobs = FakeLibrary(), times, 0

    def run(self, cells: Sequence[Cell], variables: Mapping[str, str], extra: Sequence[str] = ()) -> Read:
        self.jobs += 1
        read = Read()
        for cell in cells:
            rules = self.library.rules if variables else []
            name = next((r.algorithm.name for r in rules if verify.holds(r, cell)), DEFAULT)
            time = self.times.get((cell.collective, cell.bytes, name), None if name == "crashes" else 100.0)
            if time is None:
                read.problem = "killed by SIGSEGV"
                break
            read.times_us[cell] = time
        return read


def tuning(folder: Path, times: Mapping[tuple[str, int, str], float | None], **more: Any) -> Tuning:
    cells = [Cell(name, 4, size) for name in ("bcast", "gather") for size in (64, 1024)]
    record = Record(folder, {"bed": "fake"}, more.get("resume", False))
    bench: Any = FakeBench(times)
    return Tuning(bench, record, cells, folder, more.get("budget", 60.0))


def chosen(rules: Sequence[Rule]) -> list[tuple[str, int, int | None, str]]:
    return [(rule.collective, rule.low, rule.high, rule.algorithm.name) for rule in rules]


def test_what_is_surely_faster_is_chosen_and_what_crashes_is_out(tmp_path: Path) -> None:
    times = {("bcast", 1024, "fast"): 50.0, ("bcast", 64, "slow"): 99.0, ("gather", 64, "fast"): 90.0}
    made = tuning(tmp_path, times)
    assert chosen(made.run()) == [("bcast", 257, 2048, "fast"), ("gather", 0, None, "fast")]
    failed = {(row.cell.collective, row.algorithm) for row in made.record.rows if row.median_us is None}
    assert failed == {("bcast", "crashes"), ("gather", "crashes")}


def test_without_sizes_an_algorithm_must_be_slower_nowhere(tmp_path: Path) -> None:
    times = {("gather", 64, "fast"): 50.0, ("gather", 1024, "fast"): 110.0}
    assert chosen(tuning(tmp_path, times).run()) == []


def test_no_budget_no_change_and_resuming_measures_the_rest_only(tmp_path: Path) -> None:
    times = {("bcast", 1024, "fast"): 50.0}
    assert tuning(tmp_path, times, budget=1e-9).run() == []
    first = tuning(tmp_path, times, resume=True)
    assert chosen(first.run()) == [("bcast", 257, 2048, "fast")]
    again = tuning(tmp_path, times, resume=True)
    assert chosen(again.run()) == [("bcast", 257, 2048, "fast")]
    bench: Any = again.bench
    assert bench.jobs == 0


def test_a_library_that_fails_by_itself_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnisonoError, match="bcast, 1024 bytes, as the MPI library is: killed"):
        tuning(tmp_path, {("bcast", 1024, DEFAULT): None}).run()


def test_cells_are_told_apart_by_the_bench_s_order(tmp_path: Path) -> None:
    file = tmp_path / "cells.json"
    barrier, small, large = Cell("barrier", 2, 0), Cell("bcast", 2, 8), Cell("reduce", 2, 1001)
    reader = Reader(file, [barrier, small, large])
    assert not reader.look()
    times = (("barrier", 0), ("bcast", 8), ("bcast", 1001), ("reduce", 8), ("reduce", 1000))
    rows = [
        {"collective": name, "bytes": size, "correct": True, "arms": [{"time_us": {"median": i}}]}
        for i, (name, size) in enumerate(times)
    ]
    file.write_text(json.dumps({"cells": rows[:2]}))
    assert reader.look()
    assert not reader.look()
    file.write_text(json.dumps({"cells": rows}))
    assert reader.look()
    assert reader.read.times_us == {barrier: 0, small: 1, large: 4}


def test_working_folder(tmp_path: Path) -> None:
    record = Record(tmp_path, {"bed": "node"}, resume=False)
    record.add(Measured("final", 0, Cell("bcast", 2, 8), DEFAULT, 1.5))
    with record.file.open("a") as file:
        file.write('{"stage": "fin')  # interrupted while writing
    assert Record(tmp_path, {"bed": "node"}, resume=True).rows == record.rows
    with pytest.raises(UnisonoError, match="another bed"):
        Record(tmp_path, {"bed": "lab"}, resume=True)
    with pytest.raises(UnisonoError, match="go on with --resume"):
        Record(tmp_path, {"bed": "node"}, resume=False)
    with pytest.raises(UnisonoError, match="nothing to --resume"):
        Record(tmp_path / "none", {"bed": "node"}, resume=True)
