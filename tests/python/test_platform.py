"""`unisono platform`: what is shown of good and of spoiled files, and that they go."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from conftest import Run


def memory() -> dict[str, Any]:
    cost = [{"from_bytes": 0, "alpha_s": 60e-6, "beta_s_per_byte": 80e-9}]
    return {
        "format": "unisono-memory",
        "version": 1,
        "where": {
            "mpi": {"flavour": "mpich", "library": "MPICH 4.2"},
            "host": {"processor": "a processor", "cores": 4},
            "network": "eth0 10.0.0.0/24",
        },
        "measured": 1_700_000_000,
        "machine": {"levels": {"between_nodes": {"one_way": cost}}},
        "choices": [
            {
                "collective": "bcast",
                "choice": "chain:segment=4K",
                "bytes": 524288,
                "ranks": 7,
                "nodes": 7,
                "seconds": 0.045,
                "predicted_seconds": 0.047,
                "native_seconds": 0.32,
            }
        ],
    }


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "unisono" / "mpich-0123456789abcdef.json"
    path.parent.mkdir()
    path.write_text(json.dumps(memory()))
    return path


def test_shows_predicted_measured_and_native(unisono: Run, file: Path) -> None:
    done = unisono("platform", "show")
    assert done.returncode == 0, done.stderr
    for text in (file.name, "MPICH 4.2", "60.0 us, 100 Mb/s", "chain:segment=4K", "45", "47", "320"):
        assert text in done.stdout


def test_forgets(unisono: Run, file: Path) -> None:
    assert unisono("platform", "forget", "other.json").returncode == 2
    assert unisono("platform", "forget", file.name).returncode == 0
    assert not file.exists()
    assert "nothing is remembered yet" in unisono("platform", "show").stdout


@pytest.mark.parametrize("spoilt", ["", "[", "[" * 100_000, "[]", '{"format": "unisono-memory"}', "\0\xff"])
def test_a_spoilt_file_is_one_line_and_can_be_forgotten(unisono: Run, file: Path, spoilt: str) -> None:
    file.write_text(spoilt)
    done = unisono("platform", "show")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert str(file) in done.stderr
    assert unisono("platform", "forget").returncode == 0
    assert not file.exists()


def test_a_pipe_is_not_waited_for(unisono: Run, file: Path) -> None:
    file.unlink()
    os.mkfifo(file)
    assert unisono("platform", "show").returncode == 2
    assert unisono("platform", "forget").returncode == 0
    assert not file.exists()
