"""scripts/unasked.py: what it takes for the limit, what it measures next, and what it says of it."""

import subprocess
import sys
from pathlib import Path

import pytest
from unisono.core.files import read_json

from scripts import kinds_in_lab, unasked
from scripts.kinds_in_lab import Cell, Hosts


def cell(**changes: object) -> Cell:
    fields: dict[str, object] = {
        "mpi": "openmpi",
        "hosts": Hosts(7),
        "rate": "100mbit",
        "calls": 60,
        "native_calls": 60,
    }
    return Cell(**{**fields, **changes})  # type: ignore[arg-type]


def measured(first: float, each: float, calls: int = 60) -> dict[str, float]:
    later = each * (calls - 7)
    return {"calls": calls, "seconds": first + later, "from_eighth": later}


def test_it_starts_wherever_the_reader_stands(tmp_path: Path) -> None:
    command = [sys.executable, unasked.__file__, "--report", "--out", str(tmp_path)]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)


def test_the_limit_is_the_narrowest_port() -> None:
    mbit = 1e6 * kinds_in_lab.GOODPUT / 8  # bytes a second
    assert cell().limit("bcast") == pytest.approx((512 << 10) / (100 * mbit))
    assert cell().limit("gather") == pytest.approx(6 * (32 << 10) / (100 * mbit))
    assert cell(rate="20mbit").limit("bcast") == pytest.approx((512 << 10) / (20 * mbit))
    levels = cell(hosts=Hosts(8, 2))
    assert levels.limit("alltoall") == pytest.approx(2 * 14 * (32 << 10) / (100 * mbit))
    assert levels.limit("allreduce") == pytest.approx(2 * 14 / 16 * (512 << 10) / (100 * mbit))
    assert cell(length=8).limit("gather") == pytest.approx(6 * 8 / (100 * mbit))


def test_a_pause_is_part_of_a_call() -> None:
    pausing = cell(condition="pauses")
    assert pausing.limit("bcast") == pytest.approx(cell().limit("bcast") + 0.03)
    assert pausing.code() == "openmpi-7-100mbit-pauses"
    assert cell(condition="traffic").limit("bcast") == cell().limit("bcast")


def test_or_the_link_between_two_switches() -> None:
    mbit = 1e6 * kinds_in_lab.GOODPUT / 8
    narrow = cell(hosts=Hosts(8), uplink="100mbit")
    assert narrow.limit("bcast") == cell(hosts=Hosts(8)).limit("bcast")
    assert narrow.limit("alltoall") == pytest.approx(4 * 4 * (32 << 10) / (100 * mbit))
    # Of 7 hosts the first switch has 4: all blocks of these must come to the other 3.
    odd = cell(hosts=Hosts(7), uplink="50mbit")
    assert odd.limit("allgather") == pytest.approx(4 * (32 << 10) / (50 * mbit))
    assert odd.limit("scatter") == cell().limit("scatter") == pytest.approx(6 * (32 << 10) / (100 * mbit))


def test_round_one_of_all_cells_comes_before_round_two_of_any(tmp_path: Path) -> None:
    cells = [cell(), cell(mpi="mpich"), cell(hosts=Hosts(6, 3, True))]
    todo = list(unasked.to_measure(cells, 2, tmp_path))
    assert [number for _, number in todo] == [0, 0, 0, 1, 1, 1]
    assert {one for one, number in todo if number == 0} == set(cells)


def test_what_is_there_is_not_measured_again(tmp_path: Path) -> None:
    one, other = cell(), cell(mpi="mpich")
    kinds_in_lab.write(kinds_in_lab.file_of(one, tmp_path), one, [{"number": 0}])
    kinds_in_lab.write(
        kinds_in_lab.file_of(other, tmp_path), other, [{"number": 0, "failed": "native: it did"}]
    )
    assert sorted(number for _, number in unasked.to_measure([one, other], 2, tmp_path)) == [1, 1]
    failed = [{"number": number, "failed": "native: it did"} for number in range(2)]
    kinds_in_lab.write(kinds_in_lab.file_of(other, tmp_path), other, failed)
    assert list(unasked.to_measure([one, other], 3, tmp_path)) == [(one, 1), (one, 2)]
    assert kinds_in_lab.read(kinds_in_lab.file_of(one, tmp_path)) == (one, [{"number": 0}])
    with pytest.raises(SystemExit, match="other calls"):
        kinds_in_lab.rounds_of(cell(calls=30), tmp_path)


