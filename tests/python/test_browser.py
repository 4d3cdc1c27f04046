"""Pages and drawings in a headless Chromium: nothing is said or fetched, all can be read, light and dark."""

import json
import re
from pathlib import Path
from typing import Any

import browser
import numpy as np
import pytest
from test_compare import Bench, job, measured
from traces import Writer
from unisono.compare import page as compare_page
from unisono.compare.results import Setting
from unisono.core import catalogue, documents
from unisono.drawing import gantt, svg
from unisono.drawing import torus as torus_drawing
from unisono.trace import document, html
from unisono.trace.analysis import analyse
from unisono.trace.reader import read
from unisono.trace.summary import Summary, summarise

SITES = 1000
PAGES = ("report", "comparison", "schedule", "torus", "order")
SCHEMES: tuple[browser.Scheme, ...] = ("light", "dark")


def report_of(folder: Path, sites: int, calls: int, ranks: int) -> Summary:
    module = {"path": "/nowhere/app", "start": "0x1000", "end": "0x900000", "offset": "0x0"}
    writer = Writer(folder, ranks, modules=[module])
    random = np.random.default_rng(1)
    for k in range(calls):
        for site in range(sites):
            late = 1e-3 * (1 + site % 7) * (20 if 2 * k > calls else 1)
            arrivals = 1 + 0.01 * (k * sites + site) + random.uniform(0, late, ranks)
            name = ("allreduce", "alltoall", "barrier")[site % 3]
            leave = [float(arrivals.max()) + 1e-3] * ranks
            writer.call(name, arrivals.tolist(), leave, 1 << site % 14, site=0x2000 + 16 * site)
    return summarise(analyse(read(writer.write())))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every kind of page that we write."""
    made = tmp_path_factory.mktemp("pages")
    html.write(report_of(made / "trace", 3, 400, 6), made / "report.html", 10)
    jobs = [job(), job("scan", setting=Setting("openmpi", 4, 1)), job("barrier", 0)]
    bench = Bench(ratio=2, ends={0: (2, "hangs")})
    compare_page.write(measured(bench, jobs), made / "comparison.html")
    for name, drawing in drawings(tmp_path_factory.mktemp("order")).items():
        (made / f"{name}.svg").write_text(drawing)
    return made


def drawings(folder: Path) -> dict[str, str]:
    counts, order = folder / "counts.csv", folder / "order.json"
    counts.write_text("1000 2000 3000 400 500 600\n" * 6)
    order.write_text(catalogue.ask("order", "make", "--matrix", str(counts)))
    times = catalogue.ask("order", "times", "--file", str(order))
    trees = catalogue.ask("trees", "--json", "--torus", "4x4x2", "--members", "without:5")
    ring = catalogue.schedule(["--collective", "allreduce", "--algorithm", "ring", "--ranks", "6"])
    return {
        "schedule": svg.draw(ring),
        "torus": torus_drawing.draw(json.loads(trees)),
        "order": gantt.draw(json.loads(times)),
    }


@pytest.fixture
def file(request: pytest.FixtureRequest, folder: Path) -> Path:
    return next(folder.glob(f"{request.param}.*"))


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("file", PAGES, indirect=True)
def test_nothing_is_said_or_fetched_and_all_can_be_read(
    chromium: Any, file: Path, scheme: browser.Scheme
) -> None:
    page, said = browser.open_file(chromium, file, scheme)
    if file.suffix == ".html":
        page.evaluate("document.querySelectorAll('details').forEach((one) => one.open = true)")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert said == browser.Said(requests=[file.as_uri()])
    assert browser.low_contrasts(page) == []
    page.close()


@pytest.mark.parametrize("file", ["report", "comparison"], indirect=True)
def test_on_a_phone_tables_scroll_and_the_page_does_not(chromium: Any, file: Path) -> None:
    page, _ = browser.open_file(chromium, file, width=400)
    page.evaluate("document.querySelectorAll('details').forEach((one) => one.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate(
        "[...document.querySelectorAll('.scroll')].some((one) => one.scrollWidth > one.clientWidth)"
    )
    page.close()


@pytest.mark.parametrize("file", ["report", "comparison"], indirect=True)
def test_dark_is_another_page_than_light(chromium: Any, file: Path) -> None:
    colours = []
    for scheme in SCHEMES:
        page, _ = browser.open_file(chromium, file, scheme)
        paper = "getComputedStyle(document.body).backgroundColor"
        ink = "getComputedStyle(document.querySelector('svg text')).fill"
        colours.append(page.evaluate(f"[{paper}, {ink}]"))
        page.close()
    assert colours == [["rgb(255, 255, 255)", "rgb(34, 34, 34)"], ["rgb(22, 24, 28)", "rgb(221, 221, 221)"]]


def test_the_check_of_contrast_finds_what_cannot_be_read(chromium: Any, tmp_path: Path) -> None:
    grey = tmp_path / "grey.html"
    svg = '<svg><rect width="99" height="99" fill="#333"/><text y="20" fill="#222">three</text></svg>'
    grey.write_text(f'<p style="color: #999">one</p><p style="color: #555">two</p>{svg}')
    page, _ = browser.open_file(chromium, grey)
    assert [found.split(":")[0] for found in browser.low_contrasts(page)] == ["one", "three"]
    page.close()


def first_column(page: Any) -> list[str]:
    rows = "[...document.querySelectorAll('#sites tbody tr')].filter((row) => !row.hidden)"
    found: list[str] = page.evaluate(f"{rows}.map((row) => row.cells[0].innerText)")
    return found


def test_a_thousand_call_sites(chromium: Any, tmp_path: Path) -> None:
    """Counted, not timed: bytes, nodes, charts; the table sorts as the JSON says, and filters."""
    found = report_of(tmp_path / "trace", SITES, 6, 4)
    file = tmp_path / "report.html"
    html.write(found, file, 8)
    charts = [len(chart) for chart in re.findall(r"<svg.*?</svg>", file.read_text())]
    # However many sites a reader asks for, so many are drawn: a series and a timeline of each.
    assert file.stat().st_size + 2 * html.MOST_DRAWN * max(charts) < 5_000_000
    page, said = browser.open_file(chromium, file)
    assert page.evaluate("document.querySelectorAll('*').length") < 40_000
    # What is folded is not laid out.
    shown = "[...document.querySelectorAll('svg')].filter((one) => one.checkVisibility()).length"
    assert page.evaluate(shown) <= 3
    told = json.loads(documents.text(document.document_of(found)))["call_sites"]
    names = [f"{site['routine']} at {site['site']}" for site in told]
    assert first_column(page) == names
    page.click("#sites th:nth-child(9) button")
    worst = sorted(told, key=lambda site: -site["worst_imbalance_time_s"])
    assert first_column(page) == [f"{site['routine']} at {site['site']}" for site in worst]
    page.click("#sites th:nth-child(9) button")
    assert first_column(page)[0] == f"{worst[-1]['routine']} at {worst[-1]['site']}"
    page.fill("input[type=search]", "mpi_barrier +0x1f20")
    assert first_column(page) == [
        name for name in names if name.startswith("MPI_Barrier") and "+0x1f20" in name
    ]
    page.fill("input[type=search]", "")
    assert len(first_column(page)) == SITES
    second = page.locator("#sites a").nth(1).get_attribute("href")
    page.click(f"#sites a[href='{second}']")
    # It opens when the browser says that the address has changed, which is after the click.
    page.wait_for_function(f"document.querySelector('{second}').open", timeout=10_000)
    assert said == browser.Said(requests=[file.as_uri()]), json.dumps(said.console)
    page.close()
