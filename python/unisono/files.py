"""Results are written as a whole, or not at all."""

import json
from pathlib import Path
from typing import Any

from unisono.errors import UnisonoError


def write_text(text: str, path: Path) -> None:
    """Replaces the file as a whole: a kill in the middle leaves the former one."""
    following = path.with_name(path.name + ".part")
    try:
        following.write_text(text)
        following.replace(path)
    except OSError as error:
        following.unlink(missing_ok=True)
        raise UnisonoError(f"{path}: cannot be written: {error.strerror}") from error


def write_json(data: Any, path: Path) -> None:
    write_text(json.dumps(data, indent=1) + "\n", path)
