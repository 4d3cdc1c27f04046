"""What can be wrong with a profile: by its schema, and what a schema cannot say."""

from collections.abc import Iterator
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from unisono.core import catalogue, documents, files
from unisono.core.errors import UnisonoError
from unisono.profile import document
from unisono.profile.document import Environment, Profile

SCHEMA = resources.files("unisono.profile") / "profile.schema.json"


def load(path: Path) -> Profile:
    """A profile that can be used; otherwise one line that says why not."""
    data = documents.load(path)
    problem = next(problems(data), None)
    if problem:
        raise UnisonoError(f"{path}: {problem}; all of it: unisono profile check {path}")
    return document.from_json(data)


def problems(data: Any) -> Iterator[str]:
    """One line each; none: a good profile."""
    if not isinstance(data, dict) or data.get("schema") != document.SCHEMA:
        yield f"no profile of Unisono (schema is not {document.SCHEMA})"
        return
    version = data.get("schema_version")
    if isinstance(version, int) and version > document.VERSION:
        yield f"made by a newer Unisono (version {version}, this one reads {document.VERSION}): update it"
        return
    import jsonschema  # noqa: PLC0415 - takes a quarter of a second to load

    validator = jsonschema.Draft202012Validator(files.decoded(SCHEMA.read_text()))
    faults = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(data)]
    yield from faults
    if not faults:
        yield from contradictions(document.from_json(data))


def contradictions(profile: Profile) -> Iterator[str]:
    for number, environment in enumerate(profile.environments):
        where = f"environment {number + 1} ({environment.key.text()})"
        if environment.key.nodes > environment.key.ranks:
            yield f"{where}: more nodes than ranks"
        if any(environment.key.like(other.key) for other in profile.environments[:number]):
            yield f"{where}: is there twice; unisono profile merge makes one of two"
        for problem in faults_of(environment):
            yield f"{where}: {problem}"


def faults_of(environment: Environment) -> Iterator[str]:
    former = None
    for cell in document.sort_cells(list(environment.cells)):
        where = f"{cell.collective} {cell.least} to {cell.most}"
        if cell.least > cell.most:
            yield f"{where}: ends before it begins"
        if former and former.collective == cell.collective and former.most >= cell.least:
            yield f"{where}: overlaps {former.least} to {former.most}"
        wrong = fault_of_spec(cell.collective, cell.choice)
        if wrong:
            yield f"{where}: {wrong}"
        for measured in cell.measured:
            if not cell.holds(measured.bytes):
                yield f"{where}: holds measurements of {measured.bytes} bytes"
        former = cell


@cache
def fault_of_spec(collective: str, spec: str) -> str:
    """Asks the catalogue; empty: it is one."""
    try:
        catalogue.complete_spec(collective, spec)
    except UnisonoError as error:
        return str(error)
    return ""


def environment_of(profile: Profile, path: Path, mpi: str | None, ranks: int | None) -> Environment:
    """The only one that fits."""
    fitting = [
        environment
        for environment in profile.environments
        if mpi in {None, environment.key.flavour} and ranks in {None, environment.key.ranks}
    ]
    if len(fitting) == 1:
        return fitting[0]
    held = "; ".join(environment.key.text() for environment in profile.environments) or "nothing"
    if not fitting:
        raise UnisonoError(f"{path}: nothing for --mpi {mpi or 'any'} -n {ranks or 'any'}; it holds {held}")
    raise UnisonoError(f"{path}: which of these? say --mpi and -n: {held}")
