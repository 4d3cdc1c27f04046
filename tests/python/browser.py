"""A headless Chromium for the tests: the page as a reader sees it, and everything that the browser says."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

PATIENCE_MS = 120_000  # on a busy machine
Scheme = Literal["light", "dark"]


@dataclass
class Said:
    """What must not be: messages of the console, exceptions, requests beyond the file."""

    console: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@contextmanager
def chromium() -> Iterator[Any]:
    """Debian's own; nothing is downloaded. Skipped where it is missing, which CI=1 makes a failure."""
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install playwright")
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("no chromium: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        # The sandbox of Chromium is not for root, nor for most containers.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        started = driver.chromium.launch(executable_path=program, args=arguments)
        try:
            yield started
        finally:
            started.close()


def open_file(chromium: Any, file: Path, scheme: Scheme = "light", width: int = 1280) -> tuple[Any, Said]:
    page = chromium.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})
    page.set_default_timeout(PATIENCE_MS)
    said = Said()
    page.on("console", lambda message: said.console.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: said.errors.append(str(error)))
    page.on("request", lambda request: said.requests.append(request.url))
    page.goto(file.as_uri())
    return page, said


# Of every text that can be seen: its own colour over the first opaque background below it; of SVG `fill`,
# over the page's, or over the rectangle that a drawing has as its paper or the text as its bar.
LOW_CONTRASTS = """
(least) => {
  const parse = (text) => (text.match(/[\\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
  const light = (colour) => {
    const [r, g, b] = colour.map((c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const below = (element) => {
    const svg = element.closest("svg");
    if (svg) {
      const box = element.getBoundingClientRect(), x = box.x + box.width / 2, y = box.y + box.height / 2;
      const inside = (r) => r.left <= x && x <= r.right && r.top <= y && y <= r.bottom;
      const rects = [...svg.querySelectorAll("rect")].filter((r) => inside(r.getBoundingClientRect())
        && (r.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING));
      const filled = rects.map((r) => parse(getComputedStyle(r).fill)).filter((c) => c.length === 3);
      if (filled.length) return filled.at(-1);
    }
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const element of document.querySelectorAll("*")) {
    const own = [...element.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.textContent.trim());
    const unseen = ["STYLE", "SCRIPT", "TITLE", "title"].includes(element.tagName);
    if (!own || unseen || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const colour = parse(element instanceof SVGElement ? style.fill : style.color).slice(0, 3);
    const both = [light(colour), light(below(element))].sort((a, b) => b - a);
    const contrast = (both[0] + 0.05) / (both[1] + 0.05);
    if (contrast < least) found.push(`${element.textContent.trim().slice(0, 40)}: ${contrast.toFixed(2)}`);
  }
  return found;
}
"""


def low_contrasts(page: Any, least: float = 4.5) -> list[str]:
    """4.5 is what WCAG 2 asks of text (level AA)."""
    found: list[str] = page.evaluate(LOW_CONTRASTS, least)
    return found