def test_the_second_run_follows_the_first() -> None:
    assert unasked.order_of(0, False) == ["native", "unisono"]
    assert unasked.order_of(1, True) == ["unisono", "second", "native"]


def test_calls_not_measured_are_like_those_from_the_eighth_on() -> None:
    assert unasked.whole(measured(7.0, 0.5), 60) == pytest.approx((7 + 53 * 0.5) / 60)
    assert unasked.whole(measured(7.0, 0.5, calls=10), 60) == pytest.approx((7 + 53 * 0.5) / 60)


def test_the_report(tmp_path: Path) -> None:
    one = cell(native_calls=10)
    limit = one.limit("bcast")
    rounds = [
        {
            "number": number,
            "load": 0.5,
            "native": {"bcast": measured(7 * 4 * limit, 4 * limit, calls=10)},
            "unisono": {"bcast": measured(7 * 4 * limit, (1 + number / 100) * limit)},
        }
        for number in range(6)
    ]
    rounds.append({"number": 6, "load": 9.5, "failed": "native: TimeoutExpired: \nmore"})
    kinds_in_lab.write(kinds_in_lab.file_of(one, tmp_path), one, rounds)
    text = "\n".join(unasked.report(tmp_path))
    assert "### openmpi, 7 hosts at 100mbit" in text
    assert "6 rounds; 60 calls of Unisono measured; of native 10, and the other 50 taken as" in text
    assert "load of the machine 0.5 to 9.5; failed: native: TimeoutExpired: ." in text
    # Unisono's program: 7 calls as native's, 53 at 1.00 to 1.05 of the limit.
    low, high = (7 * 4 + 53) / 240, (7 * 4 + 53 * 1.05) / 240
    assert f"({low:.2f} to {high:.2f}) | 0.26 (0.25 to 0.26) | 4.00 | 1.02 (1.00 to 1.05) |" in text
    assert "at 1.15 of the limit or below: 1 of 1 (native: 0)" in text
    assert "whole program below 0.97 of native's speed: 0 of 1; the worst: bcast on openmpi" in text


def test_a_loss_is_in_the_summary(tmp_path: Path) -> None:
    one = cell()
    limit = one.limit("gather")
    unisono, second = measured(7 * limit, 1.2 * limit), measured(7 * limit, limit)
    native = measured(7 * limit, limit)
    found = {"number": 0, "load": 0, "native": {"gather": native}, "unisono": {"gather": unisono}}
    kinds_in_lab.write(kinds_in_lab.file_of(one, tmp_path), one, [{**found, "second": {"gather": second}}])
    text = "\n".join(unasked.report(tmp_path))
    assert "all 60 calls measured of both" in text
    assert "at 1.15 of the limit or below: 0 of 1 (native: 1); below 0.95 of native's speed: 1" in text
    assert "whole program below 0.97 of native's speed: 1 of 1" in text
    assert "second run, all its calls: at 1.15 of the limit or below: 1 of 1" in text
    assert read_json(kinds_in_lab.file_of(one, tmp_path))["cell"]["rate"] == "100mbit"


def test_short_messages_have_no_limit(tmp_path: Path) -> None:
    one = cell(length=8)
    native = {"bcast": measured(0.01, 1e-3)}
    found = {"number": 0, "load": 0, "native": native, "unisono": native}
    kinds_in_lab.write(kinds_in_lab.file_of(one, tmp_path), one, [found])
    text = "\n".join(unasked.report(tmp_path))
    assert (
        "### All cells, short messages\n\n- from the 8th call on below 0.95 of native's speed: 0 of 1" in text
    )
    assert "twice the limit" not in text
