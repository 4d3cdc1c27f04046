"""The working folder of a tuning: what was measured survives its end, and --resume goes on from there."""

import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

from unisono.core import files
from unisono.core.errors import UnisonoError
from unisono.profile.document import Arm, Key, estimate_of
from unisono.testbeds.bench import Failed, Point, Row

MEASURED, PLAN = "measured.jsonl", "plan.json"


class Record:
    """A line per cell and round."""

    def __init__(self, folder: Path, plan: dict[str, Any], resume: bool) -> None:
        self.folder = folder
        self.rows: dict[tuple[str, Point], Row] = {}
        file = folder / MEASURED
        if resume:
            self.read(file, plan)
        elif file.exists():
            raise UnisonoError(f"{folder} holds measured cells: go on with --resume, or remove it")
        try:
            files.make_own_folder(folder, PLAN)
            (folder / PLAN).write_text(json.dumps(plan) + "\n")
        except OSError as error:
            raise UnisonoError(f"{folder}: {error.strerror}") from error

    def read(self, file: Path, plan: dict[str, Any]) -> None:
        try:
            former = files.decoded(files.read_bytes(self.folder / PLAN))
            lines = files.read_text(file).splitlines() if file.exists() else []
        except (OSError, ValueError, AttributeError) as error:
            raise UnisonoError(f"{self.folder}: nothing to --resume: leave that option out") from error
        for name, value in plan.items():
            if former.get(name) != value:
                raise UnisonoError(
                    f"--resume: {self.folder} was begun with {name} {former.get(name)}, not {value}"
                )
        for line in lines:
            try:
                kind, row = row_of(files.decoded(line))
            except (ValueError, KeyError, TypeError):
                continue  # the end of a line that was being written
            self.rows[kind, row.point] = row

    def add(self, kind: str, row: Row) -> None:
        self.rows[kind, row.point] = row
        with (self.folder / MEASURED).open("a") as file:
            file.write(json.dumps({"kind": kind, **asdict(row)}) + "\n")

    def get(self, kind: str, point: Point) -> Row | None:
        return self.rows.get((kind, point))

    def points(self) -> list[Point]:
        return list(dict.fromkeys(point for _, point in self.rows))

    @staticmethod
    def remove(folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)


def row_of(data: dict[str, Any]) -> tuple[str, Row]:
    def arm(row: dict[str, Any]) -> Arm:
        ratio = row.pop("ratio_to_native")
        return Arm(**row, ratio_to_native=estimate_of(ratio) if ratio else None)

    return data["kind"], Row(
        point=Point(**data["point"]),
        arms=tuple(map(arm, data["arms"])),
        key=Key(**data["key"]) if data["key"] else None,
        problem=data["problem"],
        wrong=data["wrong"],
        failed=tuple(Failed(**failed) for failed in data["failed"]),
        blocks={spec: tuple(times) for spec, times in data["blocks"].items()},
    )
