#!/usr/bin/env python3
"""Simulated times that must not change unnoticed: tests/sim/*.json, from the commands they name.
UNISONO_TESTS=thorough takes the larger networks in tests/sim/thorough/ as well.

    sim_tables.py           simulate anew and write
    sim_tables.py --check   compare, digit by digit; 77 where SimGrid is missing or another version

A changed number is a change of an algorithm's schedule, or of how schedules are run: look at it, and
write the tables anew when it is meant."""

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TABLES = ROOT / "tests" / "sim"
SKIPPED = 77

Seconds = dict[str, dict[str, float]]


def simulate(command: str) -> dict[str, Any]:
    program, *arguments = shlex.split(command)
    line = [sys.executable, "-m", f"{program}.cli", *arguments, "--json", "-"]
    done = subprocess.run(line, check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"failed: {command}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def seconds_of(found: dict[str, Any]) -> Seconds:
    """By row, then by bytes. What a selector cannot do has no time, and no place here."""
    return {
        " ".join(filter(None, [row["algorithm"], row.get("selector")])): {
            str(cell["bytes"]): cell["seconds"] for cell in row["cells"] if "seconds" in cell
        }
        for row in found["rows"]
    }


def differences(name: str, kept: Seconds, found: Seconds) -> list[str]:
    cells = sorted({(row, size) for table in (kept, found) for row in table for size in table[row]})
    return [
        f"{name}: {row}, {size} bytes: {before} s, now {now} s"
        for row, size in cells
        if (before := kept.get(row, {}).get(size)) != (now := found.get(row, {}).get(size))
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    if not shutil.which("smpirun"):
        print("skipped: SimGrid is not installed")
        return SKIPPED
    cells, changed = 0, []
    pattern = "**/*.json" if os.environ.get("UNISONO_TESTS") == "thorough" else "*.json"
    for path in sorted(TABLES.glob(pattern)):
        kept = json.loads(path.read_text())
        found = simulate(kept["command"])
        version, seconds = found["simgrid_version"], seconds_of(found)
        cells += sum(map(len, seconds.values()))
        if not check:
            kept |= {"simgrid_version": version, "seconds": seconds}
            path.write_text(json.dumps(kept, indent=1) + "\n")
        elif version != kept["simgrid_version"]:
            print(f"skipped: {path.name} is of SimGrid {kept['simgrid_version']}, this is {version}")
            return SKIPPED
        else:
            changed += differences(path.name, kept["seconds"], seconds)
    print("\n".join(changed) if changed else f"{cells} simulated times {'as kept' if check else 'written'}")
    return 1 if changed or not cells else 0


if __name__ == "__main__":
    sys.exit(main())
