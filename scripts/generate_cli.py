#!/usr/bin/env python3
"""The reference of the command line, from its own metadata: pages, man pages and JSON Schemas.

generate_cli.py [--check]: docs/reference/cli/*.md, docs/man/*.1, docs/reference/schemas/*.json. What is
explained beyond options stands in docs/reference/*.md, and is linked."""

import argparse
import difflib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

from unisono import __version__, cli  # noqa: E402
from unisono.core import documents  # noqa: E402

PAGES, MANUALS, SCHEMAS = (Path("docs") / name for name in ("reference/cli", "man", "reference/schemas"))
BY_HAND = ("index.md",)  # in PAGES
HIDDEN = {"--help"}
KINDS = {"int": "N", "float": "X", "str": "TEXT", "path": "FILE"}
Command = Any  # Click's, which Typer brings along under a name of its own
BOLD = re.compile(r"\[bold\](.*?)\[/bold\]")


def commands(command: Command, context: Any) -> Iterator[tuple[Command, Any]]:
    """It, and all below it."""
    yield command, context
    for name in command.list_commands(context) if hasattr(command, "list_commands") else ():
        below = command.commands[name]
        yield from commands(below, type(context)(below, info_name=name, parent=context))


def everything() -> list[tuple[Command, Any]]:
    root = typer.main.get_command(cli.command_line())
    return list(commands(root, root.make_context("unisono", ["run", "x"], resilient_parsing=True)))


def usage(command: Command, context: Any) -> str:
    return " ".join([context.command_path, *command.collect_usage_pieces(context)])


def description(command: Command) -> str:
    return (command.help or command.callback.__doc__ or "").strip()


def is_argument(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "argument")


def names_of(parameter: Any) -> list[str]:
    """--lab/--node, -n, PROFILE"""
    if is_argument(parameter):
        return [parameter.metavar or parameter.name.upper()]
    return [*parameter.opts, *parameter.secondary_opts]


def value_of(parameter: Any, context: Any) -> str:
    if is_argument(parameter) or parameter.is_flag or parameter.secondary_opts:
        return ""
    if choices := getattr(parameter.type, "choices", ()):
        return str(parameter.metavar or "|".join(choices))
    kind = parameter.type.name.split()[0]
    return str(parameter.metavar or KINDS.get(kind, kind.upper()))


def default_of(parameter: Any) -> str:
    if parameter.required:
        return "required"
    shown = getattr(parameter, "show_default", True)
    if isinstance(shown, str):
        return shown
    value = parameter.default
    if not is_argument(parameter) and parameter.secondary_opts:
        return str((parameter.opts if value else parameter.secondary_opts)[0])
    if value is None or value is False or value == [] or shown is False or callable(value):
        return ""
    return str(getattr(value, "value", value))


def parameters(command: Command) -> list[Any]:
    return [one for one in command.params if not HIDDEN & set(one.opts) and not one.hidden]


def page(own: list[tuple[Command, Any]]) -> str:
    lines = ["<!-- Written by scripts/generate_cli.py: make generate -->"]
    for depth, (command, context) in enumerate(own):
        path = context.command_path
        lines += [
            "",
            f"{'#' if depth == 0 else '##'} {path}",
            "",
            said(command),
        ]
        lines += ["", "```text", usage(command, context), "```"]
        if rows := [option_row(one, context) for one in parameters(command)]:
            lines += ["", "| option | default | |", "|---|---|---|", *rows]
    name = own[0][0].name
    if (ROOT / "docs" / "reference" / f"{name}.md").exists():
        lines += ["", f"More about it: [{name}](../{name}.md)."]
    return "\n".join(lines) + "\n"


def overview(tops: dict[str, list[tuple[Command, Any]]]) -> str:
    lines = ["<!-- Written by scripts/generate_cli.py: make generate -->", "", "# Commands"]
    for panel, names in cli.PANELS.items():
        present = [name for name in names if name in tops]
        lines += ["", f"## {panel}", "", "| command | |", "|---|---|"]
        for name in present:
            first = said(tops[name][0][0]).split("\n\n")[0].replace("\n", " ")
            lines.append(f"| [`unisono {name}`]({name}.md) | {first} |")
    return "\n".join(lines) + "\n"


def said(command: Command) -> str:
    return plain(BOLD.sub(r"`\1`", description(command)))


