"""Traces that are cut off, incomplete or wrong; call sites; clocks; phases."""

import json
import re
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from traces import Writer
from unisono.core.errors import UnisonoError
from unisono.trace.analysis import analyse
from unisono.trace.clock import DRIFT, Clock, Reading
from unisono.trace.metrics import OneWay
from unisono.trace.phases import phases
from unisono.trace.reader import ranks_text, read
from unisono.trace.schema import EVENT
from unisono.trace.summary import Summary, summarise


def written(folder: Path, **more: bool) -> Path:
    writer = Writer(folder, 3, ended=more.get("ended", True))
    for k in range(1, 6):
        writer.call("allreduce", [k, k + 0.1, k + 0.2], [k + 0.3] * 3, 8)
    return writer.write()


def report(folder: Path) -> Summary:
    return summarise(analyse(read(folder)))


def calls(folder: Path) -> int:
    whole = report(folder).whole
    return whole.calls if whole else 0


def events_file(folder: Path, rank: int) -> Path:
    return folder / f"rank-{rank:05}.events"


def test_zeros_of_a_killed_process_mean_nothing(tmp_path: Path) -> None:
    folder = written(tmp_path)
    for rank in range(3):
        with events_file(folder, rank).open("ab") as file:
            file.write(bytes(1 << 20))
    assert read(folder).events == 15
    assert calls(folder) == 5


def test_an_event_file_cut_off_in_a_record(tmp_path: Path) -> None:
    folder = written(tmp_path)
    path = events_file(folder, 1)
    path.write_bytes(path.read_bytes()[: 3 * EVENT.itemsize + 17])
    found = report(folder)
    assert found.whole is not None
    assert found.whole.calls == 3
    assert found.analysis.count.incomplete == 2
    assert "rank-00001.events: cut off in a record, which is left out" in found.analysis.trace.notes


@pytest.mark.parametrize("damage", ["missing", "empty"])
def test_a_rank_without_events_makes_its_calls_incomplete(tmp_path: Path, damage: str) -> None:
    folder = written(tmp_path)
    path = events_file(folder, 1)
    path.write_bytes(b"")
    if damage == "missing":
        path.unlink()
    found = report(folder)
    assert found.whole is None
    assert found.analysis.count.incomplete == 5


def test_a_missing_rank_is_said_and_the_others_are_judged(tmp_path: Path) -> None:
    folder = written(tmp_path)
    (folder / "rank-00002.jsonl").unlink()
    found = report(folder)
    assert found.whole is not None
    assert found.whole.worst_time == pytest.approx(0.1)
    assert any(note.startswith("no trace of rank 2:") for note in found.analysis.trace.notes)


def test_an_aborted_program_has_times_but_no_factors(tmp_path: Path) -> None:
    found = report(written(tmp_path, ended=False))
    assert found.whole is not None
    assert found.whole.worst_time == pytest.approx(0.2)
    assert found.whole.worst_factor is None
    # One reading of each clock only: 50 ppm from then on.
    assert found.whole.clock_error > 2 * DRIFT * 1
    notes = found.analysis.trace.notes
    assert any(note.startswith("ranks 0-2 did not end in MPI_Finalize") for note in notes)
    assert any(note.startswith("no one-way times") for note in notes)


def test_lines_that_are_no_json_or_incomplete_are_left_out(tmp_path: Path) -> None:
    folder = written(tmp_path)
    path = folder / "rank-00001.jsonl"
    path.write_text(path.read_text() + '{"kind":"clock"}\n[]\n{"kind":"algor')
    notes = read(folder).notes
    assert "rank-00001.jsonl: 2 line(s) are no JSON and left out" in notes
    assert "rank-00001.jsonl: a line of kind clock is incomplete and left out" in notes
    assert calls(folder) == 5


def test_a_newer_format_is_refused_in_one_line(tmp_path: Path) -> None:
    folder = written(tmp_path)
    path = folder / "rank-00001.jsonl"
    path.write_text(path.read_text().replace('"format": 1', '"format": 2'))
    with pytest.raises(UnisonoError, match="trace format 2, this Unisono reads 1"):
        read(folder)


