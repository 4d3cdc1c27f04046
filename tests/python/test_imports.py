"""What takes long to load is loaded by the commands that need it."""

import subprocess
import sys

HEAVY = ("elftools", "jinja2", "matplotlib", "numpy", "otf2", "psutil", "pyarrow", "ruptures", "scipy")


def test_the_command_line_loads_no_large_library() -> None:
    code = f"import sys, unisono.cli; print(*(name for name in {HEAVY} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == []
