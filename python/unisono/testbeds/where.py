"""Options of the commands that start jobs somewhere: how many ranks of which library, and where."""

from typing import Annotated

import typer

from unisono.core.options import LIBRARIES
from unisono.core.options import Library as Name

Ranks = Annotated[int | None, typer.Option("-n", min=2, help="Ranks; otherwise one for each core or host.")]
Library = Annotated[
    Name, typer.Option(metavar="LIBRARY", help=f"{LIBRARIES}: the one on PATH, or the only one.")
]
Lab = Annotated[bool, typer.Option("--lab/--node", help="Where: the lab that is up, or this node.")]
Launch = Annotated[
    str | None, typer.Option(metavar="COMMAND", help='Elsewhere: what starts the ranks, "srun -n 16".')
]
RanksPerHost = Annotated[int | None, typer.Option(min=1, help="Ranks on a host of the lab.")]
