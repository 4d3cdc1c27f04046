"""Results are read and written as a whole, or not at all. A file named *.zst is compressed."""

import importlib
import json
from pathlib import Path
from types import ModuleType
from typing import Any

from unisono.core.errors import UnisonoError

COMPRESSED = ".zst"
LEVEL = 19  # a file is written once, and is in every checkout


def write_bytes(data: bytes, path: Path) -> None:
    """Replaces the file as a whole: a kill in the middle leaves the former one."""
    following = path.with_name(path.name + ".part")
    try:
        following.write_bytes(data)
        following.replace(path)
    except OSError as error:
        following.unlink(missing_ok=True)
        raise UnisonoError(f"{path}: cannot be written: {error.strerror}") from error


def write_text(text: str, path: Path) -> None:
    write_bytes(text.encode(), path)


def write_json(data: Any, path: Path) -> None:
    """Indented for people; of a compressed file, the same bytes for the same data."""
    if path.suffix != COMPRESSED:
        write_text(json.dumps(data, indent=1) + "\n", path)
        return
    text = json.dumps(data, separators=(",", ":")) + "\n"
    compressor = zstd(path).ZstdCompressor(level=LEVEL, write_checksum=True)
    write_bytes(compressor.compress(text.encode()), path)


def kept(path: Path) -> Path:
    """Where it is: there, or beside, compressed."""
    compressed = path.with_name(path.name + COMPRESSED)
    return compressed if not path.exists() and compressed.exists() else path


def read_text(path: Path) -> str:
    path = kept(path)
    try:
        data = path.read_bytes()
        return (uncompressed(data, path) if path.suffix == COMPRESSED else data).decode()
    except OSError as error:
        raise UnisonoError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UnisonoError(f"{path}: no text ({error})") from error


def uncompressed(data: bytes, path: Path) -> bytes:
    library = zstd(path)
    try:
        whole: bytes = library.ZstdDecompressor().decompress(data)
    except library.ZstdError as error:
        raise UnisonoError(f"{path}: cannot be uncompressed ({error}); take a copy") from error
    return whole


def zstd(path: Path) -> ModuleType:
    """Loaded only where a file is compressed: an installation may lack it."""
    try:
        return importlib.import_module("zstandard")
    except ImportError as error:
        raise UnisonoError(f"{path}: needs the Python package zstandard: pip install zstandard") from error


def read_json(path: Path) -> Any:
    """Of X.json, or of X.json.zst where there is no X.json; what is wrong is one line."""
    text = read_text(path)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnisonoError(f"{kept(path)}: no JSON ({error}); write it again, or take a copy") from error
