"""What commands write as JSON: one envelope for all of it (docs/reference/cli/index.md).

A document is a Struct beside the command that writes it; its JSON Schema is generated from it. A number has
its unit at the end of its name: _seconds or _s, _us, _bytes; a name that is a unit (seconds, bytes) says
enough."""

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from unisono import __version__
from unisono.core import files
from unisono.core.errors import UnisonoError

Json = dict[str, Any]

# Where documents are declared.
MODULES = (
    "unisono.advise.document",
    "unisono.core.answers",
    "unisono.lab.answers",
    "unisono.profile.answers",
    "unisono.compare.results",
    "unisono.model.check",
    "unisono.sim.program",
    "unisono.sim.table",
    "unisono.trace.document",
    "unisono.tune.native.run",
    "unisono.tune.report",
    "unisono.tune.verify",
    "unisono.whatif.results",
)


class Document(msgspec.Struct, kw_only=True, tag_field="schema"):
    """`schema` is the tag of the class; the version rises when a reader of the former form would misread the
    new one."""

    schema_version: int = 1
    unisono_version: str = __version__


Of = TypeVar("Of", bound=Document)


def every() -> Iterator[type[Document]]:
    for module in MODULES:
        importlib.import_module(module)
    yield from sorted(Document.__subclasses__(), key=name_of)


def name_of(document: type[Document]) -> str:
    return str(document.__struct_config__.tag)


def version_of(document: type[Document]) -> int:
    fields = msgspec.structs.fields(document)
    return int(next(field.default for field in fields if field.name == "schema_version"))


def schema_of(document: type[Document]) -> Json:
    """JSON Schema 2020-12."""
    made = msgspec.json.schema(document)
    title = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": name_of(document)}
    return {**title, **made}


def text(document: Document) -> str:
    return msgspec.json.format(msgspec.json.encode(document), indent=1).decode() + "\n"


def write(document: Document, path: Path | None) -> None:
    """As --json says it: nowhere, to a file, or for - to standard output."""
    if path is None:
        return
    if str(path) == "-":
        sys.stdout.write(text(document))
    elif path.suffix == files.COMPRESSED:
        files.write_json(msgspec.to_builtins(document), path)
    else:
        files.write_text(text(document), path)


def load(path: Path) -> Any:
    """The JSON of a file, as this version would have written it."""
    body = files.read_json(path)
    return upgraded(body) if isinstance(body, dict) else body


def read(path: Path, document: type[Of], written_by: str) -> Of:
    body = load(path)
    if not isinstance(body, dict) or body.get("schema") != name_of(document):
        raise UnisonoError(f"{path}: was not written by {written_by}")
    if (found := body.get("schema_version")) != (wanted := version_of(document)):
        raise UnisonoError(f"{path}: has schema version {found}, this is for {wanted}")
    try:
        return msgspec.convert(body, document)
    except msgspec.ValidationError as error:
        raise UnisonoError(f"{path}: is incomplete ({error})") from error


# Before there was one envelope; docs/results/ has files of that time.
FORMER = {
    "unisono-compare": "unisono.compare",
    "unisono-profile": "unisono.profile",
    "unisono-profile-verification": "unisono.verification",
    "unisono-report": "unisono.report",
    "unisono-sim": "unisono.sim",
}


def upgraded(body: Json) -> Json:
    """Step by step to the newest version; what is not known is left as it is."""
    former = body.get("schema", body.get("format"))
    if not isinstance(former, str):
        return body
    if name := FORMER.get(former):
        version = body.get("schema_version", body.get("version"))
        kept = {key: value for key, value in body.items() if key not in {"format", "version", "unisono"}}
        written_by = body.get("unisono_version", body.get("unisono", ""))
        body = {**kept, "schema": name, "schema_version": version, "unisono_version": written_by}
    while step := UPGRADES.get((body.get("schema"), body.get("schema_version"))):
        body = step(body)
    return body


def with_patterns(body: Json) -> Json:
    """Version 1 of a comparison said of the whole file whether calls came back to back."""
    options = body.get("options")
    pattern = "loop" if isinstance(options, dict) and options.get("loop") else "barrier"
    return {**body, **rows(body, lambda row: {**row, "pattern": pattern}), "schema_version": 2}


def with_one_size(body: Json) -> Json:
    """In version 2 the size of a scattered reduction was one block, and bench_bytes what all else counted."""

    def whole(row: Json) -> Json:
        size = row.pop("bench_bytes", row.get("size"))
        vector = {"size_of": "vector"} if str(row.get("collective")).startswith("reduce_scatter") else {}
        return {**row, "size": size, **vector}

    return {**body, **rows(body, whole), "schema_version": 3}


def rows(body: Json, change: Callable[[Json], Json]) -> Json:
    lists = {name: body[name] for name in ("cells", "failures") if isinstance(body.get(name), list)}
    return {
        name: [change(dict(row)) for row in found if isinstance(row, dict)] for name, found in lists.items()
    }


UPGRADES: dict[tuple[Any, Any], Callable[[Json], Json]] = {
    ("unisono.compare", 1): with_patterns,
    ("unisono.compare", 2): with_one_size,
}
