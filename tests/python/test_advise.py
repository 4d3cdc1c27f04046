import json
from pathlib import Path
from typing import Any

import pytest
from memories import memory, verdict
from traces import Writer
from typer.testing import CliRunner
from unisono import cli
from unisono.advise import arms, choose, machine, predict, result, wake
from unisono.core import catalogue, places
from unisono.core.errors import UnisonoError
from unisono.profile import check
from unisono.trace import reader
from unisono.trace.groups import groups

RANKS, ALPHA, BETA = 8, 1e-5, 1e-7
SIZE, CALLS, AWAY, SLOW = 100_000, 10, 0.05, 0.5
RING = (RANKS - 1) * (ALPHA + BETA * SIZE)  # Allgather, and what the model says of it
ADVISE = cli.command_line("advise")


@pytest.fixture(autouse=True)
def built() -> None:
    for name in ("unisono-model", "unisono-schedule"):
        places.program(name)


@pytest.fixture
def costs(tmp_path: Path) -> Path:
    line = [{"from_bytes": 0, "alpha_s": ALPHA, "beta_s_per_byte": BETA}]
    level = {"one_way": line, "gap": line, "exchange": [], "active": 1}
    body = {
        **{"format": "unisono-machine", "version": 1, "mpi": {"flavour": "mpich", "library": "by hand"}},
        **{"levels": {"between_nodes": level}, "reduce_s_per_byte": 0.0, "copy_s_per_byte": 0.0},
        "wake_s": 0.0,
    }
    file = tmp_path / "machine.json"
    file.write_text(json.dumps(body))
    return file


def write(folder: Path, *sites: tuple[str, float, int, int], late: float = 0.0, calls: int = CALLS) -> Path:
    """Calls of each site in turn: collective, seconds of a call, bytes, address. The last rank comes late."""
    writer, now = Writer(folder, RANKS), 1.0
    for _ in range(calls):
        for collective, seconds, size, site in sites:
            arrivals = [now] * (RANKS - 1) + [now + late]
            writer.call(collective, arrivals, [now + late + seconds] * RANKS, size, site=site)
            now += AWAY + late + seconds
    return writer.write()


def told(folder: Path, costs: Path, *more: str) -> dict[str, Any]:
    done = CliRunner().invoke(ADVISE, ["advise", str(folder), "--machine", str(costs), "--json", "-", *more])
    assert done.exit_code == 0, done.output
    body: dict[str, Any] = json.loads(done.stdout)
    return body


def arm(body: dict[str, Any], spec: str, site: int = 0) -> dict[str, Any]:
    return next(each for each in body["sites"][site]["algorithms"] if each["algorithm"] == spec)


def test_a_slow_allgather_gains_what_the_ring_is_faster(tmp_path: Path, costs: Path) -> None:
    body = told(write(tmp_path / "trace", ("allgather", SLOW, SIZE, 0x2000)), costs)
    assert body["schema"] == "unisono.advice"
    ring = arm(body, "ring")
    assert ring["gain_s"] == pytest.approx(CALLS * (SLOW - RING), rel=1e-3)
    assert ring["low_s"] < ring["gain_s"] < ring["high_s"]
    assert ring["decision"] == "gains"
    assert body["variables"]["UNISONO_ALLGATHER"] == body["choices"][0]["algorithm"]
    assert body["gain"]["gain_s"] >= ring["gain_s"]


