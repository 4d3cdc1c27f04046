"""The pages of docs/results say what the raw results say, and which of their tables nothing makes."""

from pathlib import Path

import pytest
from unisono.core.errors import UnisonoError

from experiments import pages

MADE = ["| a |", "| --- |", "| 1 |", "", "", "", "more", ""]
PLACE = "<!-- table: t -->\n| a |\n| --- |\n| 1 |\n\nmore\n<!-- end -->\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(pages, "PAGES", {"a.md": {"t": lambda: MADE}})
    monkeypatch.setattr(pages, "WHOLE", {"b.md": lambda: "| b |\n|---|\n| 2 |\n"})
    (tmp_path / "b.md").write_text("| b |\n|---|\n| 2 |\n")
    return tmp_path


def write(folder: Path, text: str) -> Path:
    page = folder / "a.md"
    page.write_text(text)
    return page


def test_every_page_is_known_and_no_raw_file_lies_there_uncompressed() -> None:
    found = {str(page.relative_to(pages.RESULTS)) for page in pages.RESULTS.rglob("*.md")}
    found |= {str(picture.relative_to(pages.RESULTS)) for picture in pages.RESULTS.rglob("*.svg")}
    assert found == {*pages.PAGES, *pages.WHOLE}
    assert list(pages.RESULTS.rglob("*.json")) == []


def test_a_page_is_filled_and_then_stays(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = write(folder, f"before\n\n{PLACE.replace('1', '7')}\nafter\n")
    assert pages.main(["--check"], folder) == 1
    said = capsys.readouterr().out
    assert "a.md is not what the raw results give: python -m experiments.pages a.md" in said
    assert "-| 7 |\n+| 1 |" in said
    assert pages.main([], folder) == 0
    assert page.read_text() == f"before\n\n{PLACE}\nafter\n"
    assert capsys.readouterr().out.splitlines() == [
        "wrote a.md",
        "tables made from raw results: 2; by hand: 0",
    ]
    assert pages.main(["docs/results/a.md", "--check"], folder) == 0


def test_a_place_may_stand_in_a_list(folder: Path) -> None:
    page = write(folder, "- one:\n\n  <!-- table: t -->\n  <!-- end -->\n\n- two\n")
    pages.main([], folder)
    assert (
        "\n  <!-- table: t -->\n  | a |\n  | --- |\n  | 1 |\n\n  more\n  <!-- end -->\n" in page.read_text()
    )


def test_tables_by_hand_say_why_and_are_counted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder, f"{PLACE}\n<!-- by hand: not kept -->\n| c |\n|---|\n| 3 |\n")
    assert pages.main(["a"], folder) == 0
    assert capsys.readouterr().out.splitlines() == [
        "tables made from raw results: 1; by hand: 1",
        "  a.md:10: not kept",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            f"{PLACE}\n| c |\n|---|\n",
            r"^a\.md:9: a table that nothing makes: put it into <!-- table",
        ),
        (PLACE.replace("table: t", "table: u"), r"^a\.md: there is no table u; there are t$"),
        ("nothing\n", r"^a\.md: has no place for t: <!-- table: t -->$"),
    ],
)
def test_a_page_that_cannot_be_filled_is_one_line(folder: Path, text: str, problem: str) -> None:
    page = write(folder, text)
    with pytest.raises(UnisonoError, match=problem):
        pages.main([], folder)
    assert page.read_text() == text


def test_a_page_that_is_not_there_is_one_line(folder: Path) -> None:
    with pytest.raises(UnisonoError, match=r"^c\.md: no page with tables; there are a\.md, b\.md$"):
        pages.main(["c"], folder)
