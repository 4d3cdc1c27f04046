"""`unisono explain --here`: which rule decides. The order is the library's own; these are its ends."""

import json
import math
import re
from pathlib import Path

import pytest
from conftest import Run
from unisono.core import catalogue, machine, places
from unisono.core.catalogue import NATIVE
from unisono.profile import running
from unisono.profile.document import Cell, Environment, Key, Profile, save


def rules(*arguments: str, monkeypatch: pytest.MonkeyPatch, **environment: str) -> list[tuple[str, str]]:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    standard = {"--collective": "allreduce", "--bytes": "64K", "--ranks": "4", "--flavour": "openmpi"}
    chosen = standard | dict(zip(arguments[::2], arguments[1::2], strict=True))
    line = [word for pair in chosen.items() for word in pair]
    told = json.loads(catalogue.ask("decide", *line))
    return [(rule["rule"], rule["algorithm"].partition(":")[0]) for rule in told["rules"]]


BETWEEN = ("--nodes", "4", "--place", "ethernet")


def test_between_hosts_a_safe_arm_runs_and_is_checked_unless_its_order_is_the_only_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    safe = [("safe", "ring"), ("native", "native")]
    assert rules(*BETWEEN, monkeypatch=monkeypatch) == safe
    assert rules(*BETWEEN, "--bytes", "63K", monkeypatch=monkeypatch) == [("native", "native")]
    assert rules(*BETWEEN, "--ranks", "8", monkeypatch=monkeypatch) == [
        ("safe", "grid"),
        ("native", "native"),
    ]
    checked = [("online", "ring"), *safe]
    assert rules(*BETWEEN, monkeypatch=monkeypatch, UNISONO_REPRODUCIBLE="off") == checked
    assert rules(*BETWEEN, monkeypatch=monkeypatch, UNISONO_ONLINE="off") == safe
    assert rules(*BETWEEN, monkeypatch=monkeypatch, UNISONO_ONLINE="star")[0] == ("online", "native")


ARMS = Path(__file__).parents[2] / "docs/reference/online.md"
ROW = re.compile(r"\| ((?:`\w+`(?:, )?)+) \| `(\w+)`([^|]*) \| (\d+) KiB(?: and (\d+) KiB a round)? \|")
ON_MANY = re.compile(r"on (\d+) hosts and more[^`]*`(\w+)`")


