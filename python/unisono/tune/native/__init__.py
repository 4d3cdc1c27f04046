"""`unisono tune --native-only`: the best of the MPI library's own algorithms, written as its own
configuration file. Programs then profit without Unisono."""

from unisono.tune.native.cli import tune_and_show
from unisono.tune.native.rules import COLLECTIVES
from unisono.tune.native.run import Options, Result, run

__all__ = ["COLLECTIVES", "Options", "Result", "run", "tune_and_show"]
