"""Prints raw results as indented JSON.

python -m experiments.raw docs/results/pipelines/figures.json.zst
"""

import argparse
import json
import signal
from collections.abc import Sequence
from pathlib import Path

from unisono.core.files import read_json

from experiments import harness


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    print(json.dumps(read_json(parser.parse_args(arguments).file), indent=1))
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # of head, which has read enough
    harness.run(main)