def plain(text: str) -> str:
    return re.sub(r"\n +", "\n", text)


def option_row(parameter: Any, context: Any) -> str:
    names = ", ".join(f"`{name}`" for name in names_of(parameter))
    value = value_of(parameter, context)
    names += f" `{value}`" if value else ""
    default = default_of(parameter)
    if default and default != "required":
        default = f"`{default}`"
    text = (parameter.help or "").replace("|", "\\|")
    return f"| {names.replace('|', chr(92) + '|')} | {default} | {text} |"


def roff(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


def manual(own: list[tuple[Command, Any]], others: list[str]) -> str:
    command, context = own[0]
    path = context.command_path
    first = roff(BOLD.sub(r"\1", description(command)).split("\n")[0].split(":")[0].rstrip("."))
    lines = [
        '.\\" Written by scripts/generate_cli.py: make generate',
        f'.TH {path.replace(" ", "-").upper()} 1 "" "Unisono {__version__}" "User Commands"',
        ".SH NAME",
        f"{roff(path.replace(' ', '-'))} \\- {first}",
        ".SH SYNOPSIS",
    ]
    for below, its in own:
        lines += [f".B {roff(usage(below, its))}", ".br"]
    for below, its in own:
        title = "DESCRIPTION" if below is command else its.command_path.upper()
        lines += [f'.SH "{roff(title)}"', roff(plain(BOLD.sub(r"\1", description(below))))]
        for one in parameters(below):
            value, default = value_of(one, its), default_of(one)
            shown = ", ".join(rf"\fB{roff(name)}\fR" for name in names_of(one))
            lines += [".TP", shown + (rf" \fI{roff(value)}\fR" if value else "")]
            lines.append(roff((one.help or "") + (f" [{default}]" if default else "")) or "\\&")
    lines += [
        '.SH "EXIT STATUS"',
        "0 done; 1 tried and failed, or problems were found; 2 an option, an argument or a file cannot be "
        "used; 3 an MPI library, a tool, a lab or permission is missing; 130 interrupted.",
        '.SH "SEE ALSO"',
        ", ".join(f"{roff(name)}(1)" for name in others),
    ]
    return "\n".join(lines) + "\n"


def manuals_of(tops: dict[str, list[tuple[Command, Any]]], root: tuple[Command, Any]) -> dict[Path, str]:
    names = [f"unisono-{name}" for name in tops]
    made = {MANUALS / "unisono.1": manual([root], names)}
    for name, own in tops.items():
        made[MANUALS / f"unisono-{name}.1"] = manual(own, ["unisono"])
    return made


def files() -> dict[Path, str]:
    root, *rest = everything()
    tops: dict[str, list[tuple[Command, Any]]] = {}
    for command, context in rest:
        tops.setdefault(context.command_path.split()[1], []).append((command, context))
    made = {PAGES / f"{name}.md": page(own) for name, own in tops.items()}
    made[PAGES / "commands.md"] = overview(tops)
    made |= manuals_of(tops, root)
    for document in documents.every():
        name = documents.name_of(document).removeprefix("unisono.")
        made[SCHEMAS / f"{name}.json"] = json.dumps(documents.schema_of(document), indent=2) + "\n"
    return made


def left_over(made: dict[Path, str]) -> list[Path]:
    """Of commands that are no more."""
    present = [
        path.relative_to(ROOT)
        for folder in (PAGES, MANUALS, SCHEMAS)
        for path in sorted((ROOT / folder).glob("*"))
        if path.name not in BY_HAND
    ]
    return [path for path in present if path not in made]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing: is all as it would be written?")
    check = parser.parse_args().check
    made = files()
    wrong = 0
    for path, text in made.items():
        file = ROOT / path
        present = file.read_text() if file.exists() else ""
        if present == text:
            continue
        wrong += 1
        if check:
            difference = difflib.unified_diff(present.splitlines(), text.splitlines(), lineterm="", n=0)
            print("\n".join([f"{path} is out of date: make generate", *list(difference)[:12]]))
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            print(f"wrote {path}")
    for path in left_over(made):
        wrong += 1
        print(f"{path} is no command's: {'make generate' if check else 'removed'}")
        if not check:
            (ROOT / path).unlink()
    return int(check and wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