@pytest.mark.parametrize("hosts", [3, 7])
def test_open_mpis_reduce_among_few_hosts_is_its_own(hosts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    line = ("--collective", "reduce", "--ranks", str(hosts), "--nodes", str(hosts), "--place", "ethernet")
    for size, arm in (("65535", NATIVE), ("64K", "chain")):
        assert rules(*line, "--bytes", size, monkeypatch=monkeypatch)[0][1] == arm


@pytest.mark.parametrize("hosts", [3, 11, 12, 24])
def test_the_arms_are_those_of_the_page(hosts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNISONO_ONLINE", "off")
    found: dict[str, tuple[str, int]] = {}
    for names, on_few, on_many, least, each in ROW.findall(ARMS.read_text()):
        arm, rounds = on_few, hosts - 2
        if (trees := ON_MANY.search(on_many)) and hosts >= int(trees[1]):
            arm, rounds = trees[2], 1 + 2 * math.ceil(math.log2(hosts))
        bytes_ = 1024 * (int(least) + rounds * int(each or 0))
        found |= dict.fromkeys(names[1:-1].split("`, `"), (arm, bytes_))
    assert len(found) >= 8
    for name in catalogue.collectives():
        arm, least = found.get(name, (NATIVE, 0))
        place = ("--nodes", str(hosts), "--place", "ethernet", "--flavour", "mpich")
        line = ("--collective", name, "--ranks", str(hosts), *place)
        for size, expected in ((least, arm), (least - 1, NATIVE)) if least else ((1 << 20, NATIVE),):
            assert rules(*line, "--bytes", str(size), monkeypatch=monkeypatch)[0][1] == expected, (name, size)


def test_within_a_node_sums_have_one_order_in_all_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    here = ("--place", "oversubscribed")
    assert rules(*here, monkeypatch=monkeypatch)[0] == ("reproducible", "shm")
    assert rules(*here, monkeypatch=monkeypatch, UNISONO_REPRODUCIBLE="off")[0][0] == "online"


def test_what_is_forced_comes_first_and_the_rest_behind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    found = rules(*BETWEEN, monkeypatch=monkeypatch, UNISONO_ALLREDUCE="ring", UNISONO_REPRODUCIBLE="1")
    assert [rule for rule, _ in found] == ["forced", "reproducible", "online", "safe", "native"]
    assert found[0] == ("forced", "ring")


def test_fixed_uses_what_is_remembered_and_learns_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    found = rules(*BETWEEN, "--remembered", "rabenseifner", monkeypatch=monkeypatch, UNISONO="fixed")
    assert found == [("safe", "ring"), ("native", "native")], "a sum: its order may not depend on a memory"
    line = ("--collective", "allgather", *BETWEEN, "--remembered", "bruck")
    found = rules(*line, monkeypatch=monkeypatch, UNISONO="fixed")
    assert found == [("remembered", "bruck"), ("safe", "ring"), ("native", "native")]


def test_what_is_not_forced_of_another_collective(monkeypatch: pytest.MonkeyPatch) -> None:
    assert rules(*BETWEEN, monkeypatch=monkeypatch, UNISONO_BCAST="chain")[0][0] == "safe"


def test_off_decides_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert rules(*BETWEEN, monkeypatch=monkeypatch, UNISONO="off")[0] == ("off", "native")


def test_a_forced_algorithm_that_does_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNISONO_ALLREDUCE", "rign")
    told = json.loads(catalogue.ask("decide", "--collective", "allreduce", "--flavour", "mpich"))
    assert told["rules"][0]["rule"] == "forced"
    assert "no algorithm 'rign'" in told["complaints"][0]


def test_an_order_that_does_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNISONO_REPRODUCIBLE", "run")
    told = json.loads(catalogue.ask("decide", "--collective", "allreduce", "--flavour", "mpich"))
    assert told["complaints"] == ["UNISONO_REPRODUCIBLE=run: valid are off, runs and placement; runs holds"]


def test_a_sum_of_one_order_and_a_table_without_predictions(unisono: Run) -> None:
    done = unisono("explain", "--here", "--mpi", "openmpi", "-n", "4", "allreduce", "64K")
    assert done.returncode == 0, done.stderr
    words = " ".join(done.stdout.split())
    assert "keep one order of their terms" in words
    assert "predicted" not in words, "on one node nothing is"


def test_a_mode_that_does_not_exist(unisono: Run) -> None:
    done = unisono("explain", "--here", "--mpi", "openmpi", "-n", "4", "bcast", "64K", UNISONO="of")
    assert done.returncode == 0, done.stderr
    assert "UNISONO=of: valid are auto, measure, fixed and off; auto holds" in " ".join(done.stdout.split())


def test_a_profile_decides_where_it_holds(tmp_path: Path, unisono: Run) -> None:
    mpi = places.find_mpi("openmpi")
    library = running.library_line(mpi)
    assert library.startswith("Open MPI v")
    key = Key("openmpi", library, "ethernet", 1e9, machine.cores().usable, 8, 8)
    cells = (Cell("bcast", 1024, 1 << 20, "chain:segment=8K"),)
    path = tmp_path / "p.json"
    save(Profile((Environment(key, cells),)), path)
    asked = ("explain", "--here", "--mpi", "openmpi", "-n", "8", "--hosts", "8", "bcast")
    done = unisono(*asked, "64K", UNISONO_PROFILE=str(path))
    assert done.returncode == 0, done.stderr
    words = " ".join(done.stdout.split())
    assert "profile, decides chain:segment=8K" in words
    assert "To change it: unset UNISONO_PROFILE." in words
    elsewhere = unisono(*asked, "8", UNISONO_PROFILE=str(path))
    assert "native, decides native" in " ".join(elsewhere.stdout.split()), "the profile has no such size"


@pytest.mark.parametrize(
    ("asked", "online", "said", "change"),
    [
        (("bcast", "64K"), "auto", "times the MPI library's own beside", "UNISONO_BCAST=native, or any"),
        (("alltoall", "64K"), "auto", "times a safe algorithm beside", "UNISONO_ALLTOALL=ALGORITHM"),
        (("bcast", "64K"), "star", "try all algorithms in turn", "UNISONO_ONLINE=off"),
    ],
)
def test_what_is_timed_beside_it_and_what_would_change_it(
    unisono: Run, asked: tuple[str, ...], online: str, said: str, change: str
) -> None:
    line = ("explain", "--here", "--mpi", "openmpi", "-n", "8", "--hosts", "8", *asked)
    words = " ".join(unisono(*line, UNISONO_ONLINE=online).stdout.split())
    assert said in words
    assert f"To change it: {change}" in words


def test_what_a_job_said(tmp_path: Path, unisono: Run) -> None:
    log = tmp_path / "log"
    said = "unisono: bcast of 512KB on 7 ranks"
    log.write_text(
        f"{said}: native (online: safe)\nhello\n{said}: chain:segment=4K (online: being checked)\n"
    )
    done = unisono("explain", "--from-log", str(log))
    assert done.returncode == 0, done.stderr
    assert "bcast 512K 7 chain:segment=4K online: being checked" in " ".join(done.stdout.split())
    assert "native" not in done.stdout, "only the last word counts"


def test_launchers_put_the_rank_before_a_line(tmp_path: Path, unisono: Run) -> None:
    log = tmp_path / "log"
    said = "unisono: bcast of 8B on 4 ranks: shm (online: being timed)"
    log.write_text(f"[0] {said}\n[1,0]<stderr>:{said.replace('bcast', 'scan')}\n")
    done = unisono("explain", "--from-log", str(log))
    assert done.returncode == 0, done.stderr
    words = " ".join(done.stdout.split())
    assert "bcast 8 4 shm" in words
    assert "scan 8 4 shm" in words


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (("--here",), "say which collective"),
        (("bcast", "8", "--hosts", "2"), "--hosts is for --here"),
        (("bcast", "8", "--here", "-n", "2", "--hosts", "4"), "there are only 2 ranks"),
        (("p.json", "bcast", "8", "--here"), "is that of UNISONO_PROFILE"),
        (("--from-log", "nothing"), "No such file"),
        (("--from-log", "/dev/null"), "it is a device"),
        (("--from-log", __file__), "no decision is in it"),
        (("bcast", "--from-log", "/dev/null"), "nothing else goes with it"),
    ],
)
def test_mistakes_are_one_line(unisono: Run, asked: tuple[str, ...], why: str) -> None:
    done = unisono("explain", *asked)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert why in done.stderr
