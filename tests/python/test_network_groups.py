"""Calls of several groups of hosts at once: unisono-network groups."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from unisono.core import places

LINK = 425e6


def groups(*arguments: str) -> subprocess.CompletedProcess[str]:
    line = [
        str(places.program("unisono-network")),
        "groups",
        "--network",
        "torus:4x4x4",
        "--routing",
        "directed",
    ]
    line += ["--bandwidth", f"{LINK:g}", "--latency", "1e-7", *arguments]
    return subprocess.run(line, check=False, capture_output=True, text=True)


def line_of(*arguments: str) -> dict[str, Any]:
    done = groups("--bytes", "1048576", *arguments)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("count", [2, 6])
def test_groups_that_cooperate_share_all_links(count: int) -> None:
    told = line_of(
        "--groups", f"random:{count}:seed=3", "--collective", "bcast", "--algorithm", "cooperate:segment=2K"
    )
    assert (told["groups"], told["trees_of_each"], told["sharing"]) == (count, 6 // count, 1)
    assert len(told["seconds_of_group"]) == count
    assert told["seconds"] == max(told["seconds_of_group"])
    assert told["bandwidth"] == pytest.approx(sum(1048576 / s for s in told["seconds_of_group"]))
    # A link's bandwidth for each tree, less what filling the pipelines takes.
    assert 0.75 * 6 * LINK < told["bandwidth"] < 6 * LINK
    apart = line_of(
        *("--groups", f"random:{count}:seed=3", "--collective", "bcast"),
        *("--algorithm", "torus:trees=raster,segment=2K"),
    )
    assert apart["rate"] < told["rate"]
    assert apart["bandwidth"] < told["bandwidth"]


def test_groups_in_a_file(tmp_path: Path) -> None:
    # Two lines of the torus, which do not meet.
    where = tmp_path / "groups"
    where.write_text("0 1 2 3  # its root is 0\n\n20 21 22 23\n")
    told = line_of("--groups", str(where), "--collective", "bcast", "--algorithm", "chain:segment=4K")
    assert told["groups"] == 2
    assert told["seconds_of_group"][0] == told["seconds_of_group"][1]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--groups", "random:0"], "there are 64 hosts"),
        (["--groups", "random:65"], "there are 64 hosts"),
        (["--groups", "nowhere"], "write random:N, random:N:seed=S, or a file"),
        (["--groups", "random:2", "--root", "1"], "without --hosts and --root"),
        (
            ["--groups", "random:2", "--algorithm", "cooperate:trees=2k"],
            "write cooperate or cooperate:segment=16K",
        ),
        (
            ["--groups", "random:2", "--collective", "alltoall"],
            "groups cooperate in bcast, reduce and allreduce",
        ),
    ],
)
def test_what_is_wrong_is_one_line(options: list[str], says: str) -> None:
    standard = {"--collective": "bcast", "--algorithm": "cooperate", "--bytes": "4096"}
    standard |= dict(zip(options[::2], options[1::2], strict=True))
    done = groups(*[word for pair in standard.items() for word in pair])
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def test_hosts_in_a_file_are_looked_at(tmp_path: Path) -> None:
    where = tmp_path / "groups"
    for text, says in (
        ("0 1\n1 2\n", "host 1 stands there twice"),
        ("0 64\n", "'64'"),
        ("", "names no host"),
    ):
        where.write_text(text)
        done = groups(
            *("--groups", str(where), "--collective", "bcast", "--algorithm", "cooperate", "--bytes", "4096")
        )
        assert done.returncode == 2
        assert says in done.stderr