def test_no_gain_is_more_than_the_calls_took(tmp_path: Path, costs: Path) -> None:
    writer, now, took = Writer(tmp_path / "trace", RANKS), 1.0, 0.0
    for call in range(CALLS):
        seconds = SLOW if call % 3 else SLOW / 100  # the median is that of the slow ones
        writer.call("allgather", [now] * RANKS, [now + seconds] * RANKS, SIZE // 1000, site=0x2000)
        now, took = now + seconds, took + seconds
    body = told(writer.write(), costs)
    ring = arm(body, "ring")
    assert ring["decision"] == "gains"
    assert 0.9 * took < ring["gain_s"] < ring["high_s"] <= took < body["run_s"]
    assert body["sites"][0]["completion_s"] == pytest.approx(took)


def test_a_rank_that_is_late_is_no_gain_of_any_algorithm(tmp_path: Path, costs: Path) -> None:
    together = told(write(tmp_path / "together", ("allgather", SLOW, SIZE, 0x2000)), costs)
    late = told(write(tmp_path / "late", ("allgather", SLOW, SIZE, 0x2000), late=0.5), costs)
    gain = arm(late, "ring")["gain_s"]
    assert gain == pytest.approx(arm(together, "ring")["gain_s"], rel=0.05)
    assert late["waiting_s"] > 0.5 * (RANKS - 1) / RANKS * CALLS * 0.9


def test_nothing_helps_where_native_is_faster_than_the_network_allows(tmp_path: Path, costs: Path) -> None:
    folder = write(tmp_path / "trace", ("alltoall", 0.5 * RING, SIZE, 0x2000))
    body = told(folder, costs)
    assert body["choices"] == [] and body["variables"] == {} and body["gain"]["gain_s"] == 0
    assert {each["decision"] for each in body["sites"][0]["algorithms"]} == {"loses"}
    done = CliRunner().invoke(ADVISE, ["advise", str(folder), "--machine", str(costs)])
    assert "No algorithm surely gains anything." in done.stdout
    assert "To get it" not in done.stdout
    assert "slower are" in done.stdout


def test_no_line_is_wider_than_80_columns_but_those_to_be_copied(tmp_path: Path, costs: Path) -> None:
    folder = write(tmp_path / "trace", ("allgather", SLOW, SIZE, 0x2000), ("alltoall", 0.1, 4, 0x3000))
    done = CliRunner().invoke(ADVISE, ["advise", str(folder), "--machine", str(costs)], env={"COLUMNS": "80"})
    assert done.exit_code == 0, done.output
    table = done.stdout.partition("To get it")[0].splitlines()
    assert max(map(len, table)) <= 80
    assert "…" not in done.stdout
    assert "UNISONO_ALLGATHER=" in done.stdout


def test_eighty_columns_fold_nothing_within_a_word(tmp_path: Path, costs: Path) -> None:
    module = "a_solver_whose_name_is_as_long_as_that_of_generated_sources.so"
    modules = [{"path": f"/nowhere/{module}", "start": "0x1000", "end": "0x9000", "offset": "0x0"}]
    writer, now = Writer(tmp_path / "trace", RANKS, modules=modules), 1.0
    for _ in range(CALLS):
        for name in ("reduce_scatter_block", "allgather"):
            writer.call(name, [now] * RANKS, [now + SLOW] * RANKS, SIZE)
            now += AWAY + SLOW
    folder = writer.write()
    done = CliRunner().invoke(ADVISE, ["advise", str(folder), "--machine", str(costs)], env={"COLUMNS": "80"})
    table = done.stdout.partition("call site")[2].partition("Together")[0]
    assert max(map(len, table.splitlines())) <= 80
    words = table.split()
    assert words.count(f"{module}+0x1000") == 2
    assert "MPI_Reduce_scatter_block" in words and "algorithm" in words
    assert {choice["algorithm"] for choice in told(folder, costs)["choices"]} <= set(words)


def test_advice_that_makes_no_profile_is_shown_all_the_same(
    tmp_path: Path, costs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing gains, or nobody knows where it would hold: then comes the error, with its status."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    traces = {
        1: write(tmp_path / "fast", ("alltoall", 0.5 * RING, SIZE, 0x2000)),
        2: write(tmp_path / "slow", ("allgather", SLOW, SIZE, 0x2000)),
    }
    for status, folder in traces.items():
        line = ["advise", str(folder), "--machine", str(costs), "-o", str(tmp_path / "mine.json")]
        for more, said in (
            ([], "What would not help"),
            (["--json", "-"], '"schema": "unisono.advice"'),
        ):
            done = CliRunner().invoke(ADVISE, [*line, *more])
            assert said in done.stdout
            assert "UNISONO_PROFILE" not in done.stdout, "there is none"
            assert isinstance(done.exception, UnisonoError)
            assert done.exception.status == status
            assert str(done.exception).startswith("-o")
    assert not (tmp_path / "mine.json").exists()


def test_an_operation_may_not_commute_and_a_trace_does_not_say(tmp_path: Path, costs: Path) -> None:
    """Of two algorithms that the trace has measured only the ring wants it."""
    for spec, wants in (("ring:segment=256K", True), ("recursive_doubling", False)):
        writer, now = Writer(tmp_path / spec, RANKS, spec=spec), 1.0
        for number in range(20):
            ran, seconds = (1, RING / 100) if number % 2 else (0, SLOW)
            writer.call("allreduce", [now] * RANKS, [now + seconds] * RANKS, SIZE, algorithm=ran)
            now += AWAY + seconds
        folder = writer.write()
        found = [note for note in told(folder, costs)["notes"] if "commutes" in note]
        assert [f"not run by allreduce {spec}:" in note for note in found] == [True] * wants
        done = CliRunner().invoke(ADVISE, ["advise", str(folder), "--machine", str(costs)])
        assert done.stdout.count("MPI_Op_create") == wants


@pytest.mark.parametrize(
    ("collective", "spec", "hosts", "wants"),
    [
        ("allreduce", "ring", (0, 1, 2, 3), True),
        ("allreduce", "chain:segment=8K", (0, 1, 2, 3), False),
        ("allgather", "ring", (0, 1, 2, 3), False),
        ("allreduce", "grid:shape=nodes,form=leaders", (0, 0, 1, 1), False),
        ("allreduce", "grid:shape=nodes,form=leaders", (0, 1, 0, 1), True),
        ("allreduce", "grid:shape=nodes,form=leaders,columns=ring/segment=8K", (0, 0, 1, 1), True),
        ("reduce_scatter", "grid:shape=nodes,form=lanes", (0, 0, 1, 1), True),
        ("bcast", "grid:shape=nodes,form=leaders", (0, 1, 0, 1), False),
        ("allreduce", "native", (0, 1), False),
        ("allreduce", "of_another_version", (0, 1), False),
    ],
)
def test_who_wants_an_operation_that_commutes(
    collective: str, spec: str, hosts: tuple[int, ...], wants: bool
) -> None:
    assert arms.must_commute(catalogue.load(), collective, spec, hosts) == wants


def test_a_call_begins_when_the_last_rank_comes(tmp_path: Path, costs: Path) -> None:
    """The last rank of a chain waits for a message; if it is late, the message is there before."""
    hop = ALPHA + BETA * SIZE
    for late, kept in ((0.0, hop), (2 * RANKS * hop, 0.0)):
        body = told(write(tmp_path / f"{late}", ("bcast", SLOW, SIZE, 0x2000), late=late), costs)
        assert body["sites"][0]["completion_s"] == pytest.approx(CALLS * SLOW)
        assert arm(body, "chain")["gain_s"] == pytest.approx(CALLS * (SLOW - kept), abs=CALLS * hop / 10)


def test_call_sites_that_share_an_entry_get_the_better_sum(tmp_path: Path, costs: Path) -> None:
    """The first is very slow, the second faster than any algorithm: together it still pays."""
    sites = (("allgather", SLOW, SIZE, 0x2000), ("allgather", 0.5 * RING, SIZE, 0x3000))
    body = told(write(tmp_path / "trace", *sites), costs)
    (choice,) = body["choices"]
    assert f"{body['sites'][1]['site']} alone would take native" in choice["conflict"]
    own = [arm(body, choice["algorithm"], site)["gain_s"] for site in (0, 1)]
    assert min(own) < 0 < max(own)
    assert choice["gain_s"] == pytest.approx(sum(own))


def test_an_entry_that_loses_more_than_it_gains_is_none(tmp_path: Path, costs: Path) -> None:
    sites = (("allgather", 1.3 * RING, SIZE, 0x2000), ("allgather", 0.2 * RING, SIZE, 0x3000))
    assert told(write(tmp_path / "trace", *sites), costs)["choices"] == []


def test_what_was_measured_in_the_trace_beats_the_model(tmp_path: Path, costs: Path) -> None:
    writer, now = Writer(tmp_path / "trace", RANKS), 1.0
    for number in range(20):
        ran, seconds = (1, 0.02) if number % 2 else (0, 0.1)
        # The writer's algorithm 1 is ring:segment=256K.
        writer.call("allreduce", [now] * RANKS, [now + seconds] * RANKS, SIZE, algorithm=ran)
        now += AWAY + seconds
    body = told(writer.write(), costs)
    gain = arm(body, "ring:segment=256K")
    assert gain["from"] == "trace"
    # Half of the calls ran so already.
    assert gain["gain_s"] == pytest.approx(20 * 0.04)
    assert body["sites"][0]["completion_s"] == pytest.approx(20 * 0.06), "as traced"


def test_a_few_native_trials_promise_no_more_than_the_run_took(tmp_path: Path, costs: Path) -> None:
    writer, now = Writer(tmp_path / "trace", RANKS), 1.0
    for number in range(100):
        ran, seconds = (0, 1.0) if number < 5 else (1, 0.001)
        writer.call("allreduce", [now] * RANKS, [now + seconds] * RANKS, SIZE, algorithm=ran)
        now += AWAY + seconds
    body = told(writer.write(), costs)
    assert body["sites"][0]["completion_s"] == pytest.approx(5 * 1.0 + 95 * 0.001)
    assert arm(body, "ring:segment=256K")["gain_s"] == pytest.approx(5 * (1.0 - 0.001))


def test_what_jobs_measured_beats_the_model(tmp_path: Path, costs: Path) -> None:
    """Half of native's time, within a tenth of that; not of calls on fewer nodes."""
    row = verdict(("allgather", SIZE, RANKS, RANKS), "ring", 0.2, 0.4)
    others = [{**row, "choice": "bruck:radix=2", "nodes": 1}, {**row, "choice": "native"}]
    kept = machine.Machine(
        json.loads(costs.read_text()), "mpich-0123456789abcdef.json", {"verdicts": [row, *others]}
    )
    found = groups(reader.read(write(tmp_path / "trace", ("allgather", SLOW, SIZE, 0x2000))))
    (advice,) = predict.advise(found, found, kept, tmp_path)
    ring = advice.gain("ring")
    assert ring is not None
    assert (ring.source, ring.decision) == ("memory", "gains")
    took = CALLS * SLOW
    assert (ring.low, ring.seconds, ring.high) == pytest.approx((0.45 * took, 0.5 * took, 0.55 * took))
    assert [gain.spec for gain in advice.gains if gain.source == "memory"] == ["ring"]


def test_who_may_lose_packets_is_told(tmp_path: Path, costs: Path) -> None:
    """Of an Alltoall all at once, where a port holds less, or of one pair after the other."""
    body = json.loads(costs.read_text())
    body["incast"] = {"buffer_bytes": 65536, "window_bytes": 32768, "timeout_s": 0.2}
    found = groups(reader.read(write(tmp_path / "trace", ("alltoall", SLOW, SIZE, 0x2000))))
    (advice,) = predict.advise(found, found, machine.Machine(body, "by hand"), tmp_path)
    simple, ring = advice.gain("simple"), advice.gain("ring")
    assert simple is not None and ring is not None
    assert (simple.may_lose_packets, ring.may_lose_packets) == (True, False)
    assert simple.seconds == pytest.approx(ring.seconds)  # what a timeout costs is possible, not likely
    assert simple.low < simple.seconds - CALLS * 0.2 < ring.low


def test_ranks_come_as_long_after_a_call_as_the_trace_says(tmp_path: Path) -> None:
    (group,) = groups(reader.read(write(tmp_path / "trace", ("bcast", SLOW, SIZE, 0x2000), late=0.1)))
    asked = predict.question(group, ["chain"], [group])
    assert asked.delays[0] == pytest.approx([0.0] * (RANKS - 1) + [0.1], abs=1e-6)
    for each in asked.delays[1:]:
        assert each == pytest.approx([AWAY] * (RANKS - 1) + [AWAY + 0.1], abs=1e-6)
    assert asked.computing[:-1] == asked.delays[1:]
    assert not any(asked.waits) and not any(asked.traffic)


def test_ranks_that_share_cores_leave_a_call_one_after_the_other(tmp_path: Path, costs: Path) -> None:
    """What they compute afterwards keeps the only core from those that still wait for a message."""
    body = json.loads(costs.read_text())
    found = groups(reader.read(write(tmp_path / "trace", ("allreduce", SLOW, 8, 0x2000))))
    seconds = {}
    for cores in (0, 1, RANKS):
        where = machine.Machine({**body, "shared_cores": cores}, "by hand")
        (advice,) = predict.advise(found, found, where, tmp_path)
        gain = advice.gain("recursive_doubling")
        assert gain is not None
        seconds[cores] = SLOW - gain.seconds / CALLS
    assert seconds[1] > (RANKS - 3) * AWAY
    assert seconds[RANKS] < 0.01 * AWAY and seconds[0] < 0.01 * AWAY


def test_on_one_host_single_messages_decide_nothing(
    tmp_path: Path, costs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # where nothing is remembered
    body = json.loads(costs.read_text())
    body["levels"]["within_node"] = body["levels"]["between_nodes"]
    costs.write_text(json.dumps(body))
    decided = {}
    for hosts in (("a",) * RANKS, ("a", "b") * (RANKS // 2)):
        writer, now = Writer(tmp_path / "-".join(hosts), RANKS, hosts=hosts), 1.0
        for _ in range(CALLS):
            writer.call("allgather", [now] * RANKS, [now + SLOW] * RANKS, SIZE)
            now += SLOW
        folder = writer.write()
        found = result.of_folder(folder, None)
        decided[len(set(hosts))] = {gain.decision for gain in found.advices[0].gains}
        of_file = result.of_folder(folder, costs)  # somebody vouches for that
        assert "gains" in {gain.decision for gain in of_file.advices[0].gains}
    assert decided[1] == {"undecided"}
    assert "gains" in decided[2]


def test_the_profile_holds_where_the_memory_says(
    tmp_path: Path, costs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(tmp_path / "trace", ("allgather", SLOW, SIZE, 0x2000))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "unisono").mkdir()
    machine_ = {k: v for k, v in json.loads(costs.read_text()).items() if k != "wake_s"}
    # About as the trace's one-way times.
    line = [{"from_bytes": 0, "alpha_s": ALPHA, "beta_s_per_byte": 1e-8}]
    machine_["levels"]["between_nodes"] |= {"one_way": line, "gap": line}
    where = {"mpi": {"flavour": "mpich", "library": "Some MPI 1.0"}, "host": {"processor": "P", "cores": 4}}
    kept = json.dumps(memory(where, machine_))
    (tmp_path / "unisono" / "mpich-0123456789abcdef.json").write_text(kept)
    output = tmp_path / "mine.json"
    done = CliRunner().invoke(ADVISE, ["advise", str(folder), "-o", str(output)])
    assert done.exit_code == 0, done.output
    profile = check.load(output)
    (environment,) = profile.environments
    assert (environment.key.ranks, environment.key.nodes, environment.key.cores) == (RANKS, RANKS, 4)
    assert environment.key.network_rate == pytest.approx(8e8)
    cell = environment.cell("allgather", SIZE)
    assert cell is not None and cell.choice != "native"
    assert f"UNISONO_PROFILE={output}" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "nowhere: no such folder; unisono trace --output nowhere -- CMD makes a trace"),
        (["{trace}", "--machine", "nowhere.json"], "--machine nowhere.json: No such file or directory"),
        (["{trace}", "--machine", "{trace}/rank-00000.jsonl"], "no JSON; unisono-model fit makes one"),
        (["{trace}", "--machine", "{costs}", "-o", "mine.json"], "-o: a profile says where it holds"),
        (["{silent}"], "nothing says what messages cost there"),
    ],
)
def test_bad_input_is_one_line(
    tmp_path: Path, costs: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    names = {"trace": write(tmp_path / "trace", ("allgather", SLOW, SIZE, 0x2000)), "costs": costs}
    silent = Writer(tmp_path / "silent", 2, one_way={})
    silent.call("barrier", [1, 1], [2, 2])
    names["silent"] = silent.write()
    done = CliRunner().invoke(ADVISE, ["advise", *(word.format(**names) for word in arguments)])
    assert isinstance(done.exception, UnisonoError)
    assert said in str(done.exception) and "\n" not in str(done.exception)


def test_short_calls_tell_how_long_ranks_wait_for_cores(tmp_path: Path, costs: Path) -> None:
    found = groups(reader.read(write(tmp_path / "trace", ("allreduce", 0.03, 8, 0x2000), calls=20)))
    body = json.loads(costs.read_text())
    seconds = wake.estimate(found, body, tmp_path)
    assert seconds is not None and 0.001 < seconds < 0.03
    # With it the model takes as long as was traced.
    costs_ = machine.Machine(wake.with_wake(body, seconds), "by hand")
    (advice,) = predict.advise(found, found, costs_, tmp_path)
    assert abs(advice.gains[0].seconds) < 0.25 * advice.traced_s
    assert advice.gains[0].decision == "undecided"


def test_few_calls_are_left_out(tmp_path: Path, costs: Path) -> None:
    found = result.of_folder(write(tmp_path / "trace", ("allgather", SLOW, SIZE, 0x2000), calls=2), costs)
    assert found.advices == () and "called fewer than 3 times" in found.left_out[-1]
    assert choose.choices(found.advices, found.trace.size) == []


def test_what_the_clocks_may_be_wrong_by_is_no_gain(tmp_path: Path, costs: Path) -> None:
    """Of a program that was killed nobody has compared the clocks a second time."""
    decisions = {}
    for error in (1e3, SLOW * 1e9):
        writer, now = Writer(tmp_path / f"{error:.0f}", RANKS, error_ns=error), 1.0
        for _ in range(CALLS):
            writer.call("allgather", [now] * (RANKS - 1) + [now + 1e-4], [now + SLOW] * RANKS, SIZE)
            now += AWAY + SLOW
        decisions[error] = arm(told(writer.write(), costs), "ring")["decision"]
    assert list(decisions.values()) == ["gains", "undecided"]


def test_collectives_among_neighbours_are_left_out(tmp_path: Path, costs: Path) -> None:
    sites = (("allgather", SLOW, SIZE, 0x2000), ("neighbor_allgather", SLOW, SIZE, 0x3000))
    body = told(write(tmp_path / "trace", *sites), costs)
    assert [site["collective"] for site in body["sites"]] == ["allgather"]
    assert "who is whose neighbour" in body["left_out"][-1]


@pytest.mark.parametrize("hosts", [1, RANKS])
def test_within_a_node_single_messages_decide_nothing(
    tmp_path: Path, costs: Path, monkeypatch: pytest.MonkeyPatch, hosts: int
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    writer, now = (
        Writer(tmp_path / "trace", RANKS, hosts=[f"host{rank % hosts}" for rank in range(RANKS)]),
        1.0,
    )
    for _ in range(CALLS):
        writer.call("allgather", [now] * RANKS, [now + SLOW] * RANKS, SIZE)
        now += AWAY + SLOW
    done = CliRunner().invoke(ADVISE, ["advise", str(writer.write()), "--json", "-"])
    assert done.exit_code == 0, done.output
    ring = arm(json.loads(done.stdout), "ring")
    assert ring["gain_s"] > 0
    assert ring["decision"] == ("undecided" if hosts == 1 else "gains")


def test_what_jobs_on_one_node_remember_is_heeded_without_times_of_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "unisono").mkdir()
    where = {"mpi": {"flavour": "mpich", "library": "Some MPI 1.0"}, "host": {"processor": "P", "cores": 4}}
    kept = json.dumps(memory(where, None, verdict(("allgather", SIZE, RANKS, 1), "shm", 0.1, 0.4)))
    (tmp_path / "unisono" / "mpich-0123456789abcdef.json").write_text(kept)
    writer, now = Writer(tmp_path / "trace", RANKS, hosts=["one"] * RANKS), 1.0
    for _ in range(CALLS):
        writer.call("allgather", [now] * RANKS, [now + SLOW] * RANKS, SIZE)
        now += AWAY + SLOW
    output = tmp_path / "mine.json"
    done = CliRunner().invoke(ADVISE, ["advise", str(writer.write()), "--json", "-", "-o", str(output)])
    assert done.exit_code == 0, done.output
    gain = arm(json.loads(done.stdout), "shm")
    assert (gain["from"], gain["decision"]) == ("memory", "gains")
    shown = " ".join(CliRunner().invoke(ADVISE, ["advise", str(tmp_path / "trace")]).stdout.split())
    assert "Nothing is known of allgather" in shown
    assert "allgather shm," not in shown, "it was measured"
    assert gain["gain_s"] == pytest.approx(0.75 * CALLS * SLOW)
    (environment,) = check.load(output).environments
    assert (environment.key.place, environment.key.network_rate) == ("oversubscribed", 0)


def test_communicators_that_are_at_work_at_once_do_not_add_up(tmp_path: Path, costs: Path) -> None:
    """Four pairs of ranks in MPI_Allgather at the same time: the program gains what one of them does."""
    writer, now = Writer(tmp_path / "trace", RANKS), 1.0
    pairs = [(first, first + 1) for first in range(0, RANKS, 2)]
    ids = {pair: [writer.communicator(rank, pair) for rank in pair] for pair in pairs}
    for _ in range(CALLS):
        for pair in pairs:
            writer.call("allgather", [now] * 2, [now + SLOW] * 2, SIZE, ranks=pair, ids=ids[pair])
        now += AWAY + SLOW
    body = told(writer.write(), costs)
    assert len(body["sites"]) == len(pairs)
    of_a_site = max(each["gain_s"] for each in body["sites"][0]["algorithms"])
    assert body["gain"]["gain_s"] == pytest.approx(of_a_site, rel=0.01)
    assert body["gain"]["high_s"] <= CALLS * SLOW
