"""What a comparison found, and its JSON form (docs/reference/compare.md)."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from unisono.catalogue import format_size
from unisono.compare.limits import Sized, bench_bytes, size_kind
from unisono.errors import UnisonoError
from unisono.estimates import Estimate, Modes
from unisono.files import read_json, write_json

SCHEMA = "unisono-compare"
SCHEMA_VERSION = 2  # rises when a reader of the former form would misread the new one

PATTERNS = ("barrier", "loop", "sleep", "compute")  # unisono-bench's: what ranks do before a call

SLOW = 1 / 0.95  # of native's time; above it lies what is slower than 0.95 of native's speed

Json = dict[str, Any]


@dataclass(frozen=True)
class Setting:
    """Jobs with the same setting run the same program on the same places."""

    mpi: str
    ranks: int
    ranks_per_host: int
    pattern: str = PATTERNS[0]

    def text(self) -> str:
        spread = f", {self.ranks_per_host} a host" if self.ranks_per_host < self.ranks else ""
        pattern = f", {self.pattern}" if self.pattern != PATTERNS[0] else ""
        return f"{self.mpi}, {self.ranks} ranks{spread}{pattern}"


@dataclass(frozen=True)
class Point:
    """Where a cell lies in the matrix."""

    setting: Setting
    collective: str
    size: int  # bytes of what size_kind() says

    @property
    def bench_bytes(self) -> int:
        return bench_bytes(self.collective, self.size, self.setting.ranks)

    @property
    def size_text(self) -> str:
        sized = size_kind(self.collective)
        return "-" if sized is Sized.NOTHING else f"{format_size(self.size)} {sized}"

    def text(self) -> str:
        return f"{self.setting.text()}, {self.collective} {self.size_text}"


@dataclass(frozen=True)
class Arm:
    name: str
    available: bool  # False: it cannot serve the call
    ran_by: str = ""  # unisono, mpi
    correct: bool = True
    blocks: int = 0
    time_us: Estimate | None = None
    quantiles_us: tuple[float, ...] = ()  # 0, 25, 50, 75, 100 %
    ratio_to_native: Estimate | None = None
    modes: Modes | None = None  # of the blocks of all passes, in us

    @property
    def handed_on(self) -> bool:
        return self.name != "native" and self.ran_by == "mpi"

    @property
    def is_slow(self) -> bool:
        return self.ratio_to_native is not None and self.ratio_to_native.median > SLOW

    @property
    def spread(self) -> float | None:
        """The middle half of the times, as a share of the median."""
        if len(self.quantiles_us) != 5 or not self.quantiles_us[2]:
            return None
        return (self.quantiles_us[3] - self.quantiles_us[1]) / self.quantiles_us[2]


@dataclass(frozen=True)
class Cell:
    point: Point
    limit_us: float | None
    arms: tuple[Arm, ...]

    def arm(self, name: str) -> Arm | None:
        return next((arm for arm in self.arms if arm.name == name), None)

    def times_limit(self, arm: Arm) -> float | None:
        if arm.time_us is None or self.limit_us is None:
            return None
        return arm.time_us.median / self.limit_us


@dataclass(frozen=True)
class Failure:
    """A cell without a result, and why; `is_error` is False where none could be expected."""

    point: Point
    reason: str
    is_error: bool = True


@dataclass
class Comparison:
    date: str
    unisono_version: str
    bed: Json
    options: Json
    machines: list[Json] = field(default_factory=list)  # unisono-bench's own words, per setting
    cells: list[Cell] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    planned: int = 0
    interrupted: bool = False

    @property
    def wrong(self) -> list[tuple[Cell, Arm]]:
        return [(cell, arm) for cell in self.cells for arm in cell.arms if not arm.correct]

    def settings(self) -> list[Setting]:
        return list(dict.fromkeys(cell.point.setting for cell in self.cells))

    def patterns(self) -> list[str]:
        used = {setting.pattern for setting in self.settings()}
        return [pattern for pattern in PATTERNS if pattern in used]


def to_json(comparison: Comparison) -> Json:
    # A list of one kind of records each, flat: what spreadsheets and data frames read.
    body = asdict(comparison)
    body["cells"] = [
        {**flat(cell.point), "limit_us": cell.limit_us, "arms": [arm_json(a, cell) for a in cell.arms]}
        for cell in comparison.cells
    ]
    body["failures"] = [
        {**flat(f.point), "reason": f.reason, "is_error": f.is_error} for f in comparison.failures
    ]
    return {"schema": SCHEMA, "schema_version": SCHEMA_VERSION, **body}


def flat(point: Point) -> Json:
    return {
        **asdict(point.setting),
        "collective": point.collective,
        "size": point.size,
        "size_of": size_kind(point.collective),
        "bench_bytes": point.bench_bytes,
    }


def arm_json(arm: Arm, cell: Cell) -> Json:
    return {**asdict(arm), "times_limit": cell.times_limit(arm)}


def point_of(row: Json) -> Point:
    setting = Setting(row["mpi"], row["ranks"], row["ranks_per_host"], row["pattern"])
    return Point(setting, row["collective"], row["size"])


def arm_of(row: Json) -> Arm:
    known = {key: value for key, value in row.items() if key in Arm.__dataclass_fields__}
    for name in ("time_us", "ratio_to_native"):
        known[name] = Estimate(**known[name]) if known.get(name) else None
    known["modes"] = Modes(**known["modes"]) if known.get("modes") else None
    known["quantiles_us"] = tuple(known.get("quantiles_us", ()))
    return Arm(**known)


def from_json(body: Json) -> Comparison:
    return Comparison(
        date=body["date"],
        unisono_version=body["unisono_version"],
        bed=body["bed"],
        options=body["options"],
        machines=body["machines"],
        cells=[
            Cell(point_of(row), row["limit_us"], tuple(arm_of(arm) for arm in row["arms"]))
            for row in body["cells"]
        ],
        failures=[Failure(point_of(row), row["reason"], row["is_error"]) for row in body["failures"]],
        planned=body["planned"],
        interrupted=body["interrupted"],
    )


def with_patterns(body: Json) -> Json:
    """Version 1 said of the whole file whether calls came back to back."""
    options = body.get("options")
    pattern = {"pattern": "loop" if isinstance(options, dict) and options.get("loop") else "barrier"}
    lists: Json = {
        name: [{**row, **pattern} for row in body.get(name, []) if isinstance(row, dict)]
        for name in ("cells", "failures")
        if name in body
    }
    return {**body, **lists, "schema_version": SCHEMA_VERSION}


def save(comparison: Comparison, path: Path) -> None:
    write_json(to_json(comparison), path)


def load(path: Path) -> Comparison:
    body = read_json(path)
    if not isinstance(body, dict) or body.get("schema") != SCHEMA:
        raise UnisonoError(f"{path}: was not written by unisono compare --json")
    if body.get("schema_version") == 1:
        body = with_patterns(body)
    if body.get("schema_version") != SCHEMA_VERSION:
        raise UnisonoError(
            f"{path}: has schema version {body.get('schema_version')}, this is for {SCHEMA_VERSION}"
        )
    try:
        return from_json(body)
    except (KeyError, TypeError) as error:
        raise UnisonoError(f"{path}: is incomplete ({error})") from error
