"""What a comparison found, and its JSON form (docs/reference/compare.md)."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from unisono.core import documents
from unisono.core.catalogue import format_size
from unisono.core.estimates import Estimate, Modes
from unisono.core.limits import Sized, size_kind
from unisono.testbeds.library import Loaded

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
    mean_us: float | None = None
    mean_ratio: Estimate | None = None  # of the means over all blocks, to native's

    @property
    def handed_on(self) -> bool:
        return self.name != "native" and self.ran_by == "mpi"

    @property
    def loses_by_mean(self) -> bool:
        """Surely, and by more than 5 %: one slow block among many is not enough."""
        return self.mean_ratio is not None and self.mean_ratio.is_slower and self.mean_ratio.median > SLOW

    @property
    def is_slow(self) -> bool:
        by_median = self.ratio_to_native is not None and self.ratio_to_native.median > SLOW
        return by_median or self.loses_by_mean

    @property
    def verdict(self) -> str:
        """By the median and by the mean: a median hides what happens in a third of the blocks."""
        if self.ratio_to_native is None:
            return ""
        if self.ratio_to_native.is_slower or self.loses_by_mean:
            return "slower"
        loses = self.mean_ratio is not None and self.mean_ratio.median >= 1
        return "faster" if self.ratio_to_native.is_faster and not loses else "undecided"

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
    libraries: list[Loaded] = field(default_factory=list)  # what was measured
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


class Row(msgspec.Struct):
    """A cell or a failure, flat: what spreadsheets and data frames read."""

    mpi: str
    ranks: int
    ranks_per_host: int
    pattern: str
    collective: str
    size: int
    size_of: str

    @property
    def point(self) -> Point:
        setting = Setting(self.mpi, self.ranks, self.ranks_per_host, self.pattern)
        return Point(setting, self.collective, self.size)


class ArmRow(msgspec.Struct, kw_only=True):
    """One way to run the call; times over the blocks of all passes."""

    name: str
    available: bool
    ran_by: str = ""
    correct: bool = True
    blocks: int = 0
    time_us: Estimate | None = None
    quantiles_us: tuple[float, ...] = ()
    ratio_to_native: Estimate | None = None
    modes: Modes | None = None
    mean_us: float | None = None
    mean_ratio: Estimate | None = None
    verdict: str = ""
    times_limit: float | None = None


class CellRow(Row, kw_only=True):
    """A cell that was measured."""

    limit_us: float | None
    arms: list[ArmRow]


class FailureRow(Row, kw_only=True):
    """A cell without a result."""

    reason: str
    is_error: bool


class Document(documents.Document, tag="unisono.compare", kw_only=True):
    """What a comparison found (compare.md)."""

    schema_version: int = 3
    date: str
    bed: Json
    options: Json
    libraries: list[Loaded] = msgspec.field(default_factory=list)
    machines: list[Json]
    cells: list[CellRow]
    failures: list[FailureRow]
    planned: int
    interrupted: bool


def document_of(comparison: Comparison) -> Document:
    return Document(
        **{name: getattr(comparison, name) for name in KEPT},
        cells=[
            CellRow(
                **flat(cell.point),
                limit_us=cell.limit_us,
                arms=[
                    ArmRow(**vars(arm), verdict=arm.verdict, times_limit=cell.times_limit(arm))
                    for arm in cell.arms
                ],
            )
            for cell in comparison.cells
        ],
        failures=[
            FailureRow(**flat(one.point), reason=one.reason, is_error=one.is_error)
            for one in comparison.failures
        ],
    )


KEPT = ("date", "unisono_version", "bed", "options", "libraries", "machines", "planned", "interrupted")


def flat(point: Point) -> Json:
    of = {"collective": point.collective, "size": point.size, "size_of": str(size_kind(point.collective))}
    return {**vars(point.setting), **of}


def arm_of(row: ArmRow) -> Arm:
    own = msgspec.structs.asdict(row)
    del own["times_limit"], own["verdict"]
    return Arm(**own)


def save(comparison: Comparison, path: Path) -> None:
    documents.write(document_of(comparison), path)


def load(path: Path) -> Comparison:
    found = documents.read(path, Document, "unisono compare --json")
    return Comparison(
        **{name: getattr(found, name) for name in KEPT},
        cells=[Cell(row.point, row.limit_us, tuple(map(arm_of, row.arms))) for row in found.cells],
        failures=[Failure(row.point, row.reason, row.is_error) for row in found.failures],
    )
