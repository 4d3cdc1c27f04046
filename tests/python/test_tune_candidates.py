"""Which algorithms race in a cell: what the catalogue says, cut down by the model."""

from collections.abc import Sequence

import pytest
from unisono.core import catalogue
from unisono.core.catalogue import Algorithm, Catalogue, GridForm, Parameter
from unisono.profile import check
from unisono.tune import candidates
from unisono.tune.candidates import Candidate, Shape


def catalogue_of(*rows: Algorithm) -> Catalogue:
    forms = [GridForm("bcast", "leaders", ("bcast",), "bcast", False, False)]
    return Catalogue(rows, ("rows", "columns", "planes"), tuple(forms))


def row(name: str, restrictions: Sequence[str] = (), composed: bool = False, sends: bool = True) -> Algorithm:
    return Algorithm(
        name=name,
        collectives=("bcast",),
        parameters=(),
        composed=composed,
        in_grids=not composed,
        transports=("mpi", "shm") if sends else (),
        predicts=False,
        restrictions=tuple(restrictions),
        needs="",
        order="",
        order_depends_on=(),
        cost="",
        source="",
    )


@pytest.mark.parametrize("ranks", [2, 4, 6, 7, 16])
def test_every_candidate_is_one_that_the_catalogue_takes(ranks: int) -> None:
    known = catalogue.load()
    names = {name for algorithm in known.algorithms for name in algorithm.collectives}
    assert names >= {"bcast", "allreduce", "alltoall", "barrier"}
    shapes = [(2, ranks // 2), (2, 2, ranks // 4)] if ranks == 16 else [(2, ranks // 2)]
    for collective in sorted(names):
        found = candidates.specs(known, collective, 1024, Shape(ranks, 1, shapes))
        sending = candidates.over_other_transports(known, collective, [Candidate(spec) for spec in found])
        # All of a small job, some of a large one's grids: each costs a process.
        for spec in (*found[:: 1 if ranks == 4 else 7], *(candidate.spec for candidate in sending)):
            assert not check.fault_of_spec(collective, spec), spec


def test_candidates_suit_the_call() -> None:
    known = catalogue.load()

    def found(collective: str, size: int, ranks: int, nodes: int = 1) -> list[str]:
        return candidates.specs(known, collective, size, Shape(ranks, nodes))

    assert "chain:segment=64K" in found("bcast", 256 << 10, 4)
    assert "chain:segment=64K" not in found("bcast", 16 << 10, 4)
    assert "neighbour_exchange" in found("allgather", 64, 6)
    assert "neighbour_exchange" not in found("allgather", 64, 5)
    of_a_node = {a.name for a in known.algorithms if "one_node" in a.restrictions}
    for collective in ("barrier", "allreduce", "alltoall"):
        names = {spec.partition(":")[0] for spec in found(collective, 64, 4)}
        assert names & of_a_node, "the catalogue's own mark says which these are"
        assert not of_a_node & set(found(collective, 64, 4, nodes=2)), "shared memory ends at the node"


def test_rows_that_nobody_knows_yet_race_by_what_the_catalogue_says_of_them() -> None:
    known = catalogue_of(row("new"), row("of_a_node", ["one_node"], sends=False), row("grid", composed=True))
    found = candidates.specs(known, "bcast", 64, Shape(4, 1, [(2, 2)]))
    head = "grid:shape=2x2,form=leaders"
    assert found == [
        *("new", "of_a_node", head, f"{head},rows=native,columns=native"),
        *(f"{head},rows=new,columns=new", f"{head},rows=of_a_node,columns=of_a_node"),
    ]
    shm = candidates.over_other_transports(known, "bcast", [Candidate(spec) for spec in found])
    assert [c.spec for c in shm] == ["new:transport=shm"], "once, and only where messages are sent"
    assert not candidates.over_other_transports(known, "bcast", shm)
    several = candidates.specs(known, "bcast", 64, Shape(4, 2))
    assert [spec for spec in several if "shape=nodes" not in spec] == ["new"]
    assert "grid:shape=nodes,form=leaders,rows=of_a_node" in several
    assert not [spec for spec in several if "columns=of_a_node" in spec]


def test_values_of_a_parameter_lie_beside_its_default() -> None:
    def parameter(default: int, least: int, most: int, is_size: bool = False) -> Parameter:
        return Parameter("x", default, least, most, is_size, "")

    assert candidates.values(parameter(16 << 10, 1, 1 << 30, is_size=True)) == [4 << 10, 64 << 10]
    assert candidates.values(parameter(4, 1, 64)) == [2, 8]
    assert candidates.values(parameter(2, 2, 64)) == [4, 8]
    assert candidates.values(parameter(0, 0, 1)) == []
    assert candidates.values(parameter(0, 0, 1 << 30, is_size=True)) == [16 << 10, 256 << 10]


def test_the_model_cuts_the_field_but_every_family_gets_a_try() -> None:
    found = ["flat", "ring", "chain", "chain:segment=4K", "chain:segment=16K", "chain:segment=64K", "slow"]
    predicted = {spec: 1.0 + i / 10 for i, spec in enumerate(found[2:6])}
    predicted |= {"flat": 8.0, "ring": 5.0, "slow": 20.0}
    chosen = [c.spec for c in candidates.select(found, [], predicted, 5)]
    assert chosen == ["chain", "chain:segment=4K", "chain:segment=16K", "ring", "flat"]
    near = [c.spec for c in candidates.select(found, ["slow"], predicted, 3)]
    assert near == ["chain", "ring", "slow"], (
        "what won at the next smaller size races, whatever the model says"
    )


def test_without_a_model_plain_algorithms_come_first() -> None:
    found = ["grid:shape=2x8,form=leaders", "ring", "grid:shape=4x4,form=leaders"]
    assert [c.spec for c in candidates.select(found, [], {}, 2)] == ["ring", "grid:shape=4x4,form=leaders"]


def test_what_sends_no_messages_races_though_the_model_has_no_price() -> None:
    found = [
        "grid:shape=2x2,form=leaders,rows=native",
        "ring",
        "flat",
        "slots",
        "slots:n=4",
        "slots:n=8",
    ]
    chosen = candidates.select(found, [], {"ring": 1.0, "flat": 2.0}, 2)
    assert [(c.spec, c.predicted_s) for c in chosen] == [("slots", None), ("ring", 1.0)]
    chosen = candidates.select(found, [], {"ring": 1.0, "flat": 2.0}, 3)
    assert "slots:n=4" not in {c.spec for c in chosen}, "one of a family first"


def test_on_several_nodes_their_own_grid_races() -> None:
    known = catalogue.load()
    for collective in ("bcast", "allreduce"):
        found = candidates.specs(known, collective, 1024, Shape(16, 4, [(2, 8)]))
        own = [spec for spec in found if "shape=nodes" in spec]
        assert {"grid:shape=nodes,form=leaders", "grid:shape=nodes,form=leaders,rows=shm"} <= set(own)
        assert all(not check.fault_of_spec(collective, spec) for spec in own)
        # Without a price they are the first grids that race.
        chosen = candidates.select(found, [], {"ring": 1e-6, "binomial": 1e-6}, 40)
        assert "shape=nodes" in next(each.spec for each in chosen if each.is_grid)
    # Rows of several lengths: only forms that take them.
    for collective, forms in (
        ("allreduce", {"lanes", "full", "leaders"}),
        ("allgather", {"split", "leaders"}),
    ):
        uneven = candidates.specs(known, collective, 1024, Shape(7, 2, []))
        assert {spec.partition("form=")[2].partition(",")[0] for spec in uneven if "nodes" in spec} == forms
    assert not [s for s in candidates.specs(known, "bcast", 1024, Shape(16, 1, [(4, 4)])) if "nodes" in s]
