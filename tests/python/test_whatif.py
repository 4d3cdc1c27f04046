"""A trace at another scale: the rules exactly, what is refused, and that a program's own run agrees."""

import json
import shutil
from pathlib import Path

import pytest
from conftest import Run
from traces import Writer
from unisono.core.catalogue import NATIVE
from unisono.core.errors import UnisonoError
from unisono.sim import platforms
from unisono.trace import reader
from unisono.trace.metrics import OneWay
from unisono.whatif import calls, study
from unisono.whatif.calls import Shape
from unisono.whatif.replay import Program
from unisono.whatif.scaling import Scale, Target

from experiments.whatif import programs

simulates = [
    pytest.mark.sim,
    pytest.mark.skipif(shutil.which("smpirun") is None, reason="SimGrid is not installed"),
]
WORLD = Shape(4)


def scale(ranks: int, scaling: str, per_host: int = 1, grid: tuple[int, int] | None = None) -> Scale:
    return Scale(4, 1, Target(ranks, per_host, scaling, grid))


def loop(folder: Path, iterations: int = 6, late: float = 0.0) -> Path:
    """Of 4 ranks: alltoall and allreduce on all, bcast in rows, allgather in columns. Rank 3 is late."""
    trace = Writer(folder, 4)
    for rank in range(4):
        trace.communicator(rank, (0, 1) if rank < 2 else (2, 3))
        trace.communicator(rank, (0, 2) if rank % 2 == 0 else (1, 3))
    for iteration in range(iterations):
        at = 0.1 + 0.03 * iteration
        arrivals = [at, at, at, at + late]
        trace.call("alltoall", arrivals, [at + 0.02] * 4, 4096)
        trace.call("allreduce", [at + 0.021] * 4, [at + 0.022] * 4, 8, site=0x2080)
        for row in ((0, 1), (2, 3)):
            times = [at + 0.023] * 2, [at + 0.024] * 2
            trace.call("bcast", *times, 4096, ranks=row, ids=[1, 1], root=1, site=0x2100)
        for column in ((0, 2), (1, 3)):
            times = [at + 0.025] * 2, [at + 0.026] * 2
            trace.call("allgather", *times, 4096, ranks=column, ids=[2, 2], site=0x2200)
    return made_by(trace.write(), "Open MPI v5.0.8")


def made_by(folder: Path, library: str) -> Path:
    for path in folder.glob("*.jsonl"):
        path.write_text(path.read_text().replace("Some MPI 1.0", library))
    return folder


def test_calls_without_data_are_computing(tmp_path: Path) -> None:
    trace = Writer(tmp_path / "trace", 2)
    trace.call("barrier", [1.0, 1.0], [1.5, 1.5])
    trace.call("reduce", [2.0, 2.5], [3.0, 3.0], 0, root=0)
    trace.call("alltoallv", [4.0, 4.0], [5.0, 5.0], [0, 8])
    found = calls.read(reader.read(trace.write()))
    assert [kind.collective for kind in found.kinds] == ["barrier", "alltoallv"]
    assert found.empty == 1
    assert found.computing[1].tolist() == pytest.approx([2.5, 2.5])


