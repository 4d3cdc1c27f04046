"""The command line: what it prints, and what it says when something is wrong."""

import json
from pathlib import Path

import pytest
from conftest import Run
from unisono.core import errors


def test_list_shows_the_catalogue(unisono: Run) -> None:
    done = unisono("list", "bcast")
    assert done.returncode == 0, done.stderr
    assert "binomial" in done.stdout
    assert "segment=16K (1 to 1G)" in done.stdout


def test_list_says_what_shared_memory_needs(unisono: Run) -> None:
    rows = json.loads(unisono("list", "--json", "-").stdout)["algorithms"]
    of_a_node = [row for row in rows if "one_node" in row["restrictions"]]
    assert all("all ranks on one node" in row["needs"] for row in of_a_node)
    assert all(row["transports"] == [] for row in of_a_node), "they send no messages"
    assert all(row["transports"] == ["mpi", "shm"] for row in rows if row not in of_a_node)
    served = {name for row in of_a_node for name in row["collectives"]}
    assert served == {name for row in rows for name in row["collectives"]}, "every collective"


def test_list_json_says_what_grids_are_made_of(unisono: Run) -> None:
    told = json.loads(unisono("list", "--json", "-").stdout)
    assert told["grid_dimensions"] == ["rows", "columns", "planes"]
    leaders = next(
        row for row in told["grid_forms"] if (row["collective"], row["form"]) == ("allreduce", "leaders")
    )
    assert (leaders["rows"], leaders["columns"]) == (["reduce", "bcast"], "allreduce")
    assert not any(row["in_grids"] for row in told["algorithms"] if row["composed"])


@pytest.mark.parametrize("columns", ["80", "60"])
def test_list_cuts_no_word_on_a_narrow_terminal(unisono: Run, columns: str) -> None:
    rows = json.loads(unisono("list", "--json", "-").stdout)["algorithms"]
    shown = unisono("list", COLUMNS=columns).stdout
    assert "\N{HORIZONTAL ELLIPSIS}" not in shown
    assert {row["name"] for row in rows} <= set(shown.split())
    assert max(map(len, shown.splitlines())) <= int(columns)


