"""Advice on a run that has other algorithms than native already."""

from pathlib import Path

import pytest
from memories import verdict
from traces import Writer
from unisono.advise import machine, predict
from unisono.core import places
from unisono.trace import reader
from unisono.trace.groups import groups

RANKS, SIZE, CALLS, SLOW = 8, 100_000, 10, 0.5
RAN = {"ring:segment=256K": 1, "native": 0}  # the writer's algorithms
LINE = [{"from_bytes": 0, "alpha_s": 1e-5, "beta_s_per_byte": 1e-7}]
COSTS = {
    **{"format": "unisono-machine", "version": 1, "mpi": {"flavour": "mpich", "library": "by hand"}},
    "levels": {"between_nodes": {"one_way": LINE, "gap": LINE, "exchange": [], "active": 1}},
    **{"reduce_s_per_byte": 0.0, "copy_s_per_byte": 0.0, "wake_s": 0.0},
}


@pytest.mark.parametrize(("ran", "gains"), [("ring:segment=256K", []), ("native", ["ring:segment=256K"])])
def test_what_runs_already_gains_nothing(tmp_path: Path, ran: str, gains: list[str]) -> None:
    """What jobs remember is a ratio to native, and of the first trace no call is native's."""
    places.program("unisono-model")
    row = verdict(("allreduce", SIZE, RANKS, RANKS), "ring:segment=256K", 0.1, 0.4)
    writer = Writer(tmp_path / "trace", RANKS)
    for number in range(CALLS):
        now = 1.0 + number
        writer.call("allreduce", [now] * RANKS, [now + SLOW] * RANKS, SIZE, algorithm=RAN[ran])
    found = groups(reader.read(writer.write()))
    kept = machine.Machine(COSTS, "mpich-1.json", {"verdicts": [row]})
    (advice,) = predict.advise(found, found, kept, tmp_path)
    assert [gain.spec for gain in advice.gains if gain.source == "memory"] == gains
    assert (advice.gain("ring:segment=256K") is not None) is bool(gains)
