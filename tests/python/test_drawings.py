"""scripts/drawings.py: a page's drawing names the command that drew it, and must be what that draws."""

import sys
from pathlib import Path

import pytest

from scripts import drawings


def test_every_drawing_of_the_pages_has_its_command() -> None:
    commands, others = drawings.drawings()
    assert len(commands) >= 5
    assert not others


def test_what_nobody_draws_is_found(tmp_path: Path) -> None:
    drawn = "<!-- drawn by: unisono show bcast flat -n 3 -->\n![a tree](a.svg)\n"
    (tmp_path / "page.md").write_text(f"{drawn}\n![by hand](b.svg)\n")
    (tmp_path / "left.svg").write_text("<svg/>")
    commands, others = drawings.drawings(tmp_path)
    assert commands == {tmp_path / "a.svg": "show bcast flat -n 3"}
    assert others == {tmp_path / "b.svg", tmp_path / "left.svg"}


def test_one_that_is_out_of_date_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "page.md").write_text(
        "<!-- drawn by: unisono show bcast flat -n 3 -->\n![a tree](drawings/a.svg)\n"
    )
    monkeypatch.setattr(drawings, "ROOT", tmp_path)
    monkeypatch.setattr(drawings, "drawings", lambda found=drawings.drawings: found(tmp_path))
    monkeypatch.setattr(drawings, "draw", lambda command, _build: f"<svg>{command}</svg>")
    monkeypatch.setattr(sys, "argv", ["drawings.py", "--check"])
    assert drawings.main() == 1
    assert "drawings/a.svg is not what `unisono show bcast flat -n 3` draws" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["drawings.py"])
    assert drawings.main() == 0
    monkeypatch.setattr(sys, "argv", ["drawings.py", "--check"])
    assert drawings.main() == 0