@pytest.mark.parametrize(
    ("scaling", "collective", "shape", "traced", "expected"),
    [
        # 4 ranks to 16. A rank's own data stays: of alltoall a quarter for each of four times as many.
        ("weak", "alltoall", WORLD, 4096, 1024),
        ("weak", "alltoallv", WORLD, 4096, 1024),
        ("weak", "allgather", WORLD, 4096, 4096),
        ("weak", "allreduce", WORLD, 4096, 4096),
        ("weak", "reduce_scatter", WORLD, 4096, 4096),
        # All data stay: blocks by 4, those of alltoall by 16, a vector on all ranks as it is.
        ("strong", "alltoall", WORLD, 4096, 256),
        ("strong", "allgather", WORLD, 4096, 1024),
        ("strong", "gather", WORLD, 4096, 1024),
        ("strong", "bcast", WORLD, 4096, 4096),
        ("strong", "reduce_scatter_block", WORLD, 4096, 4096),
        # In rows of a grid, 2 of 2 ranks become 4 of 4: vectors and blocks of each half, alltoall's ...
        ("strong", "bcast", Shape(2), 4096, 2048),
        ("strong", "allgather", Shape(2, strided=True), 4096, 1024),
        ("strong", "alltoall", Shape(2), 4096, 512),
        ("weak", "alltoall", Shape(2), 4096, 2048),
        ("same", "alltoall", WORLD, 4096, 4096),
        # A count of keys for each other rank stays one, and sums consist of whole numbers.
        ("strong", "alltoall", WORLD, 4, 4),
        ("strong", "allreduce", WORLD, 8, 8),
        ("strong", "reduce_scatter", WORLD, 12, 64),
        ("weak", "barrier", WORLD, 0, 0),
    ],
)
def test_bytes_scale_by_the_rule(
    scaling: str, collective: str, shape: Shape, traced: int, expected: int
) -> None:
    assert scale(16, scaling).bytes(collective, traced, shape) == expected


def test_computing_scales_by_the_rule() -> None:
    assert [scale(16, rule).computing for rule in ("weak", "strong", "same")] == [1, 0.25, 1]


def test_communicators_keep_their_form() -> None:
    rows, columns = Shape(2), Shape(2, strided=True)
    assert (scale(64, "weak").shape(rows), scale(64, "weak").shape(columns)) == (
        Shape(8),
        Shape(8, strided=True),
    )
    wide = scale(64, "weak", grid=(4, 16))
    assert (wide.shape(rows), wide.shape(columns)) == (Shape(16), Shape(4, strided=True))
    assert scale(13, "weak").shape(WORLD) == Shape(13)
    with pytest.raises(UnisonoError, match="13 ranks make no grid"):
        scale(13, "weak").shape(rows)
    of_hosts = Scale(8, 2, Target(64, 4, "weak"))
    assert of_hosts.shape(Shape(2)) == Shape(4), "the ranks of a host"
    assert of_hosts.shape(Shape(4, strided=True)) == Shape(16, strided=True), "a rank of each host"


def test_roots_move_with_the_ranks() -> None:
    assert [scale(16, "weak").root(root, WORLD) for root in range(4)] == [0, 4, 8, 12]


def test_calls_of_a_trace(tmp_path: Path) -> None:
    found = calls.read(reader.read(loop(tmp_path / "t", late=0.005)))
    assert [(kind.collective, kind.shape, kind.calls) for kind in found.kinds] == [
        ("alltoall", WORLD, 6),
        ("allreduce", WORLD, 6),
        ("bcast", Shape(2), 6),
        ("allgather", Shape(2, strided=True), 6),
    ]
    assert found.computing[4] == pytest.approx([0.004, 0.004, 0.004, 0.009]), "alltoall, the second time"
    assert (found.ranks, found.per_host, found.roots[2]) == (4, 1, 1)


def test_the_middle_of_each_kind_is_replayed(tmp_path: Path) -> None:
    found = calls.read(reader.read(loop(tmp_path / "t")))
    program = Program(found, Target(8, 1, "weak"), platforms.parse("ethernet:8"), "ompi", 2)
    assert program.kept == tuple(range(8, 16)), "the third and the fourth time"
    steps = program.document({})["steps"]
    assert isinstance(steps, list)
    assert steps[2] == {"kind": 2, "root": 2, "computing_seconds": pytest.approx([0.001] * 8)}


def different(folder: Path) -> Path:
    trace = Writer(folder, 2)
    trace.call("bcast", [0.1], [0.2], 8, ranks=[0], ids=[0])
    trace.call("reduce", [0.1], [0.2], 8, ranks=[1], ids=[0])
    return trace.write()