def test_random_bytes_never_crash(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    for _ in range(20):
        folder = written(tmp_path)
        path = events_file(folder, int(random.integers(3)))
        data = bytearray(path.read_bytes())
        for at in random.integers(0, len(data), 40):
            data[at] = int(random.integers(256))
        path.write_bytes(data)
        report(folder)


def test_ranks_in_words() -> None:
    assert ranks_text([3]) == "rank 3"
    assert ranks_text([15, 12, 13, 14, 0]) == "ranks 0, 12-15"
    assert ranks_text(list(range(0, 20, 2))) == "ranks 0, 2, 4, 6 and others"


def test_clock_is_linear_between_readings_and_less_sure_outside() -> None:
    clock = Clock([Reading(2_000_000_000, 300, 10), Reading(1_000_000_000, 100, 20)])
    local = np.array([1_000_000_000, 1_500_000_000, 2_000_000_000, 3_000_000_000], np.int64)
    assert (clock.corrected(local) - local).tolist() == [100, 200, 300, 300]
    assert clock.error(local).tolist() == pytest.approx([20, 20, 20, 20 + DRIFT * 1e9])
    assert Clock([]).error(local).min() > 1e15
    assert Clock([Reading(1_000_000_000, 0, 0)]).error(local).max() == 0  # rank 0's own clock


def test_a_reading_is_no_worse_than_the_other_and_the_drift_allow() -> None:
    good, bad = Reading(1_000_000_000, 100, 20), Reading(2_000_000_000, 15e6, 18e6)
    for readings in ([good, bad], [bad, good]):
        clock = Clock(readings)
        assert clock.first == good
        assert clock.last.offset_ns == pytest.approx(100)
        assert clock.error(np.array([1_500_000_000], np.int64))[0] == pytest.approx(20 + DRIFT * 1e9)
    late = Clock([Reading(1_000_000_000, 15e6, 18e6), Reading(2_000_000_000, 100, 20)])
    assert late.first.offset_ns == pytest.approx(100)


def test_readings_that_contradict_each_other_stay_as_they_are() -> None:
    stepped = Reading(1_000_000_000, 100, 20), Reading(2_000_000_000, 1e6, 30)
    assert (Clock(stepped).first, Clock(stepped).last) == stepped


def test_clock_is_exact_after_months_of_uptime() -> None:
    local = np.array([2**62 + 1], np.int64)
    assert Clock([Reading(2**62, 5, 1)]).corrected(local).tolist() == [2**62 + 6]


def test_one_way_times_between_and_outside_the_measured() -> None:
    one_way = OneWay({1: 10e-6, 100: 40e-6})
    assert one_way.time(np.array([0, 1, 10, 100, 200])).tolist() == pytest.approx(
        [10e-6, 10e-6, 20e-6, 40e-6, 80e-6]
    )
    assert np.isnan(OneWay({}).time(np.array([8.0]))).all()


@pytest.mark.parametrize(
    ("levels", "borders"),
    [
        ([(1e-3, 400)], []),
        ([(1e-3, 300), (4e-3, 200)], [300]),
        ([(1e-3, 475), (10e-3, 50), (1e-3, 475)], [475, 525]),
        ([(1e-3, 5000), (10e-3, 5000)], [5000]),
        ([(1e-3, 5)], []),
    ],
)
def test_phases(levels: list[tuple[float, int]], borders: list[int]) -> None:
    random = np.random.default_rng(3)
    series = np.concatenate([level * random.lognormal(0, 0.3, count) for level, count in levels])
    series[::37] *= 50  # spikes are no phases
    found = phases(series, 1e-6)
    assert [phase.first for phase in found[1:]] == pytest.approx(borders, abs=20)
    assert found[0].first == 0
    assert found[-1].last == len(series) - 1
    assert all(a.last + 1 == b.first for a, b in pairwise(found))


def test_noise_is_rarely_taken_for_a_phase() -> None:
    random = np.random.default_rng(11)
    lengths = random.integers(20, 1500, 60)
    wrong = sum(len(phases(random.lognormal(-7, 1.0, int(n)), 1e-9)) > 1 for n in lengths)
    assert wrong <= 1


PROGRAM = """
#include <stdio.h>
void* site;
__attribute__((noinline)) void collective(void) {
  site = __builtin_return_address(0);
  __asm__ volatile("");
}
static inline __attribute__((always_inline)) void wrapper(void) {
  collective();  // 9
  __asm__ volatile("");
}
int main(void) {
  collective();  // 13
  printf("%p\\n", site);
  wrapper();  // 15
  printf("%p\\n", site);
  FILE* maps = fopen("/proc/self/maps", "r");
  for (int c; (c = fgetc(maps)) != EOF;) putchar(c);
  return 0;
}
"""


@pytest.mark.parametrize("options", [["-g", "-O2", "-pie", "-fPIE"], ["-g", "-O2", "-no-pie"], ["-O2", "-s"]])
def test_sites_are_lines_of_the_source(tmp_path: Path, options: list[str]) -> None:
    """The outermost frame: line 15, where wrapper() was inlined, not line 9 in it."""
    if not shutil.which("gcc"):
        pytest.fail("no gcc")
    source, program = tmp_path / "app.c", tmp_path / "app"
    source.write_text(PROGRAM)
    subprocess.run(["gcc", *options, "-o", str(program), str(source)], check=True)
    lines = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout.splitlines()
    modules = []
    for line in lines[2:]:
        found = re.fullmatch(r"(\w+)-(\w+) r-x\w (\w+) \S+ \d+ +(/.*)", line)
        if found:
            start, end, offset = (f"0x{part}" for part in found.groups()[:3])
            modules.append({"path": found[4], "start": start, "end": end, "offset": offset})
    writer = Writer(tmp_path / "trace", 2, modules=modules)
    for number, address in enumerate(lines[:2], start=1):
        writer.call("barrier", [number, number], [number + 0.1] * 2, site=int(address, 16))
    found_sites = sorted(site.place.text for site in report(writer.write()).sites)
    if "-g" in options:
        assert found_sites == ["app.c:13", "app.c:15"]
    else:
        assert all(re.fullmatch(r"app\+0x[0-9a-f]+", text) for text in found_sites)


def test_ranks_that_load_a_module_elsewhere_are_at_the_same_site(tmp_path: Path) -> None:
    writer = Writer(tmp_path, 2)
    writer.call("barrier", [1, 1], [2, 2], site=[0x2000, 0x7000])
    folder = writer.write()
    path = folder / "rank-00001.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[1]["modules"][0] |= {"start": "0x6000", "end": "0xe000"}
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    [site] = report(folder).sites
    assert site.several == 0
    assert site.place.text == "app+0x1000"
