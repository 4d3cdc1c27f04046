#!/usr/bin/env python3
"""Run the tests of build/ (arguments go to ctest) and end with one line: N passed, N failed.

What a test program leaves out is counted and named as well, and with CI=1 it is a failure. A test that failed
where a launcher could not start, so that no rank of it ran, or where a network could not be measured beside
the other tests, runs once more when they are over.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent

# How programs say that they have left something out: pytest, unittest, GoogleTest, and our own.
SKIPS = [
    re.compile(r"^SKIPPED \[(?P<count>\d+)\] \S+: (?P<reason>.*)"),
    re.compile(r"^(?P<what>.+) \.\.\. skipped (?P<reason>.*)"),
    re.compile(r"^\[  SKIPPED \] (?P<count>\d+) tests?[.,]?(?P<reason>)"),
    re.compile(r"^(?P<what>[\w.]+): skipped, (?P<reason>.*)"),
    re.compile(r"^skipped: (?P<reason>.*)"),
]

# What launchers say when they fail before they start a rank, and Unisono where others use the processors.
BY_SURROUNDINGS = re.compile(
    r"The PMIx server's listener thread failed to start|network: not measured, messages came too unevenly"
)


def failed_by_surroundings(suite: ElementTree.Element) -> dict[str, ElementTree.Element]:
    """The tests that failed where a launcher did not start, or a network was not measured."""
    return {
        case.get("name", ""): case
        for case in suite.iter("testcase")
        if case.find("failure") is not None and BY_SURROUNDINGS.search(case.findtext("system-out") or "")
    }


def run_again(command: list[str], suite: ElementTree.Element, environment: dict[str, str]) -> int:
    """Runs them, puts what came into `suite`, and returns the number of tests that passed now."""
    cases = failed_by_surroundings(suite)
    if not cases:
        return 0
    for name in cases:
        print(f"{name}: no launcher started, or no network was measured; the test runs once more")
    results = ROOT / "build" / "test-results-again.xml"
    results.unlink(missing_ok=True)
    only = "^(" + "|".join(re.escape(name) for name in cases) + ")$"
    subprocess.run(
        [*command, "--output-junit", str(results), "--tests-regex", only], check=False, env=environment
    )
    if not results.exists():
        return 0
    passed = 0
    for case in ElementTree.parse(results).getroot().iter("testcase"):
        if case.get("name") in cases and case.get("status") == "run":
            passed += 1
            cases[case.get("name", "")][:] = list(case)
    return passed


def tell_failures(suite: ElementTree.Element, lines: int = 60) -> None:
    """The ends of what failed tests printed once more, last, where a log that is cut still has them."""
    for case in suite.iter("testcase"):
        if case.find("failure") is not None:
            print(f"\n--- {case.get('name')} failed; the end of what it printed:")
            print("\n".join((case.findtext("system-out") or "").splitlines()[-lines:]))


def skips(suite: ElementTree.Element) -> dict[str, int]:
    """What was left out, in the words of who did, and how often."""
    found: dict[str, int] = {}
    for case in suite.iter("testcase"):
        matches = [
            match
            for line in (case.findtext("system-out") or "").splitlines()
            for match in [next(filter(None, (skip.match(line) for skip in SKIPS)), None)]
            if match
        ]
        for match in matches:
            groups = match.groupdict()
            where = " ".join(filter(None, [case.get("name"), groups.get("what")]))
            text = f"{where}: {groups['reason'] or 'some of its tests'}"
            found[text] = found.get(text, 0) + int(groups.get("count") or 1)
        if not matches and case.find("skipped") is not None:
            found[f"{case.get('name')}: no reason given"] = 1
    return found


def longest(suite: ElementTree.Element, count: int = 12) -> str:
    """Where the time went, for who has to make it less; several tests run side by side."""
    times = sorted((float(case.get("time", 0)), case.get("name", "")) for case in suite.iter("testcase"))
    return ", ".join(f"{name} {seconds:.0f} s" for seconds, name in reversed(times[-count:]))


def main() -> int:
    results = ROOT / "build" / "test-results.xml"
    results.unlink(missing_ok=True)
    command = ["ctest", "--test-dir", str(ROOT / "build"), "--output-on-failure"]
    # One more than there are cores: jobs wait now and then, and tests without MPI are nice to them.
    command += ["--parallel", str((os.cpu_count() or 1) + 1)]
    # All of what a test says is looked at for what it left out.
    command += ["--test-output-size-passed", "1000000", "--test-output-size-failed", "1000000"]
    # The `unisono` command is started hundreds of times: it is compiled once.
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": ""}
    first = [*command, "--output-junit", str(results), *sys.argv[1:]]
    status = subprocess.run(first, check=False, env=environment).returncode
    if not results.exists():
        print("ctest did not run")
        return status or 1
    suite = ElementTree.parse(results).getroot()
    total, failed = int(suite.get("tests", 0)), int(suite.get("failures", 0))
    if failed:
        failed -= run_again(command, suite, environment)
        status = status if failed else 0
    if failed:
        tell_failures(suite)
    whole = int(suite.get("skipped", 0)) + int(suite.get("disabled", 0))
    left_out = skips(suite)
    skipped = max(whole, sum(left_out.values()))
    passed = total - failed - whole
    for reason, count in sorted(left_out.items()):
        print(f"skipped: {reason}" + (f" ({count} times)" if count > 1 else ""))
    if status == 0 and passed == 0 and not whole:
        status = 1  # a run without a test proves nothing
    if skipped and os.environ.get("CI"):
        print("With CI=1 nothing may be skipped.")
        status = status or 1
    print(f"longest: {longest(suite)}")
    summary = f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else "")
    (ROOT / "build" / "summary.txt").write_text(summary + "\n")
    print(f"\n{summary}")
    return status


if __name__ == "__main__":
    sys.exit(main())
