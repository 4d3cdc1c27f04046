"""What all commands have in common: their help, their names, their tables, their statuses, their JSON."""

import importlib
import io
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
import typer
from conftest import Run
from rich.console import Console
from rich.table import Table
from typer.testing import CliRunner
from unisono import catalogue_cli, cli
from unisono.compare import results
from unisono.core import catalogue, completion, console, documents, errors, places
from unisono.core.errors import RunError, SetupError, UnisonoError

ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
FORMER = {"--model", "--time-budget", "--bytes", "--algorithms", "--spec", "--export", "--seconds"}


def below(command: Any, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    found = [(path, command)]
    for name, each in getattr(command, "commands", {}).items():
        found += below(each, (*path, name))
    return found


COMMANDS = below(typer.main.get_command(cli.command_line()))


@pytest.mark.parametrize("path", [path for path, _ in COMMANDS], ids=lambda path: " ".join(path) or "unisono")
def test_help_fits_eighty_columns(path: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = CliRunner().invoke(cli.command_line(*path[:1]), [*path, "--help"], prog_name="unisono")
    assert shown.exit_code == 0, shown.output
    assert "Usage: unisono" in shown.output
    assert max(map(len, shown.output.splitlines())) <= 80
    assert ELLIPSIS not in shown.output, "something is cut"


def test_there_are_all_commands() -> None:
    names = {path[0] for path, _ in COMMANDS if path}
    assert len(COMMANDS) > 40
    assert names <= set(cli.ORDER), "cli.PANELS says where a command is shown"


def test_an_option_has_one_name() -> None:
    options = [
        (path, parameter)
        for path, command in COMMANDS
        for parameter in command.params
        if parameter.param_type_name == "option"
    ]
    for path, parameter in options:
        assert not FORMER & set(parameter.opts), f"{' '.join(path)}: {parameter.opts}"
        assert parameter.help, f"{' '.join(path)} {parameter.opts}: without a word of help"
        if "--json" in parameter.opts:
            assert parameter.metavar == "FILE|-", path
    results_told = {path for path, parameter in options if "--json" in parameter.opts}
    must = "list, info, doctor, show, report, compare, explain, tune, sim, platform show, platform measure"
    must += ", profile show, profile diff, profile check, profile verify, model show, model predict"
    must += ", model check, lab status, lab check, schedule show, schedule check, schedule trees"
    assert {tuple(name.split()) for name in must.split(", ")} <= results_told


def test_an_option_is_a_switch_everywhere_or_nowhere() -> None:
    kinds: dict[str, dict[bool, str]] = {}
    for path, command in COMMANDS:
        for parameter in command.params:
            if parameter.param_type_name == "option":
                for name in parameter.opts:
                    kinds.setdefault(name, {})[parameter.is_flag] = " ".join(path)
    assert set(kinds["--log"]) == {True}
    assert [f"{name}: {of}" for name, of in kinds.items() if len(of) > 1] == []


@pytest.mark.parametrize(
    ("error", "status"),
    [(UnisonoError, errors.USAGE), (RunError, errors.FAILED), (SetupError, errors.SETUP)],
)
def test_each_kind_of_error_has_its_status(
    error: type[UnisonoError],
    status: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def app(**_: object) -> None:
        raise error("a line")

    monkeypatch.setattr(cli, "command_line", lambda *_: app)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == status
    assert capsys.readouterr().err == "unisono: a line\n"


def test_the_page_says_the_statuses() -> None:
    page = (places.REPOSITORY / "docs/reference/cli/index.md").read_text()
    for status in (errors.DONE, errors.FAILED, errors.USAGE, errors.SETUP, errors.INTERRUPTED):
        assert re.search(rf"^\| {status} \|", page, re.MULTILINE), status


def test_statuses_of_the_command(unisono: Run, tmp_path: Path) -> None:
    assert unisono("list").returncode == errors.DONE
    assert unisono("doctor", "/no/such/program").returncode == errors.FAILED
    assert unisono("list", "bcats").returncode == errors.USAGE
    assert unisono("list", UNISONO_BUILD=str(tmp_path), PATH="/usr/bin:/bin").returncode == errors.SETUP
    nothing = unisono("lab")
    assert (nothing.returncode, nothing.stderr) == (errors.USAGE, ""), "its help is shown"


def test_mistakes_that_click_sees_are_one_line_too(unisono: Run) -> None:
    for line, said in (
        (["compare", "--passes", "x"], "Invalid value for '--passes'"),
        (["show"], "Missing argument"),
        (["nonesuch"], "No such command 'nonesuch'"),
    ):
        done = unisono(*line)
        assert (done.returncode, done.stderr.count("\n")) == (errors.USAGE, 1), done.stderr
        assert done.stderr.startswith("unisono: ")
        assert said in done.stderr and "--help says what is valid" in done.stderr


def rendered(table: Table, width: int) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width).print(table)
    return out.getvalue().splitlines()


NAMES = ["reduce_scatter_block", "grid:shape=4x2,form=leaders,rows=recursive_doubling,columns=shm", "native"]


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize("numbers", [1, 5, 8])
def test_a_table_cuts_no_name(width: int, numbers: int) -> None:
    made = console.table("collective", "algorithm", *(f"c{i}" for i in range(numbers)), left=2)
    rows = [[NAMES[0], name, *["123.45"] * numbers] for name in NAMES]
    for row in rows:
        made.add_row(*row)
    cells = [cell for row in rows for cell in row]
    lines = rendered(made, width)
    assert max(map(len, lines)) <= width
    assert ELLIPSIS not in "".join(lines)
    assert letters(lines) == letters([*(str(column.header) for column in made.columns), *cells]), (
        "all is there"
    )


@pytest.mark.parametrize("width", [60, 80, 150])
@pytest.mark.parametrize("names", [1, 2])
def test_a_table_folds_no_name_that_fits_a_line(width: int, names: int) -> None:
    """Between words a cell goes on in the next line; the last name is as long as a line."""
    words = ["MPI_Reduce_scatter_block at a_file_with_a_long_name.cpp:1234 *", "native", "n" * width]
    made = console.table(*("call site", "algorithm")[:names], "calls", "inefficient", "gain", left=names)
    for at, name in enumerate(words):
        made.add_row(*[name, "ring:segment=256K"][:names], f"{at}1234567", "under 1 %", "9 ms (8 ms to 9 ms)")
    lines = rendered(made, width)
    assert max(map(len, lines)) <= width
    shown = " ".join(lines).split()
    for word in " ".join([*words, "inefficient", "01234567 11234567 21234567"]).split():
        assert word in shown
    assert shown.count("ring:segment=256K") == (3 if names == 2 else 0)


def test_names_stand_above_their_numbers_only_where_they_must() -> None:
    made = console.table("name", "a", "b")
    made.add_row("n" * 30, "1", "2")
    assert len(rendered(made, 80)) == 5, "edges, heading, line, row"
    above, below = rendered(made, 34)[-3:-1]
    assert (above.strip(), below.split()) == ("n" * 30, ["1", "2"])


def letters(texts: list[str]) -> Counter[str]:
    return Counter(
        letter for text in texts for letter in text if letter not in " \N{BOX DRAWINGS LIGHT HORIZONTAL}"
    )


def test_tables_are_made_in_one_place() -> None:
    """So that what holds of one holds of all."""
    package = places.REPOSITORY / "python" / "unisono"
    for file in package.rglob("*.py"):
        if file.name != "console.py":
            assert not re.search(
                r"\b(Table|Console|Progress)\(\w*(box|stderr|high|file)", file.read_text()
            ), file


@pytest.mark.parametrize("width", ["60", "80"])
def test_commands_cut_no_name(unisono: Run, width: str) -> None:
    names = {name for row in catalogue.algorithms() for name in (row.name, *row.collectives)}
    shown = unisono("list", COLUMNS=width).stdout
    assert names <= set(re.split(r"[\s,]+", shown))
    shown = unisono("info", COLUMNS=width).stdout
    assert {variable.name for variable in catalogue.variables()} <= set(shown.split())
    assert ELLIPSIS not in shown


def test_colours_are_off_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(console.errors, "no_color", False)
    coloured = CliRunner().invoke(cli.command_line("list"), ["list", "barrier"])
    assert "\x1b[36m" in coloured.output
    plain = CliRunner().invoke(cli.command_line("list"), ["--no-color", "list", "barrier"])
    assert not re.search("\x1b\\[[0-9;]*3[0-9]", plain.output)
    assert console.errors.no_color
    monkeypatch.delenv("NO_COLOR", raising=False)


def test_version(unisono: Run) -> None:
    assert unisono("--version").stdout == f"unisono {catalogue_version()}\n"


def catalogue_version() -> str:
    return str(importlib.import_module("unisono").__version__)


def test_what_the_shell_offers() -> None:
    assert completion.collectives("allr") == ["allreduce"]
    assert completion.collectives("bcast,ba") == ["bcast,barrier"]
    assert "chain" in completion.algorithms("ch")
    assert "native" in completion.algorithms("")
    assert "bcast=chain" in completion.force("bcast=c")


def test_what_the_shell_offers_without_a_build(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("UNISONO_BUILD", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    catalogue.load.cache_clear()
    assert completion.algorithms("") == []
    catalogue.load.cache_clear()


def test_every_document_has_the_envelope() -> None:
    every = list(documents.every())
    assert len(every) == len({documents.name_of(one) for one in every}) > 20
    for one in every:
        name = documents.name_of(one)
        assert re.fullmatch(r"unisono\.[a-z-]+", name)
        schema = documents.schema_of(one)
        [body] = [each for each in schema["$defs"].values() if name in str(each["properties"].get("schema"))]
        assert list(body["properties"])[:3] == ["schema", "schema_version", "unisono_version"]
        kept = places.REPOSITORY / "docs/reference/schemas" / f"{name.removeprefix('unisono.')}.json"
        assert json.loads(kept.read_text()) == json.loads(json.dumps(schema)), "make generate"


@pytest.mark.parametrize(
    "line",
    [
        ["list", "bcast"],
        ["info"],
        ["doctor"],
        ["show", "bcast", "chain:segment=256", "-n", "4"],
        ["schedule", "trees", "--torus", "4x4"],
    ],
    ids=" ".join,
)
def test_json_is_all_of_standard_output_and_as_its_schema(line: list[str], unisono: Run) -> None:
    told = json.loads(unisono(*line, "--json", "-").stdout)
    name = told["schema"].removeprefix("unisono.")
    schema = json.loads((places.REPOSITORY / "docs/reference/schemas" / f"{name}.json").read_text())
    jsonschema.validate(told, schema)


def test_json_to_a_file_is_beside_the_text(unisono: Run, tmp_path: Path) -> None:
    done = unisono("list", "barrier", "--json", str(tmp_path / "told.json"))
    assert "tree" in done.stdout
    assert json.loads((tmp_path / "told.json").read_text())["schema"] == "unisono.list"
    done = unisono("list", "--json", "/no/such/place/x.json")
    assert done.returncode == errors.USAGE
    assert "/no/such/place/x.json: cannot be written" in done.stderr


def test_no_key_of_the_tools_is_lost() -> None:
    shown = catalogue.schedule(["--collective", "bcast", "--algorithm", "flat", "--ranks", "4"])
    own = msgspec.to_builtins(catalogue_cli.schedule_document(shown))
    assert {key: own[key] for key in shown} == shown


def test_former_comparisons_are_read(tmp_path: Path) -> None:
    """Version 2 counted one block of a scattered reduction, where all else counted all of them."""
    row = {"mpi": "mpich", "ranks": 4, "ranks_per_host": 4, "pattern": "loop"}
    cells = [
        {**row, "collective": name, "size": 8, "size_of": "block", "bench_bytes": bytes_}
        | {"limit_us": None, "arms": [{"name": "native", "available": True, "times_limit": None}]}
        for name, bytes_ in (("reduce_scatter", 32), ("allgather", 8))
    ]
    body = {"schema": "unisono-compare", "schema_version": 2, "unisono_version": "0.1.0", "date": "x"}
    body |= {"bed": {}, "options": {}, "machines": [], "cells": cells, "failures": [], "planned": 2}
    file = tmp_path / "c.json"
    file.write_text(json.dumps(body | {"interrupted": False}))
    assert [cell.point.size for cell in results.load(file).cells] == [32, 8]
    told = documents.load(file)
    assert (told["schema"], told["schema_version"], told["unisono_version"]) == (
        "unisono.compare",
        3,
        "0.1.0",
    )
    assert "bench_bytes" not in told["cells"][0]