def of_some(folder: Path) -> Path:
    trace = Writer(folder, 4)
    for rank in (0, 1, 2):
        trace.communicator(rank, (0, 1, 2))
    trace.call("barrier", [0.1] * 3, [0.2] * 3, ranks=[0, 1, 2], ids=[1] * 3)
    return trace.write()


def longer(folder: Path) -> Path:
    trace = Writer(folder, 2)
    trace.call("bcast", [0.1] * 2, [0.2] * 2, 8)
    trace.call("bcast", [0.3], [0.4], 8, ranks=[0], ids=[0])
    return trace.write()


def test_more_ranks_have_times_of_other_turns(tmp_path: Path) -> None:
    trace = Writer(tmp_path / "t", 2)
    for turn, late in enumerate((0.001, 0.002, 0.003)):
        trace.call("barrier", [turn, turn + late], [turn + 0.5] * 2)
    found = calls.read(reader.read(trace.write()))
    program = Program(found, Target(6, 1, "weak"), platforms.parse("ethernet:6"), "ompi", 3)
    # Before the second barrier rank 1 was 2 ms later than rank 0, before the third 3, before the first 0.
    assert program.computing(1) == pytest.approx([0.5, 0.502, 0.5, 0.503, 0.0, 0.0])


@pytest.mark.parametrize(
    ("trace", "options", "why"),
    [
        (different, ["--hosts", "8"], "call 1 is bcast among 2 ranks on rank 0 and reduce"),
        (of_some, ["--hosts", "8"], "rank 0 is on a communicator of ranks 0-2 of 4"),
        (longer, ["--hosts", "8"], "some ranks made 1 calls, others 2"),
        (loop, [], "say where: --hosts 256"),
        (loop, ["--hosts", "13"], "13 ranks make no grid"),
        (loop, ["--hosts", "32", "--platform", "torus:4x4"], "32 hosts are wanted"),
        (loop, ["--hosts", "8", "--scaling", "stong"], "valid are weak, strong, same"),
        (loop, ["--hosts", "8", "--grid", "3x3"], "write rows x columns of 8 ranks"),
        (loop, ["--hosts", "8", "--selector", "openmpi"], "valid are ompi"),
        (loop, ["--hosts", "8", "-n", "16", "--ppn", "2"], "leave one out"),
        (loop, ["--hosts", "8", "--cores", "4"], "--cores is for -o"),
        (loop, ["--hosts", "8", "-o", "/no/such/place/p.json"], "there is no such directory"),
        (of_some, ["--hosts", "8", "-o", "p.json"], "rank 0 is on a communicator"),
        (longer, ["--platform", "torus:2x2m"], "some ranks made 1 calls"),
        (loop, ["--platform", "torus:2x2m"], "cannot be replayed"),
    ],
)
def test_what_cannot_be_is_one_line(
    tmp_path: Path, unisono: Run, trace: object, options: list[str], why: str
) -> None:
    if shutil.which("smpirun") is None:
        pytest.skip("SimGrid is not installed")
    assert callable(trace)
    done = unisono("whatif", str(trace(tmp_path / "t")), *options)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert why in done.stderr


