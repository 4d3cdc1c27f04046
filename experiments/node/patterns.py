"""The tables of docs/results/guidelines.md, from what `unisono compare --json` wrote.

  .venv/bin/python -m experiments.node.patterns docs/results/node/patterns-2.json.zst
  .venv/bin/python -m experiments.node.patterns --guidelines docs/results/node/guidelines-2.json.zst

Bold: surely slower than native. ?: not sure that it is faster or slower.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from unisono.compare import guidelines, results, summary
from unisono.compare.guidelines import Finding, Report
from unisono.compare.results import Comparison
from unisono.core import words
from unisono.core.catalogue import format_size
from unisono.core.estimates import Estimate

from experiments import markdown

WORST = 12  # findings of a library


def ratio_text(ratio: Estimate | None) -> str:
    if ratio is None:
        return ""
    text = words.number(ratio.median)
    return f"**{text}**" if ratio.is_slower else text if ratio.is_faster else f"{text}?"


def patterns(comparison: Comparison) -> list[str]:
    """Time / native: a row for each collective and size, a column for each library and pattern."""
    libraries = list(dict.fromkeys(setting.mpi for setting in comparison.settings()))
    calls = {
        (call.point.setting.mpi, call.point.collective, call.point.size): call.ratios
        for call in summary.by_call(comparison)
    }
    used = comparison.patterns()
    rows = [
        (
            collective,
            format_size(size),
            *(ratio_text(calls.get((mpi, collective, size), {}).get(p)) for mpi in libraries for p in used),
        )
        for collective, size in dict.fromkeys(key[1:] for key in calls)
    ]
    head = ["collective", "bytes", *(f"{mpi}, {pattern}" for mpi in libraries for pattern in used)]
    lines = markdown.table(head, rows, (0, 1))
    for row in summary.rows(comparison):
        lines.append(
            f"- {row.where}: mean {row.geometric_mean:.2f}, {row.faster} of {row.cells} surely faster, "
            f"{row.slow} slower than 0.95 of native's speed"
        )
    return lines


def finding_row(found: Finding) -> tuple[str, ...]:
    helped = found.helped
    removed = {
        guidelines.Verdict.KEPT: "surely",
        guidelines.Verdict.BROKEN: "no",
        guidelines.Verdict.UNDECIDED: "undecided",
    }
    return (
        found.statement.text(),
        words.number(found.factor.median),
        words.interval(found.factor),
        words.number(helped.median) if helped else "",
        words.interval(helped),
        removed[guidelines.verdict(helped)] if helped else "",
    )


def counts(reports: Sequence[Report]) -> list[str]:
    rows = []
    for report in reports:
        own = sum(found.is_sure for found in report.own)
        removed, remaining = len(report.removed), len(report.remaining)
        unclear = report.sure - removed - remaining
        undecided = len(report.native) - report.sure
        figures = (report.checked, report.sure, undecided, removed, remaining, unclear, own)
        rows.append((report.setting.text(), *map(str, figures), str(len(report.own) - own)))
    head = ("library", "checked", "broken", "undecided", "removed by Unisono", "left", "undecided")
    return markdown.table((*head, "broken by Unisono itself", "undecided"), rows, (0,))


def broken(reports: Sequence[Report]) -> list[str]:
    lines = []
    for report in reports:
        sure = [found for found in report.native if found.is_sure]
        own = [found for found in report.own if found.is_sure]
        lines += [f"### {report.setting.text()}", ""]
        head = ("broken by the library", "factor", "95 %", "with Unisono", "95 %", "removed")
        lines += markdown.table(head, [finding_row(found) for found in sure[:WORST]], (0, 5))
        lines += [f"and {len(sure) - WORST} more", ""] if len(sure) > WORST else [""]
        itself = ("broken by Unisono itself", "factor", "95 %")
        lines += markdown.table(itself, [finding_row(found)[:3] for found in own[:WORST]], (0,))
        lines += [f"and {len(own) - WORST} more", ""] if len(own) > WORST else [""]
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--guidelines", action="store_true")
    given = parser.parse_args(arguments)
    comparison = results.load(given.file)
    if given.guidelines:
        reports = guidelines.reports(comparison)
        print("\n".join([*counts(reports), *broken(reports)]))
    else:
        print("\n".join(patterns(comparison)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
