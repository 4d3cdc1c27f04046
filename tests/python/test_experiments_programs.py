"""The harness of programs: what it reads from their output, and how results are compared."""

import json
import subprocess
from pathlib import Path

import pytest
from unisono.core import places
from unisono.core.errors import UnisonoError
from unisono.lab import cluster, layout
from unisono.testbeds import beds

from experiments.programs import cells, installing, running
from experiments.programs.cells import Cell
from experiments.programs.judge import Kind, Verdict, judge
from experiments.programs.program import INPUTS, Program, Quantity, Ran
from experiments.tables import harmless

ENERGY = Quantity("energy", r"energy = #", tolerance=1e-6)


def ran(*energies: str, own: int = 5, problem: str = "") -> Ran:
    return Ran(problem, 1.0, None, {"energy": energies}, own, 3)


def verdict(native: list[Ran], ours: list[Ran], of: Quantity = ENERGY) -> Verdict:
    return judge([of], native, ours)


def test_numbers_and_words_are_read(tmp_path: Path) -> None:
    text = "step 1 energy = -15.8 Ry\nstep 2 energy = 1.5D-03 Ry\nenergy = .5\nFT 3 4.0 PASSED\n"
    assert ENERGY.read(text, tmp_path) == ("-15.8", "1.5D-03", ".5")
    assert Quantity("tests", r"^FT #.*(PASSED|FAILED)$").read(text, tmp_path) == ("3", "PASSED")
    assert Quantity("first", r"energy = #", first=1).read(text, tmp_path) == ("-15.8",)
    assert Quantity("any order", r"^rank (\d)", sort=True).read("rank 1\nrank 0\n", tmp_path) == ("0", "1")


def test_a_file_is_its_checksum(tmp_path: Path) -> None:
    of = Quantity("file", file="*.h5")
    assert of.read("", tmp_path) == ()
    (tmp_path / "a.h5").write_bytes(b"1")
    before = of.read("", tmp_path)
    (tmp_path / "a.h5").write_bytes(b"2")
    assert len(before) == 1 and of.read("", tmp_path) != before


def test_own_times() -> None:
    program = Program("p", "", (), (), seconds=r"(?:(\d+)m)? *#s WALL")
    assert program.own_seconds("1m 2.5s WALL\n0.5s WALL\n") == 0.5
    assert program.own_seconds("1m 2.5s WALL\n") == 62.5
    assert program.own_seconds("no time") is None


def test_bitwise() -> None:
    assert verdict([ran("1.0")] * 3, [ran("1.0")] * 3).kind == Kind.BITWISE


def test_near_though_natively_equal_is_told_apart() -> None:
    found = verdict([ran("1.0")] * 3, [ran("1.0"), ran("1.0000001")])
    assert found.kind == Kind.NEAR and found.apart == pytest.approx(1e-7)


def test_what_differs_natively_may_differ_as_much() -> None:
    native = [ran("1.0"), ran("1.2")]
    assert verdict(native, [ran("1.1")]).kind == Kind.SPREAD
    beyond = verdict(native, [ran("1.2000001")])
    assert beyond.kind == Kind.BEYOND and beyond.apart == pytest.approx(1e-7 / 1.2, rel=1e-4)
    assert verdict(native, [ran("1.1"), ran("0.9999999")]).kind == Kind.BEYOND  # one of several is enough
    assert harmless.told(beyond).endswith("beyond what differs natively: energy by 8e-08")
    few = verdict(native, [ran("1.2000001", own=0)])
    assert few.kind == Kind.BEYOND, "who ran the calls does not hide it"
    assert verdict(native, [ran("1.3")]).kind == Kind.DIFFERENT


def test_another_order_of_sums_natively_says_how_near_is_near() -> None:
    native, ours = [ran("1.0")] * 3, [ran("1.0000003")] * 2

    def kind(*orders: Ran) -> Kind:
        return judge([ENERGY], native, ours, orders).kind

    assert kind(ran("1.0"), ran("1.0000002")) == Kind.ORDER
    assert kind(ran("1.0"), ran("1.0000001")) == Kind.NEAR  # three times as far
    assert kind(ran("1.0")) == Kind.NEAR
    assert kind(ran("1.0000002", problem="exit status 1")) == Kind.NEAR  # what failed shows nothing
    assert kind(ran("0.9")) == Kind.ORDER  # further than what passes for near
    assert kind(ran("1.0", "1.0")) == Kind.NEAR  # another number of values says nothing of how far
    varying = judge([ENERGY], native, [ran("1.0"), ran("1.0000001")], [ran("0.9")])
    assert varying.kind == Kind.NEAR and varying.varies  # no order, but a different one in each run
    assert judge([ENERGY], native, [ran("1.1")], [ran("1.1")]).kind == Kind.DIFFERENT


