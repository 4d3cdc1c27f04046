"""What unisono advise says of traces that do not tell enough: one line."""

from pathlib import Path

import pytest
from traces import ONE_WAY, Writer
from unisono.advise import machine, result
from unisono.core.errors import UnisonoError
from unisono.trace import reader

RANKS, SIZE = 4, 16384


@pytest.fixture(autouse=True)
def nothing_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))


def trace(folder: Path, one_way: dict[int, float], ranks: int = RANKS, size: int = SIZE) -> Path:
    writer = Writer(folder, ranks, one_way=one_way)
    for now in range(1, 9):
        writer.call("bcast", [now] * ranks, [now + 0.5] * ranks, size, root=0)
    return writer.write()


@pytest.mark.parametrize("one_way", [{1: 1e-3}, {1: 1e-3, 16: 1.5e-3}])
def test_short_messages_say_nothing_of_long_ones(tmp_path: Path, one_way: dict[int, float]) -> None:
    """Of a port of 1 Mb/s MPI_Finalize times a byte; then every byte more seemed to cost nothing."""
    with pytest.raises(UnisonoError, match=f"timed none of more than {max(one_way)} B") as caught:
        result.of_folder(trace(tmp_path / "trace", one_way), None)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("one_way", "size"),
    [
        ({1: 1e-3, 64: 1e-3}, 64),
        ({1: 1e-3, 1024: 3e-3}, SIZE),
        ({1: 1e-5, 1 << 24: 1e-5}, 1 << 25),
        (ONE_WAY, SIZE),
    ],
)
def test_messages_as_long_as_the_programs_or_dearer_ones_do(
    tmp_path: Path, one_way: dict[int, float], size: int
) -> None:
    read = reader.read(trace(tmp_path / "trace", one_way, size=size))
    assert machine.of_trace(read, None).source == "the trace's own one-way times"


def test_of_one_rank_there_is_nothing_to_advise_whatever_messages_cost(tmp_path: Path) -> None:
    with pytest.raises(UnisonoError, match="no collective of two ranks or more"):
        result.of_folder(trace(tmp_path / "trace", {}, ranks=1), None)
