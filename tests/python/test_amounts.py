"""Sizes and names of collectives are accepted as users, MPI and our own outputs write them."""

import ast
import re
from pathlib import Path

import pytest
from conftest import Run
from unisono.core import amounts, catalogue
from unisono.core.errors import UnisonoError

TABLE = Path(__file__).parents[1] / "base" / "sizes.inc"
SIZES = re.findall(r'^\{("[^"]*"), (-?\d+)\},$', TABLE.read_text(), re.MULTILINE)


def test_sizes_are_those_of_the_library() -> None:
    assert len(SIZES) > 30
    read = {text: amounts.size_of(ast.literal_eval(text)) for text, _ in SIZES}
    assert read == {text: None if bytes_ == "-1" else int(bytes_) for text, bytes_ in SIZES}


@pytest.mark.parametrize("size", [0, 8, 1000, 1536, 65536, 1 << 20, 5 << 40])
def test_what_is_printed_is_read(size: int) -> None:
    printed = catalogue.format_size(size)
    assert amounts.size_of(printed) == amounts.size_of(printed + "B") == size


def test_sizes_with_units_in_a_list() -> None:
    assert amounts.parse_sizes("8 B, 64KB:256 KiB, 1 MiB") == (8, 65536, 131072, 262144, 1 << 20)


NAMES = {
    "allreduce": "MPI_Allreduce MPI_Iallreduce MPI_Allreduce_init MPI_Allreduce_init_c MPI_Allreduce_c "
    "Allreduce allreduce_ mpi_allreduce_ ALLREDUCE PMPI_Allreduce UNISONO_ALLREDUCE "
    "all-reduce MPI_Allreduce_f08",
    "reduce_scatter_block": "MPI_Ireduce_scatter_block Reduce_scatter_block reduce-scatter-block",
    "reduce_scatter": "MPI_Reduce_scatter_init reducescatter",
    "exscan": "MPI_Iexscan",
    "neighbor_alltoallw": "MPI_Ineighbor_alltoallw MPI_Neighbor_alltoallw_init_c",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_collective_has_many_spellings(name: str) -> None:
    assert {text: catalogue.collective_named(text) for text in NAMES[name].split()} == dict.fromkeys(
        NAMES[name].split(), name
    )
    assert catalogue.collective_named(f"nonblocking {name}") == name


def test_every_function_of_every_collective() -> None:
    for name in catalogue.all_collectives():
        for text in (
            name,
            f"MPI_{name.capitalize()}",
            f"MPI_I{name}",
            f"MPI_{name.capitalize()}_init",
            f"mpi_{name}_",
        ):
            assert catalogue.collective_named(text) == name


@pytest.mark.parametrize("text", ["", "bcats", "MPI_", "i", "MPI_Send", "chain", "allreduce2", "_init"])
def test_what_is_no_collective_stays_as_it_is(text: str) -> None:
    assert catalogue.collective_named(text) == text


@pytest.mark.parametrize(
    "line",
    [
        ["list", "MPI_Allreduce"],
        ["show", "MPI_Ibcast", "chain:segment=4KB", "-n", "3", "--count", "64 KiB"],
        ["explain", "Bcast", "512KB"],
        ["explain", "MPI_Bcast", "1", "MiB"],
        ["explain", "MPI_Iallreduce", "64 KiB", "--here", "-n", "2"],
    ],
    ids=" ".join,
)
def test_commands_take_them(unisono: Run, line: list[str]) -> None:
    done = unisono(*line)
    assert done.returncode in {0, 1}, done.stderr  # 1: nothing is remembered
    assert "no such collective" not in done.stderr and "no size" not in done.stderr


def test_a_list_says_the_collective(unisono: Run) -> None:
    assert unisono("list", "MPI_Allreduce").stdout == unisono("list", "allreduce").stdout


def test_no_size_is_one_line() -> None:
    with pytest.raises(UnisonoError, match="size 512Q: no size"):
        amounts.parse_size("512Q", "size")