@pytest.mark.parametrize("wrong", ["1.1", "nan", "inf", "none", "********"])
def test_different(wrong: str) -> None:
    assert verdict([ran("1.0")] * 3, [ran("1.0"), ran(wrong)]).kind == Kind.DIFFERENT


def test_words_that_differ_natively_cannot_be_compared() -> None:
    assert verdict([ran("5f3a"), ran("77c0")], [ran("a1b2")]).kind == Kind.FAILS
    assert verdict([ran("5f3a"), ran("5f3a")], [ran("a1b2")]).kind == Kind.DIFFERENT


def test_what_fails_natively_hides_no_more_failures_than_those() -> None:
    once = [ran("1.0"), ran("1.0"), ran("1.0", problem="it took more than 60 s")]
    assert verdict(once, once).kind == Kind.FAILS
    twice = [once[0], once[2], once[2]]
    found = verdict(once, twice)
    assert found.kind == Kind.DIFFERENT and "natively 1 of 3" in found.why


def test_a_quantity_that_some_native_runs_do_not_print() -> None:
    assert verdict([ran("1.0"), ran()], [ran("1.0")]).kind == Kind.FAILS


def test_errors_that_are_zero() -> None:
    of = Quantity("energy", "", tolerance=1e-6, zero=1e-9)
    near = verdict([ran("1e-16")], [ran("3e-15")], of)
    assert near.kind == Kind.NEAR and harmless.told(near).endswith("energy where numbers count as zero")
    assert verdict([ran("1e-16")], [ran("1e-5")], of).kind == Kind.DIFFERENT


def test_places_and_quantities_are_all_compared() -> None:
    assert verdict([ran("1.0", "2.0")] * 2, [ran("1.0", "3.0")]).kind == Kind.DIFFERENT
    assert verdict([ran("1.0", "2.0")] * 2, [ran("1.0")]).kind == Kind.DIFFERENT
    assert verdict([ran("1.0", "2.0"), ran("1.0")], [ran("1.0")]).kind == Kind.SPREAD
    other = Quantity("word", "")
    two = [Ran("", 1.0, None, {"energy": ("1.0",), "word": (word,)}, 1) for word in ("yes", "no")]
    assert judge([ENERGY, other], two[:1], two[1:]).kind == Kind.DIFFERENT


def test_a_run_that_fails_or_tells_nothing_is_never_equal() -> None:
    good, bad = ran("1.0"), ran(problem="killed by SIGSEGV: no output")
    assert verdict([good, bad], [good]).kind == Kind.FAILS
    found = verdict([good, good], [good, bad])
    assert found.kind == Kind.DIFFERENT and "1 of 2 runs: killed by SIGSEGV" in found.why
    assert verdict([ran()], [ran()]).kind == Kind.FAILS
    missing = Cell("p", "mpich", 2, (), (), missing="no apt-get here")
    assert cells.verdict(missing, Program("p", "", (), ())).kind == Kind.MISSING


def test_equal_results_without_a_call_of_ours_are_no_pass() -> None:
    assert verdict([ran("1.0")], [ran("1.0", own=0)]).kind == Kind.IDLE
    assert verdict([ran("1.0")], [ran("2.0", own=0)]).kind == Kind.DIFFERENT
    assert verdict([ran("1.0")], [ran("1.0", own=4)]).kind == Kind.IDLE
    few = Ran("", 1.0, None, {"energy": ("1.0",)}, own=9, left=91)
    assert verdict([ran("1.0")], [few]).kind == Kind.IDLE


def test_few_calls_hide_no_difference() -> None:
    found = verdict([ran("1.0")] * 2, [ran("1.0000001", own=0), ran("1.0", own=0)])
    assert found.kind == Kind.NEAR and found.varies
    told = harmless.told(found)
    assert told.startswith("near, ") and told.endswith("energy by 1e-07, and differs from run to run")
    assert not verdict([ran("1.0")] * 2, [ran("1.0000001")] * 2).varies
    assert not verdict([ran("1.0"), ran("1.1")], [ran("1.0"), ran("1.05")]).varies


