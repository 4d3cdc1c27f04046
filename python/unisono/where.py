"""Options of the commands that start jobs somewhere: how many ranks of which library, and where."""

from typing import Annotated

import typer

Ranks = Annotated[int | None, typer.Option("-n", min=2, help="Ranks; otherwise one for each core or host.")]
Library = Annotated[str, typer.Option(help="mpich, openmpi, or on a node intel.")]
Lab = Annotated[bool, typer.Option("--lab/--node", help="Where: the lab that is up, or this node.")]
Launch = Annotated[
    str | None, typer.Option(metavar="COMMAND", help='Elsewhere: what starts the ranks, "srun -n 16".')
]
RanksPerHost = Annotated[int | None, typer.Option(min=1, help="Ranks on a host of the lab.")]
