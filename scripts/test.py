#!/usr/bin/env python3
"""Run the tests of build/ (arguments go to ctest) and end with one line: N passed, N failed."""

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent


def reasons(suite: ElementTree.Element) -> set[str]:
    """Why pytest skipped whole test programs, in its words: SKIPPED [n] file:line: reason."""
    found = set()
    for case in suite.iter("testcase"):
        if case.find("skipped") is not None:
            output = case.findtext("system-out") or ""
            found |= {
                f"{case.get('name')} skipped: {line.split(': ', 1)[1]}"
                for line in output.splitlines()
                if line.startswith("SKIPPED [") and ": " in line
            }
    return found


def main() -> int:
    results = ROOT / "build" / "test-results.xml"
    results.unlink(missing_ok=True)
    command = ["ctest", "--test-dir", str(ROOT / "build"), "--output-on-failure"]
    command += ["--parallel", str(os.cpu_count() or 1), "--output-junit", str(results)]
    # The `unisono` command is started hundreds of times: it is compiled once.
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": ""}
    status = subprocess.run([*command, *sys.argv[1:]], check=False, env=environment).returncode
    if not results.exists():
        print("ctest did not run")
        return status or 1
    suite = ElementTree.parse(results).getroot()
    total, failed = int(suite.get("tests", 0)), int(suite.get("failures", 0))
    skipped = int(suite.get("skipped", 0)) + int(suite.get("disabled", 0))
    passed = total - failed - skipped
    for reason in sorted(reasons(suite)):
        print(reason)
    if status == 0 and passed + skipped == 0:
        status = 1  # a run without a test proves nothing
    summary = f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else "")
    (ROOT / "build" / "summary.txt").write_text(summary + "\n")
    print(f"\n{summary}")
    return status


if __name__ == "__main__":
    sys.exit(main())
