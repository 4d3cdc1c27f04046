"""What `unisono tune --native-only` shows."""

import signal

import typer

from unisono.core.console import errors, output
from unisono.core.errors import FAILED, INTERRUPTED
from unisono.tune.native import terminal
from unisono.tune.native.run import Options, run


def tune_and_show(options: Options) -> None:
    console = output()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with errors.status("starting", refresh_per_second=1) as status:  # the cores are for the ranks
            result = run(options, status.update)
    except KeyboardInterrupt:
        errors.print(f"interrupted; go on: the same command with --resume (kept in {options.work})")
        raise typer.Exit(INTERRUPTED) from None
    terminal.show(result, console)
    if not result.complete:
        console.print(f"go on: the same command with --resume (kept in {options.work})", soft_wrap=True)
        raise typer.Exit(FAILED)
