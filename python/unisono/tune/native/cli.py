"""What `unisono tune --native-only` shows."""

import signal

import typer
from rich.console import Console

from unisono.errors import UnisonoError
from unisono.tune.native import terminal
from unisono.tune.native.run import EXPORTS, Options, run


def demand_both(native_only: bool, export: str | None) -> None:
    if not native_only:
        raise UnisonoError("--export is for --native-only: a profile of Unisono is no MPI library's file")
    if not export:
        raise UnisonoError(f"--native-only: say for which library, --export {' or --export '.join(EXPORTS)}")


def tune_and_show(options: Options) -> None:
    console, errors = Console(highlight=False), Console(stderr=True, highlight=False)
    if not console.is_terminal:
        console.width = 150
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with errors.status("starting", refresh_per_second=1) as status:  # the cores are for the ranks
            result = run(options, status.update)
    except KeyboardInterrupt:
        errors.print(f"interrupted; go on: the same command with --resume (kept in {options.work})")
        raise typer.Exit(130) from None
    terminal.show(result, console)
    if not result.complete:
        console.print(f"go on: the same command with --resume (kept in {options.work})", soft_wrap=True)
        raise typer.Exit(1)