def test_a_wide_tolerance_is_one() -> None:
    """Of residuals only the order of magnitude is compared."""
    of = Quantity("energy", "", tolerance=1.0)
    assert verdict([ran("2e-15")], [ran("1e-15")], of).kind == Kind.NEAR
    assert verdict([ran("2e-15")], [ran("9.9e99")], of).kind == Kind.DIFFERENT


def test_cells_survive_their_file() -> None:
    cell = Cell("p", "mpich", 2, (ran("1.0"),), (ran("1.0"),), orders=(ran("1.1"),))
    assert Cell.from_data(json.loads(json.dumps(cell.as_data()))) == cell


def test_every_entry_is_complete() -> None:
    programs = installing.all_programs().values()
    assert len(programs) > 40
    for program in programs:
        assert program.what and program.command and program.quantities, program.name
        for of in program.quantities:
            assert bool(of.pattern) != bool(of.file), (program.name, of.name)
            of.read("", Path("/nonexistent"))
        words = [*program.command, program.build, program.prepare, *program.files.values()]
        for word in words:
            for named in word.split("{inputs}/")[1:]:
                assert (INPUTS / named.split()[0]).exists(), (program.name, named)
        assert set(program.mpis) <= set(harmless.LIBRARIES)
        assert all("==" in wheel for wheel in (*program.wheels, *program.sources))


def test_an_unknown_program() -> None:
    with pytest.raises(UnisonoError, match="nonesuch: no such program; there are "):
        installing.chosen("nonesuch")


def test_a_build_that_fails_says_the_error(tmp_path: Path) -> None:
    with pytest.raises(UnisonoError, match=r"building: a\.c: error: what"):
        installing.checked(
            ["bash", "-c", "echo one; echo 'a.c: error: what' >&2; exit 1"], tmp_path, "building"
        )


def test_counts_of_a_ranks_processes_add_up(tmp_path: Path) -> None:
    assert running.counted(tmp_path) == (0, 0)
    (tmp_path / "counts").mkdir()
    (tmp_path / "counts" / "0").write_text("5 1\n2 3\n")
    assert running.counted(tmp_path) == (7, 4)


def test_what_the_lab_preloads_is_in_both_arms(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it MPICH's ranks would spin on shared cores under Unisono only."""
    monkeypatch.setattr(cluster, "yielding", lambda: Path("/yield.so"))
    plan = layout.Plan(hosts=2, rate=100_000_000)
    lab = beds.Lab(cluster.Lab("lab", plan.all_hosts(), 1e8, plan, Path("/lab")))
    mpich, openmpi = (places.Mpi(flavour, Path("/usr")) for flavour in ("mpich", "openmpi"))
    assert running.preloaded_by(lab, mpich) == [Path("/yield.so")]
    assert running.preloaded_by(lab, openmpi) == running.preloaded_by(beds.Node(), mpich) == []


def test_the_counting_library_counts(tmp_path: Path) -> None:
    """A program that has unisono_counts; a child without calls adds no line."""
    source = "void unisono_counts(unsigned long long* a, unsigned long long* b) { *a = 7, *b = 2; }\n"
    (tmp_path / "main.c").write_text(source + "int main(void) { return 0; }\n")
    subprocess.run(["cc", "-rdynamic", "main.c", "-o", "main"], cwd=tmp_path, check=True)
    library = tmp_path / "counts.so"
    subprocess.run(
        ["cc", "-shared", "-fPIC", str(INPUTS / "counts.c"), "-o", str(library), "-ldl"],
        check=True,
    )
    (tmp_path / "counts").mkdir()
    variables = {"LD_PRELOAD": str(library), "COUNTS_FOLDER": str(tmp_path / "counts"), "PMI_RANK": "0"}
    subprocess.run([str(tmp_path / "main")], env=variables, check=True)
    subprocess.run(["/bin/true"], env=variables, check=True)
    assert running.counted(tmp_path) == (7, 2)


def test_a_cell_that_differs_is_told_in_one_short_line() -> None:
    found = harmless.told(Verdict(Kind.DIFFERENT, "exit status 139: " + "x" * 500))
    assert found.startswith("**different**: exit status 139") and len(found) < 160


def test_times_of_failed_runs_do_not_count() -> None:
    runs = [ran("1"), Ran("", 4.0, 3.0, {}), Ran("", 2.0, None, {}), ran("1", problem="killed")]
    assert harmless.taken(runs) == (2.0, 3.0)
