"""Results: plain and compressed, the same bytes every time, and one line for what cannot be read."""

import os
import sys
from pathlib import Path

import pytest
from unisono.core.errors import UnisonoError
from unisono.core.files import make_own_folder, read_json, read_text, write_json, write_text

from experiments import raw

DATA = {"cells": [{"bytes": 1 << 40, "us": 0.1}, None], "name": "Jörg's"}


@pytest.mark.parametrize("name", ["a.json", "a.json.zst"])
def test_what_is_written_is_read(tmp_path: Path, name: str) -> None:
    write_json(DATA, tmp_path / name)
    assert read_json(tmp_path / name) == read_json(tmp_path / "a.json") == DATA
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_compressed_file_is_small_and_the_same_every_time(tmp_path: Path) -> None:
    rows = [{"collective": "bcast", "bytes": size, "us": 1.5} for size in range(1000)]
    for name in ("a.json.zst", "b.json.zst", "c.json"):
        write_json(rows, tmp_path / name)
    once, again, plain = ((tmp_path / name).read_bytes() for name in ("a.json.zst", "b.json.zst", "c.json"))
    assert once == again
    assert len(once) < len(plain) / 10


def test_a_plain_file_comes_before_a_compressed_one(tmp_path: Path) -> None:
    write_json("kept", tmp_path / "a.json.zst")
    write_json("mine", tmp_path / "a.json")
    assert read_json(tmp_path / "a.json") == "mine"
    assert read_json(tmp_path / "a.json.zst") == "kept"


def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    whole, file = tmp_path / "whole.json.zst", tmp_path / "a.json.zst"
    write_json(DATA, whole)
    with pytest.raises(UnisonoError, match=r"/a\.json\.zst: No such file or directory$"):
        read_json(file)
    for broken in (b"", b"{}", whole.read_bytes()[:-5], whole.read_bytes()[:-1] + b"!"):
        file.write_bytes(broken)
        with pytest.raises(UnisonoError, match=r"/a\.json\.zst: cannot be uncompressed \(.+\); take a copy$"):
            read_json(tmp_path / "a.json")
    plain = tmp_path / "b.json"
    plain.write_text('{"cells": ')
    with pytest.raises(UnisonoError, match=r"/b\.json: no JSON \(.+\); write it again, or take a copy$"):
        read_json(plain)
    plain.write_bytes(b"\xff\xfe")
    with pytest.raises(UnisonoError, match=r"/b\.json: no text \(.+\)$"):
        read_text(plain)
    with pytest.raises(UnisonoError, match=r"/c/a\.json\.zst: cannot be written: No such file"):
        write_json(DATA, tmp_path / "c" / "a.json.zst")


def test_without_zstandard_a_compressed_file_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.json.zst"
    write_json(DATA, file)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(UnisonoError, match=r"/a\.json\.zst: needs the Python package zstandard: pip install"):
        read_json(file)
    with pytest.raises(UnisonoError, match=r"/b\.json\.zst: needs the Python package zstandard: pip install"):
        write_json(DATA, tmp_path / "b.json.zst")
    write_json(DATA, tmp_path / "b.json")


def test_raw_prints_it_for_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_json({"a": [1]}, tmp_path / "a.json.zst")
    assert raw.main([str(tmp_path / "a.json.zst")]) == 0
    assert capsys.readouterr().out == '{\n "a": [\n  1\n ]\n}\n'


def test_only_plain_files_are_replaced(tmp_path: Path) -> None:
    """A link stays one, and a device or a pipe, which root could replace, is written to."""
    target, link, pipe = tmp_path / "target", tmp_path / "link", tmp_path / "pipe"
    target.write_text("old")
    link.symlink_to(target)
    write_text("new", link)
    assert link.is_symlink()
    assert target.read_text() == "new"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_text("through", pipe)
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert pipe.is_fifo()
    with pytest.raises(UnisonoError, match=r"cannot be written: Is a directory$"):
        write_text("new", tmp_path)


def test_a_working_folder_is_ones_own(tmp_path: Path) -> None:
    folder = tmp_path / "profile.json.work"
    make_own_folder(folder, "plan.json")
    make_own_folder(folder, "plan.json")
    (folder / "thesis").write_text("precious")
    with pytest.raises(UnisonoError, match=r"it holds files of somebody else: name another, or move them$"):
        make_own_folder(folder, "plan.json")
    (folder / "plan.json").write_text("{}")
    make_own_folder(folder, "plan.json")
