"""What takes long to load is loaded by the commands that need it."""

import subprocess
import sys
from pathlib import Path

# Libraries, and commands of ours.
HEAVY = (
    "elftools",
    "jinja2",
    "matplotlib",
    "numpy",
    "otf2",
    "psutil",
    "pyarrow",
    "pydantic",
    "ruptures",
    "scipy",
)
OTHERS = ("unisono.compare", "unisono.restructure", "unisono.sim", "unisono.tune")


def test_a_command_loads_no_large_library_and_no_other_command() -> None:
    code = f"""
import sys
from unisono import cli
sys.argv = ["unisono", "list", "barrier"]
try:
    cli.main()
finally:
    print(*(name for name in {HEAVY + OTHERS} if name in sys.modules), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert "dissemination" in done.stdout
    assert done.stderr.split() == []


def test_all_commands_load_no_large_library() -> None:
    code = f"""
import sys
from unisono import cli
cli.command_line()
print(*(name for name in {HEAVY} if name in sys.modules))
print(*(name for name in {OTHERS} if name in sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["", " ".join(OTHERS)]


def test_a_report_without_a_page_loads_no_charts(tmp_path: Path) -> None:
    code = f"""
import sys
from unisono import cli
sys.argv = ["unisono", "report", {str(tmp_path)!r}]
try:
    cli.main()
finally:
    print(*(name for name in ("numpy", "matplotlib") if name in sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stdout.split() == ["numpy"], "the trace was not looked for"
