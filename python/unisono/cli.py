"""The `unisono` command: which commands there are, in the order in which they are needed."""

import sys
from importlib import import_module
from typing import Annotated, Any

import typer
from rich.text import Text
from typer.core import TyperGroup

from unisono import __version__
from unisono.core import console, errors
from unisono.core.errors import UnisonoError
from unisono.core.options import group
from unisono.core.shown import line

# The panels of --help, and in them the commands, in the order in which a newcomer needs them.
PANELS = {
    "Use it": ("run", "exec", "doctor", "info"),
    "Understand": ("trace", "report", "advise", "whatif", "explain", "compare", "list", "show"),
    "Make it faster": ("tune", "profile", "platform", "model", "restructure", "schedule"),
    "Test beds": ("lab", "sim"),
}
ORDER = [name for names in PANELS.values() for name in names]
# Where a command is that is not <name>.cli:<name>.
PLACES = {
    "run": "run_cli:run",
    "exec": "exec_cli:exec_command",
    "doctor": "doctor_cli:doctor",
    "info": "doctor_cli:info",
    "trace": "trace.cli:app",
    "report": "trace.report_cli:report",
    "explain": "profile.cli:explain",
    "list": "catalogue_cli:list_command",
    "show": "catalogue_cli:show",
    "profile": "tune.verify_cli:app",
    "platform": "platform.cli:app",
    "model": "model.cli:app",
    "schedule": "schedule_cli:app",
    "lab": "lab.cli:app",
}
BEFORE_PROGRAMS = ("run", "exec", "sim")  # what follows is another program's


class InOrder(TyperGroup):
    def list_commands(self, _ctx: Any) -> list[str]:
        return sorted(self.commands, key=ORDER.index)


def show_version(asked: bool) -> None:
    if asked:
        print(f"unisono {__version__}")
        raise typer.Exit


def everywhere(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
    no_color: Annotated[
        bool, typer.Option("--no-color", is_eager=True, help="No colours, as with NO_COLOR=1.")
    ] = False,
) -> None:
    if no_color:
        console.without_colours()


def add(app: typer.Typer, name: str) -> None:
    module, _, place = PLACES.get(name, f"{name}.cli:{name}").partition(":")
    command = getattr(import_module(f"unisono.{module}"), place)
    panel = next(panel for panel, names in PANELS.items() if name in names)
    if isinstance(command, typer.Typer):
        app.add_typer(command, name=name, rich_help_panel=panel)
    else:
        settings = {"allow_interspersed_args": name not in BEFORE_PROGRAMS}
        app.command(name, rich_help_panel=panel, context_settings=settings)(command)


def command_line(asked: str = "") -> typer.Typer:
    """The command that is asked for; all, which take longer to load, where none of that name is."""
    app = group(
        "Makes the MPI collectives of unmodified programs faster, and shows why they were slow.", cls=InOrder
    )
    app.callback()(everywhere)
    for name in [asked] if asked in ORDER else ORDER:
        add(app, name)
    return app


USAGE_ERROR: Any = typer.BadParameter.__base__  # Click's, which Typer brings along under a name of its own


def fail(text: str, status: int) -> None:
    console.errors.print(Text("unisono: ", style="bold red") + Text(line(text)), soft_wrap=True)
    sys.exit(status)


def usage(error: Any) -> str:
    """One line, where Click draws a box."""
    command = error.ctx.command_path if error.ctx else "unisono"
    text = " ".join(error.format_message().split()).rstrip(".")
    return f"{text}{'' if text.endswith('?') else ';'} {command} --help says what is valid"


def main() -> None:
    """The one place that turns what went wrong into an exit status."""
    console.open_closed_streams()
    try:
        app = command_line(*sys.argv[1:2])
        status = app(prog_name="unisono", standalone_mode=False) or errors.DONE
        sys.stdout.flush()
        sys.exit(status)
    except UnisonoError as error:
        fail(str(error), error.status)
    except USAGE_ERROR as error:
        if not error.format_message():  # no argument at all: its help has been shown
            sys.exit(errors.USAGE)
        fail(usage(error), errors.USAGE)
    except (typer.Abort, KeyboardInterrupt):
        fail("interrupted", errors.INTERRUPTED)
    except OSError as error:  # the system refuses: no space, no permission, no such name
        console.drop_output()
        fail(errors.refused(error), errors.FAILED)
    except MemoryError:
        fail("there is not enough memory; raise the limit (ulimit -v), or ask for less", errors.FAILED)


if __name__ == "__main__":
    main()
