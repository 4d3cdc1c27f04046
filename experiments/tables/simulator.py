"""The tables of docs/results/simulator.md, of those simulations whose results are kept."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from scripts import sim_results

TABLES: Mapping[str, Callable[[], Sequence[str]]] = {
    "best": sim_results.best,
    **{
        sim_results.name_of(platform, collective): partial(sim_results.table, platform, collective)
        for platform, collective in sim_results.kept()
    },
}
