"""MPICH: its selection trees (MPIR_CVAR_..._SELECTION_TUNING_JSON_FILE).

A file replaces a whole tree, so the export is the library's own tree, read out of the library, with
the tuned calls grafted in. There are two trees: CH4's chooses how the work is divided between network
and shared memory, the MPIR tree an algorithm. A tuned call is grafted into both: in CH4's with the
composition that leaves all to the algorithm. Source: MPICH 5, src/mpi/coll/src/csel.c.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unisono.core import files
from unisono.core.errors import SetupError
from unisono.core.places import Mpi
from unisono.tune.native.rules import Algorithm, Rule

Tree = dict[str, Any]  # a key is a question, or the answer: algorithm=..., composition=...

MPIR, CH4 = "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE", "MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE"
NETWORK_ONLY = {"allreduce": "beta", "alltoall": "beta", "allgather": "beta", "barrier": "beta"}
NETWORK_ONLY |= {"bcast": "gamma", "reduce": "gamma", "scan": "beta"}  # of others: alpha

# The question about the size. The other collectives have none, or (gather, scatter) one that counts
# what is not significant on the root in place, so that ranks could choose differently.
SIZE_QUESTIONS = {
    "bcast": "avg_msg_size",
    "reduce": "avg_msg_size",
    "allreduce": "avg_msg_size",
    "alltoall": "avg_msg_size",
    "allgather": "total_msg_size",
    "reduce_scatter": "total_msg_size",
    "reduce_scatter_block": "total_msg_size",
}
# What must be so for any of the algorithms to be right; otherwise the library's own choice.
GUARDS = {
    "alltoall": ["is_sendbuf_inplace=no"],
    "reduce": ["is_commutative=yes"],
    "allreduce": ["is_commutative=yes"],
    "reduce_scatter": ["is_commutative=yes", "is_block_regular=yes"],
    "reduce_scatter_block": ["is_commutative=yes"],
}
ENOUGH = ["is_op_built_in=yes", "count<pow2"]  # an element for each rank


@dataclass(frozen=True)
class Known:
    name: str  # behind MPIR_<Collective>_
    parameters: Mapping[str, int | str] | None = None
    guards: Sequence[str] = ()
    power_of_two: bool = False


def trees(**parameters: int | str) -> dict[str, int | str]:
    """The library does not initialize what a leaf leaves out."""
    topology = {f"topo_{of}": 0 for of in ("overhead", "diff_groups", "diff_switches", "same_switches")}
    return {"is_non_blocking": 1, **topology, **parameters}


def exchange(k: int) -> dict[str, int | str]:
    return {"k": k, "single_phase_recv": 0}


NB = Known("allcomm_nb")
KNOWN: dict[str, Sequence[Known]] = {
    "bcast": [
        Known("intra_binomial"),
        Known("intra_scatter_recursive_doubling_allgather", power_of_two=True),
        Known("intra_scatter_ring_allgather"),
        *(Known("intra_tree", trees(tree_type="knomial_1", k=k)) for k in (2, 4, 8)),
        *(
            Known(
                "intra_pipelined_tree", {**trees(tree_type="kary", k=k, chunk_size=c), "recv_pre_posted": 0}
            )
            for k in (1, 2)
            for c in (8 << 10, 32 << 10)
        ),
        NB,
    ],
    "allreduce": [
        Known("intra_recursive_doubling"),
        Known("intra_reduce_scatter_allgather", guards=ENOUGH),
        *(Known("intra_recursive_multiplying", {"k": k}) for k in (2, 4)),
        *(Known("intra_recexch", exchange(k)) for k in (2, 4)),
        Known("intra_tree", {**trees(tree_type="knomial_1", k=2, chunk_size=0), "buffer_per_child": 0}),
        Known("intra_ring", guards=ENOUGH),
        Known("intra_k_reduce_scatter_allgather", exchange(2), guards=ENOUGH),
        NB,
    ],
    "reduce": [Known("intra_binomial"), Known("intra_reduce_scatter_gather", guards=ENOUGH), NB],
    "allgather": [
        Known("intra_brucks"),
        Known("intra_k_brucks", {"k": 4}),
        Known("intra_recursive_doubling", power_of_two=True),
        Known("intra_ring"),
        Known("intra_recexch_doubling", exchange(2)),
        Known("intra_recexch_halving", exchange(2)),
        NB,
    ],
    "alltoall": [
        Known("intra_brucks"),
        *(Known("intra_k_brucks", {"k": k}) for k in (4, 8)),
        Known("intra_pairwise"),
        Known("intra_scattered"),
        NB,
    ],
    "gather": [Known("intra_binomial"), NB],
    "scatter": [Known("intra_binomial"), NB],
    "barrier": [
        *(Known("intra_k_dissemination", {"k": k}) for k in (2, 4, 8)),
        *(Known("intra_recexch", exchange(k)) for k in (2, 4)),
        NB,
    ],
    "scan": [Known("intra_recursive_doubling"), NB],
    "exscan": [Known("intra_recursive_doubling"), NB],
}
for _collective in ("reduce_scatter", "reduce_scatter_block"):
    KNOWN[_collective] = [
        Known("intra_recursive_halving"),
        Known("intra_recursive_doubling"),
        Known("intra_pairwise"),
        Known("intra_noncommutative", power_of_two=True),
        NB,
    ]
# Of another collective: the library finds that the leaf does not fit the call, and aborts.
NO_BARRIER = Algorithm("none", {"leaf": {"algorithm=MPIR_Bcast_intra_binomial": {}}, "guards": []})
NO_OTHER = Algorithm(
    "none", {"leaf": {"algorithm=MPIR_Barrier_intra_k_dissemination": {"k=2": {}}}, "guards": []}
)


class Mpich:
    def __init__(self, mpi: Mpi) -> None:
        self.mpi = mpi
        self.built_in = mpi.library.read_bytes()
        self.trees = trees_in(self.built_in, str(mpi.library))

    def algorithms(self, collective: str, ranks: int) -> list[Algorithm]:
        found = []
        for known in KNOWN[collective]:
            leaf = f"algorithm=MPIR_{collective.capitalize()}_{known.name}"
            fits = not known.power_of_two or ranks & (ranks - 1) == 0
            if fits and leaf.encode() in self.built_in:
                found.append(algorithm(leaf, known))
        return found

    def tells_sizes(self, collective: str) -> bool:
        return collective in SIZE_QUESTIONS

    def write(self, rules: Sequence[Rule], file: Path) -> dict[str, str]:
        variables = {}
        for variable, tree in self.trees.items():
            target = file if variable == MPIR else file.with_suffix(f".ch4{file.suffix}")
            grafted = graft(tree, rules, composition=variable == CH4)
            target.write_text(json.dumps(grafted, indent=1) + "\n")
            variables[variable] = str(target.absolute())
        return variables

    def tripwire(self, rule: Rule) -> Rule:
        other = NO_BARRIER if rule.collective == "barrier" else NO_OTHER
        guarded = Algorithm(other.name, {**other.form, "guards": rule.algorithm.form["guards"]})
        return Rule(rule.collective, rule.ranks, rule.low, rule.high, guarded)


def algorithm(leaf: str, known: Known) -> Algorithm:
    parameters: Tree = {f"{name}={value}": {} for name, value in (known.parameters or {}).items()}
    shown = known.name.removeprefix("intra_").removeprefix("allcomm_")
    telling = [
        f"{name}={value}"
        for name, value in (known.parameters or {}).items()
        if name in {"k", "chunk_size", "tree_type"} and value
    ]
    name = f"{shown}:{','.join(telling)}" if telling else shown
    return Algorithm(name, {"leaf": {leaf: parameters}, "guards": list(known.guards)})


def trees_in(library: bytes, where: str) -> dict[str, Tree]:
    """The trees stand in the library as text."""
    found: dict[str, Tree] = {}
    for match in re.finditer(rb'\{"collective=[^\0]*', library):
        text = match[0].decode()
        if "algorithm=MPIR_" in text:
            found[MPIR] = files.decoded(text)
        elif "composition=MPIDI_" in text:
            found[CH4] = files.decoded(text)
    if MPIR not in found:
        raise SetupError(f"{where}: no selection tree of MPICH in it (MPICH 4.0 or later has one)")
    return found


def graft(tree: Tree, rules: Sequence[Rule], composition: bool) -> Tree:
    grafted = dict(tree)
    for collective in dict.fromkeys(rule.collective for rule in rules):
        own = [rule for rule in rules if rule.collective == collective]
        kind = f"collective={collective}"
        stock = tree[kind]
        former = stock.get("comm_type=intra", stock)
        by_ranks: Tree = {}
        for ranks in sorted({rule.ranks for rule in own}):
            by_ranks.setdefault(f"comm_size<={ranks - 1}", former)
            exact = sorted((rule for rule in own if rule.ranks == ranks), key=lambda rule: rule.low)
            by_ranks[f"comm_size<={ranks}"] = by_size(exact, former, composition)
        by_ranks["comm_size=any"] = former
        grafted[kind] = {**stock, "comm_type=intra": by_ranks} if former is not stock else by_ranks
    return grafted


def by_size(rules: Sequence[Rule], former: Tree, composition: bool) -> Tree:
    first = rules[0]
    question = SIZE_QUESTIONS.get(first.collective)
    if question is None:
        return guarded(first, former, composition)
    factor = first.ranks if first.collective == "allgather" else 1
    answers: Tree = {}
    for rule in rules:
        if rule.low:
            answers.setdefault(f"{question}<={rule.low * factor - 1}", former)
        chosen = guarded(rule, former, composition)
        if rule.high is None:
            answers[f"{question}=any"] = chosen
        else:
            answers[f"{question}<={(rule.high + 1) * factor - 1}"] = chosen
    answers.setdefault(f"{question}=any", former)
    return answers


def guarded(rule: Rule, former: Tree, composition: bool) -> Tree:
    """The rule's leaf where all guards let it pass, else what the library would do."""
    tree: Tree = dict(rule.algorithm.form["leaf"])
    if composition:
        kind = NETWORK_ONLY.get(rule.collective, "alpha")
        tree = {f"composition=MPIDI_{rule.collective.capitalize()}_intra_composition_{kind}": {}}
    for guard in reversed([*GUARDS.get(rule.collective, []), *rule.algorithm.form["guards"]]):
        if guard == "count<pow2":
            tree = {guard: former, "count=any": tree}
        else:
            question, answer = guard.split("=")
            tree = {guard: tree, f"{question}={'no' if answer == 'yes' else 'yes'}": former}
    return tree
