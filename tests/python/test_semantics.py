"""The table of what collectives mean, as Python reads it."""

import json
import re
from pathlib import Path

from unisono.core import catalogue
from unisono.core.arguments import parse_collectives
from unisono.core.limits import Sized, size_kind

ROOT = Path(__file__).resolve().parent.parent.parent


def test_every_row_is_read() -> None:
    rows = json.loads(catalogue.ask("list", "--json"))["collectives"]
    table = (ROOT / "src/schedule/semantics.h").read_text()
    enumerators = re.findall(
        r"\w+", table.partition("enum class Collective : std::uint8_t {")[2].partition("}")[0]
    )
    assert [row["name"] for row in rows] == enumerators
    assert list(catalogue.all_collectives()) == enumerators
    assert len(catalogue.collectives()) == 17
    assert not [name for name in catalogue.collectives() if name.startswith("neighbor")]


def test_what_sizes_are_sizes_of() -> None:
    assert size_kind("barrier") is Sized.NOTHING
    assert size_kind("scan") is Sized.VECTOR
    assert size_kind("reduce_scatter") is size_kind("reduce_scatter_block") is Sized.VECTOR
    assert size_kind("allgather") is Sized.BLOCK


def test_words_of_a_row() -> None:
    row = catalogue.collective("gatherv")
    assert (row.rooted, row.regular, row.send.shape, row.receive.who) == (True, "gather", "block", "root")
    assert not row.bytes_known and not row.reduces and not row.from_root
    assert catalogue.collective("bcast").from_root
    assert catalogue.collective("reduce_scatter").in_place == "each"


def test_collectives_of_a_topology_cannot_be_compared() -> None:
    assert parse_collectives("all") == catalogue.collectives()
