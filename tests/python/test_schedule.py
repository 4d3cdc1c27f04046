"""unisono schedule: orders of messages, from counts to files and drawings."""

import json
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from conftest import Run
from unisono.core import places

Done = subprocess.CompletedProcess[str]
SCHEMA = json.loads((places.REPOSITORY / "docs" / "reference" / "schedule.schema.json").read_text())
# Figure 3 of Karwande, Yuan, Lowenthal (2003).
FIGURE_3: dict[str, Any] = {
    "ranks": 6,
    "messages": [[0, 1, 1000000], [1, 3, 1000000], [0, 2, 10000], [2, 3, 100], [1, 5, 100], [2, 1, 100]],
}


def ok(done: Done, said: str = "") -> Done:
    assert done.returncode == 0, done.stderr
    assert said in done.stdout, done.stdout
    return done


def fails(done: Done, said: str) -> None:
    assert done.returncode != 0
    assert said in done.stderr, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr


@pytest.fixture
def counts(tmp_path: Path) -> Path:
    file = tmp_path / "counts.json"
    file.write_text(json.dumps(FIGURE_3))
    return file


@pytest.mark.parametrize("rule", ["token_list", "greedy", "all_to_all_based", "edge_colouring"])
def test_files_are_as_the_schema_says(unisono: Run, counts: Path, tmp_path: Path, rule: str) -> None:
    made = tmp_path / "order.json"
    ok(unisono("schedule", "make", str(counts), "-o", str(made), "--rule", rule))
    document = json.loads(made.read_text())
    jsonschema.validate(document, SCHEMA)
    stored = sorted(message for phase in document["order"] for message in phase)
    assert stored == sorted(FIGURE_3["messages"])


def test_phases_are_those_of_the_paper(unisono: Run, counts: Path, tmp_path: Path) -> None:
    made = tmp_path / "order.json"
    ok(unisono("schedule", "make", str(counts), "-o", str(made), "--rule", "greedy"), "in 3 phases")
    document = json.loads(made.read_text())
    phases = [{(sender, receiver) for sender, receiver, _ in phase} for phase in document["order"]]
    assert phases == [{(0, 1), (1, 3)}, {(0, 2), (2, 3), (1, 5)}, {(2, 1)}]
    shown = ok(unisono("schedule", "show", str(made), "--rank", "1")).stdout
    assert shown.splitlines()[1:] == [
        "rank 1",
        "  phase 0",
        "    from 0  1000000 B",
        "    to   3  1000000 B",
        "  phase 1",
        "    to   5  100 B",
        "  phase 2",
        "    from 2  100 B",
    ]


def test_check_says_what_is_wrong(unisono: Run, counts: Path, tmp_path: Path) -> None:
    made, full = tmp_path / "order.json", tmp_path / "full.csv"
    ok(unisono("schedule", "make", str(counts), "-o", str(made)))
    ok(unisono("schedule", "check", str(made), "-n", "6", "--matrix", str(counts)), "1.000 times")
    fails(unisono("schedule", "check", str(made), "-n", "7"), "it is for 6 ranks, not for 7")
    full.write_text("1 1 1 1 1 1\n" * 6)
    lacking = unisono("schedule", "check", str(made), "--matrix", str(full))
    fails(lacking, "it does not hold the message from 0 to 3")
    made.write_text(made.read_text().replace("[0,1,1000000]", "[0,0,1000000]"))
    fails(unisono("schedule", "check", str(made)), "rank 0 sends to itself")
    fails(unisono("schedule", "make", str(tmp_path / "none.csv"), "-o", str(made)), "none.csv")


def test_the_drawing_has_every_message_in_two_lanes(unisono: Run, counts: Path, tmp_path: Path) -> None:
    made, picture = tmp_path / "order.json", tmp_path / "order.svg"
    ok(unisono("schedule", "make", str(counts), "-o", str(made), "--rule", "all_to_all_based"))
    ok(unisono("schedule", "draw", str(made), "-o", str(picture)), "wrote")
    root = ElementTree.fromstring(picture.read_text())
    bars = [e for e in root.iter("{http://www.w3.org/2000/svg}rect") if e.attrib.get("class") == "message"]
    assert len(bars) == 2 * len(FIGURE_3["messages"])
    right = float(root.attrib["width"])
    for bar in bars:
        assert 0 <= float(bar.attrib["x"]) <= float(bar.attrib["x"]) + float(bar.attrib["width"]) <= right
