"""The `unisono` command: which commands there are, in the order in which they are needed."""

import sys
from typing import Annotated, Any

import typer
from rich.text import Text
from typer.core import TyperGroup

from unisono import __version__, catalogue_cli, doctor_cli
from unisono.advise.cli import advise
from unisono.compare.cli import compare
from unisono.core import console, errors
from unisono.core.errors import UnisonoError
from unisono.core.options import group
from unisono.core.shown import line
from unisono.exec_cli import exec_command
from unisono.lab.cli import app as lab_app
from unisono.model.cli import app as model_app
from unisono.platform.cli import app as platform_app
from unisono.profile.cli import app as profile_app
from unisono.profile.cli import explain
from unisono.restructure.cli import restructure
from unisono.run_cli import run
from unisono.schedule_cli import app as schedule_app
from unisono.sim.cli import sim
from unisono.trace.cli import app as trace_app
from unisono.trace.report_cli import report
from unisono.tune.cli import tune
from unisono.tune.verify_cli import verify
from unisono.whatif.cli import whatif

# The panels of --help, and in them the commands, in the order in which a newcomer needs them.
PANELS = {
    "Use it": ("run", "exec", "doctor", "info"),
    "Understand": ("trace", "report", "advise", "whatif", "explain", "compare", "list", "show"),
    "Make it faster": ("tune", "profile", "platform", "model", "restructure", "schedule"),
    "Test beds": ("lab", "sim"),
}
ORDER = [name for names in PANELS.values() for name in names]
REST = {"allow_interspersed_args": False}  # what follows is another program's


class InOrder(TyperGroup):
    def list_commands(self, _ctx: Any) -> list[str]:
        return sorted(self.commands, key=ORDER.index)


def of(name: str, **more: Any) -> dict[str, Any]:
    """What is said of a command where it is added."""
    panel = next(panel for panel, names in PANELS.items() if name in names)
    return {"name": name, "rich_help_panel": panel, **more}


app = group(
    "Makes the MPI collectives of unmodified programs faster, and shows why they were slow.", cls=InOrder
)

app.command(**of("run", context_settings=REST))(run)
app.command(**of("exec", context_settings=REST))(exec_command)
app.command(**of("doctor"))(doctor_cli.doctor)
app.command(**of("info"))(doctor_cli.info)
app.add_typer(trace_app, **of("trace"))
app.command(**of("report"))(report)
app.command(**of("advise"))(advise)
app.command(**of("whatif"))(whatif)
app.command(**of("explain"))(explain)
app.command(**of("compare"))(compare)
app.command(**of("list"))(catalogue_cli.list_command)
app.command(**of("show"))(catalogue_cli.show)
app.command(**of("tune"))(tune)
profile_app.command()(verify)
app.add_typer(profile_app, **of("profile"))
app.add_typer(platform_app, **of("platform"))
app.add_typer(model_app, **of("model"))
app.command(**of("restructure"))(restructure)
app.add_typer(schedule_app, **of("schedule"))
app.add_typer(lab_app, **of("lab"))
app.command(**of("sim", context_settings=REST))(sim)


def show_version(asked: bool) -> None:
    if asked:
        print(f"unisono {__version__}")
        raise typer.Exit


@app.callback()
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
