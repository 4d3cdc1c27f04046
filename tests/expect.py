#!/usr/bin/env python3
"""Runs a command that must end as its test says, and say what it says: ctest alone looks at the output
or at the exit status, and a program that crashes after its last line would pass.

expect.py ok|error REGEX [--never REGEX] [--again REGEX] -- COMMAND...     (error: any status from 1 to 125)

--again: where the output says so, the machine was too busy for what the command measures. It is run again,
at most three times in all.
"""

from __future__ import annotations

import re
import subprocess
import sys

MOST_RUNS = 3


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    print(done.stdout, end="")
    return done


def main() -> int:
    split = sys.argv.index("--")
    end, says, *rest = sys.argv[1:split]  # no argparse: expressions begin with --, too
    options = dict(zip(rest[::2], rest[1::2], strict=False))
    if end not in {"ok", "error"} or len(rest) % 2 or not options.keys() <= {"--never", "--again"}:
        sys.exit(__doc__)
    never, again = options.get("--never"), options.get("--again")
    done = run(sys.argv[split + 1 :])
    for _ in range(MOST_RUNS - 1):
        if again is None or not re.search(again, done.stdout):
            break
        done = run(sys.argv[split + 1 :])
    wrong = []
    # Above 125 it was a signal, or could not be run at all.
    if (done.returncode != 0) if end == "ok" else not 0 < done.returncode < 126:
        wrong.append(f"exit status {done.returncode}, where {end} is expected")
    if not re.search(says, done.stdout, re.DOTALL):
        wrong.append(f"nothing in it matches {says!r}")
    if never is not None and re.search(never, done.stdout):
        wrong.append(f"something in it matches {never!r}")
    for line in wrong:
        print(f"expect.py: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