class TestSimulated:
    pytestmark = simulates

    def test_a_profile_and_json(self, tmp_path: Path, unisono: Run) -> None:
        profile, file = tmp_path / "p.json", tmp_path / "w.json"
        options = ["--hosts", "8", "--grid", "2x4", "--calls", "1", "--finalists", "1"]
        done = unisono(
            *("whatif", str(loop(tmp_path / "t")), *options, "-o", str(profile), "--json", str(file)),
            COLUMNS="80",
        )
        assert done.returncode == 0, done.stderr
        assert max(map(len, done.stdout.replace(str(tmp_path), "").splitlines())) <= 80
        for text in ("Scaling weak", "imitation of Open MPI", "allgather 4K, 4 strided groups of 2"):
            assert text in done.stdout
        found = json.loads(file.read_text())
        assert (found["schema"], found["schema_version"]) == ("unisono.whatif", 1)
        assert [site["calls"] for site in found["sites"]] == [6] * 4
        computing = sum(site["computing_seconds"] for site in found["sites"])
        assert found["program_seconds"]["native"] > computing > 0
        assert unisono("profile", "check", str(profile)).returncode == 0
        shapes = {
            (env["shape"]["ranks"], cell["collective"])
            for env in json.loads(profile.read_text())["environments"]
            for cell in env["cells"]
        }
        assert shapes == {(8, "alltoall"), (8, "allreduce"), (4, "bcast"), (2, "allgather")}

    def test_no_profile_for_a_library_that_has_none(self, tmp_path: Path, unisono: Run) -> None:
        trace = made_by(loop(tmp_path / "t"), "Open MPI")
        for path in trace.glob("*.jsonl"):
            path.write_text(path.read_text().replace("Open MPI v5.0.8", "Other 1"))
        done = unisono("whatif", str(trace), "--hosts", "8", "-o", str(tmp_path / "p.json"))
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
        assert "'Other 1', for which there are no profiles" in done.stderr

    def test_who_is_late_keeps_the_others_waiting(self, tmp_path: Path) -> None:
        def in_alltoall(late: float) -> float:
            found = calls.read(reader.read(loop(tmp_path / f"late-{late}", late=late)))
            program = Program(found, Target(8, 1, "weak"), platforms.parse("ethernet:8"), "ompi", 1)
            run = program.run(dict.fromkeys(program.cells, NATIVE), lambda: True)
            return run.in_call[0]

        # Of 8 ranks 3 and 7 are late by 5 ms, and the others wait for these.
        assert in_alltoall(0.005) - in_alltoall(0.0) == pytest.approx(0.75 * 0.005, rel=0.1)

    def test_a_program_takes_what_was_predicted(self) -> None:
        application = programs.Application("imbalanced", "8 65536 2000", "allreduce", "weak")
        traced = calls.read(programs.trace(application, 4, "ethernet:4", {}))
        assert {kind.shape for kind in traced.kinds} == {Shape(4), Shape(2), Shape(2, strided=True)}
        program = Program(traced, Target(16, 1, "weak"), platforms.parse("ethernet:16"), "ompi", 8)
        predicted = program.run(dict.fromkeys(program.cells, NATIVE), lambda: True)
        ran = calls.read(programs.trace(application, 16, "ethernet:16", {}))
        for number, kind in enumerate(ran.kinds):
            assert predicted.in_call[number] == pytest.approx(kind.seconds / kind.calls, rel=0.15)
            assert program.cells[number].bytes == kind.bytes

    @pytest.mark.parametrize("rate", [1000, 10])
    def test_a_trace_times_long_messages_on_a_slow_network_too(self, rate: int) -> None:
        """To use up the credit of ports takes 52 ms before each message at 10 Mb/s, of half a second."""
        application = programs.Application("imbalanced", "2 65536 2000", "allreduce")
        traced = programs.trace(application, 4, f"ethernet:4,bw={rate}Mbps", {})
        sizes = list(traced.one_way)
        assert (sizes[0], sizes[-1]) == (1, 65536)
        assert (len(sizes) == 9) == (rate == 1000)
        assert OneWay(traced.one_way).beta == pytest.approx(8 / (rate * 1e6), rel=0.1)


def test_the_last_word_of_each_kind_counts() -> None:
    said = "\n".join(
        f"unisono: allreduce of 64KB on 8 ranks: {spec} (online: {why})"
        for spec, why in (("native", "native is timed"), ("ring:segment=256K", "took 1 ms"))
    )
    assert dict(study.decisions(said)) == {("allreduce", "64K", 8): "ring:segment=256K"}
