"""The documentation is a site that builds without a warning: every link and anchor of every page leads
somewhere, every page is in the navigation, and nothing on a page comes from elsewhere."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"
# mkdocs-material tells of its successor on the terminal.
QUIET = {"NO_MKDOCS_2_WARNING": "1", "NO_COLOR": "1"}


def build(configuration: Path, into: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "-f", str(configuration), "-d", str(into)],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | QUIET,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    into = tmp_path_factory.mktemp("site")
    done = build(ROOT / "mkdocs.yml", into)
    told = done.stdout + done.stderr
    assert done.returncode == 0, told
    assert "WARNING" not in told and "ERROR" not in told, told
    return into


class Reader(HTMLParser):
    """Of a page: what it loads, and the text of its paragraphs and lists, but for code."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.lines: list[str] = []
        self._open = {"article": 0, "p": 0, "li": 0, "code": 0, "pre": 0}

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        of = {name: value or "" for name, value in attributes}
        if tag in ("script", "img", "iframe") and "src" in of:
            self.loaded.append(of["src"])
        if tag == "link" and "href" in of:
            self.loaded.append(of["href"])
        if tag in self._open:
            self._open[tag] += 1

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            self._open[tag] -= 1

    def handle_data(self, data: str) -> None:
        inside = self._open
        if inside["article"] and (inside["p"] or inside["li"]) and not (inside["code"] or inside["pre"]):
            self.lines += data.splitlines()


def pages_of(site: Path) -> Iterator[tuple[str, Reader]]:
    for path in sorted(site.rglob("*.html")):
        reader = Reader()
        reader.feed(path.read_text())
        yield str(path.relative_to(site)), reader


def test_every_page_is_there(site: Path) -> None:
    """And in the navigation, or else building it complains."""
    pages = {path.relative_to(DOCS).with_suffix(".html").as_posix() for path in DOCS.rglob("*.md")}
    assert len(pages) > 100
    assert pages <= {name for name, _ in pages_of(site)}


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    loaded = {name for _, page in pages_of(site) for name in page.loaded}
    assert loaded
    assert not [name for name in loaded if re.match(r"(https?:)?//", name)]


def test_no_markdown_is_left_on_a_page(site: Path) -> None:
    """A list, table or block that a forge shows and this site's Markdown does not: an empty line is missing
    before it, or it is not far enough in."""
    lines = [(name, line) for name, page in pages_of(site) for line in page.lines]
    assert len(lines) > 1000
    left = [f"{name}: {line}" for name, line in lines if re.match(r"\s*(\| |- |\d\. |#+ |```)", line)]
    assert not left, "\n".join(left)


def test_a_wrong_link_is_found(tmp_path: Path) -> None:
    """To a page, to an anchor, and out of docs/; and a page that nothing leads to."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# Page\n\n[a](none.md) [b](#none) [c](../none.h)\n")
    (tmp_path / "docs" / "forgotten.md").write_text("# Forgotten\n")
    text = (ROOT / "mkdocs.yml").read_text().replace("[scripts/", f"[{ROOT}/scripts/")
    text, found = re.subn(r"(?ms)^nav:\n.*?^(?=\S)", "nav: [index.md]\n", text)
    assert found == 1
    (tmp_path / "mkdocs.yml").write_text(text)
    done = build(tmp_path / "mkdocs.yml", tmp_path / "site")
    assert done.returncode != 0
    told = done.stdout + done.stderr
    for what in ("'none.md'", "'#none'", "'../none.h'", "forgotten.md"):
        assert what in told, told
