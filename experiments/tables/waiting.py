"""The table of docs/results/waiting.md."""

from collections.abc import Callable, Mapping, Sequence

from unisono.core.files import read_json

from experiments import waits
from experiments.harness import ROOT

FILE = ROOT / "docs" / "results" / "waiting" / "messages.json.zst"


def messages() -> list[str]:
    return waits.table(read_json(FILE)["jobs"])


TABLES: Mapping[str, Callable[[], Sequence[str]]] = {"messages": messages}