def test_list_json_is_the_tool_s(unisono: Run) -> None:
    rows = json.loads(unisono("list", "--json", "-").stdout)["algorithms"]
    assert {"flat", "chain"} <= {row["name"] for row in rows if "bcast" in row["collectives"]}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["list", "bcats"], "no collective 'bcats'; valid: barrier"),
        (["explain", "neighbor_alltoall"], "depends on who is whose neighbour"),
        (["compare", "--collectives", "neighbor_alltoall"], "depends on who is whose neighbour"),
        (["run", "--force", "neighbor_alltoall=ring", "true"], "native, linear, shm, nodes, rows"),
        (["show", "neighbor_alltoall", "rows", "--neighbours", "ring"], "valid are torus:N and stencil:N"),
        (
            ["show", "allreduce", "ring", "-n", "5000"],
            "on 5000 ranks has more than 2 million operations",
        ),
        (["show", "alltoallv", "simple", "-n", "90000"], "90000 ranks has more than 2 million operations"),
        (["show", "bcast", "chian"], "no algorithm 'chian'; valid: default, native"),
        (["show", "bcast", "chain:segment=0"], "'segment=0' is not valid; segment (1 to 1G"),
        (["show", "bcast", "native"], "'native' has no schedule"),
        (["show", "bcast", "flat", "--root", "8"], "--root is not one of the ranks"),
        (["show", "bcast", "torus", "--torus", "3x2", "-n", "5"], "leave out -n"),
        (["show", "bcast", "flat", "--rank", "8"], "--rank is not one of the ranks"),
        (["show", "bcast", "flat", "--count", "many"], "--count many"),
        (
            ["show", "bcast", "flat", "--svg", "/no/such/place/x.svg"],
            "/no/such/place/x.svg: cannot be written",
        ),
        (["run", "--force", "bcast", "true"], "write COLLECTIVE=ALGORITHM"),
        (["run", "--force", "bcast=rings", "true"], "no algorithm 'rings'"),
        (["run", "--mpi", "lam", "true"], "is not one of 'auto', 'mpich', 'openmpi'"),
        (["run", "no-such-program"], "no-such-program: no such program"),
        (["lst"], "Did you mean 'list'? unisono --help says what is valid"),
        (["run", "/proc"], "/proc: it is a folder: name the program in it"),
        (["explain", "bcast,reduce", "8", "--here"], "bcast,reduce: one collective at a time"),
        (["explain", "bcast", "8", "-n", "0"], "'-n': 0 is not in the range x>=1"),
        (
            ["explain", "bcats", "8"],
            "bcats: neither a collective nor a profile that exists; valid collectives: ",
        ),
    ],
)
def test_mistakes_end_in_one_clear_line(unisono: Run, arguments: list[str], message: str) -> None:
    done = unisono(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr


@pytest.mark.parametrize(
    "arguments", [["run", "--frce", "bcast=chain", "true"], ["trace", "-o", "new", "--nativ", "true"]]
)
def test_a_misspelt_option_is_not_taken_for_the_program(unisono: Run, arguments: list[str]) -> None:
    done = unisono(*arguments)
    assert done.returncode == 2
    assert "No such option: --" in done.stderr


def test_a_file_that_is_no_program_is_told_apart(
    unisono: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plain.py").write_text("")
    Path("program").write_text("")
    Path("program").chmod(0o755)
    for name, said in (
        ("plain.py", "it is no executable file: chmod +x plain.py, or if it is a script, name what runs it"),
        ("program", "it is not in PATH: write ./program"),
        ("nothing", "no such program"),
    ):
        assert unisono("run", name).stderr == f"unisono: {name}: {said}\n"
        assert said.partition(": ")[2] in unisono("doctor", name).stdout


def test_show_text(unisono: Run) -> None:
    done = unisono("show", "bcast", "chain:segment=256", "-n", "4", "--rank", "1")
    assert done.stdout.startswith("bcast chain:segment=256, 4 ranks, root 0, 1024 units of 1 B\n6 rounds")
    assert "recv output[0:256] from 0" in done.stdout
    assert "rank 2" not in done.stdout


def test_show_json_has_every_rank_and_round(unisono: Run) -> None:
    shown = json.loads(unisono("show", "bcast", "binomial", "-n", "5", "--json", "-").stdout)
    assert [one["rank"] for one in shown["ranks"]] == [0, 1, 2, 3, 4]
    assert shown["metrics"]["rounds"] == 3
    for one in shown["ranks"]:
        assert len(one["ops"]) == len(one["rounds"])


def test_show_dot(unisono: Run) -> None:
    dot = unisono("show", "bcast", "flat", "-n", "3", "--dot").stdout
    assert dot.startswith("digraph")
    assert dot.count("->") == 2


def test_show_a_grid_by_nodes_of_a_file(unisono: Run, tmp_path: Path) -> None:
    file = tmp_path / "placed.conf"
    file.write_text("NodeName=a Ranks=0,3\nNodeName=b Ranks=1-2\n")
    arguments = ("show", "gather", "grid:shape=nodes", "-n", "4", "--rank", "0")
    shown = unisono(*arguments, "--topology", str(file)).stdout
    # Rank 1 leads its node; rank 3, on that of the root, sends by itself.
    assert "from 1" in shown and "from 3" in shown and "from 2" not in shown
    assert "needs a level of the topology" in unisono(*arguments).stderr
    file.write_text("NodeName=a Ranks=0-2\n")
    done = unisono(*arguments, "--topology", str(file))
    assert (done.returncode, done.stdout) == (2, "")
    assert "it places rank 3 on no node" in done.stderr


def test_info_shows_what_is_set(unisono: Run) -> None:
    done = unisono("info", UNISONO_WAIT="sleep")
    line = next(line for line in done.stdout.splitlines() if "UNISONO_WAIT" in line)
    assert "auto" in line
    assert "sleep" in line
    assert "UNISONO_REDUCE_SCATTER_BLOCK" in done.stdout


def test_without_a_build_it_says_so(unisono: Run, tmp_path: object) -> None:
    done = unisono("list", UNISONO_BUILD=str(tmp_path), PATH="/usr/bin:/bin")
    assert done.returncode == errors.SETUP
    assert "unisono-schedule is not built: run make" in done.stderr
