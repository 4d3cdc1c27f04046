#!/usr/bin/env python3
"""The include rule: a layer includes itself and the layers it may use; mpi.h only where MPI lives."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Lowest first. A layer may use itself and every layer above it in this list.
LAYERS = [
    "base",
    "node",
    "schedule",
    "patterns",
    "topology",
    "algorithms",
    "model",
    "select",
    "trace",
    "runtime",
    "interpose",
    "sim",
    "tools",
]
MPI_LAYERS = {"runtime", "interpose", "tools"}
# Tools and the stub that must work without an MPI library.
NO_MPI = ("src/interpose/stub/", "src/tools/schedule/", "src/tools/model/", "src/tools/unisono_exec")
# Third-party headers by layer; the preload library holds nothing that it does not need.
LIBRARIES = {
    "nlohmann/": {"schedule", "model", "select", "trace", "tools"},
    "CLI/": {"tools"},
    "fmt/": {"tools"},
}

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')


def problems_in(path: Path) -> list[str]:
    name = path.relative_to(ROOT).as_posix()
    layer = name.split("/")[1]
    if layer not in LAYERS:
        return [f"{name}: src/{layer} is no layer; scripts/check_layers.py lists them"]
    allowed = set(LAYERS[: LAYERS.index(layer) + 1])
    mpi = layer in MPI_LAYERS and not name.startswith(NO_MPI)
    found = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        where = f"{name}:{number}"
        header = match[1] or match[2]
        if header in {"mpi.h", "mpi_abi.h", "mpi-ext.h"} and not mpi:
            found.append(f"{where}: {header} has no place here")
        for library, layers in LIBRARIES.items():
            if header.startswith(library) and layer not in layers:
                found.append(f"{where}: {library} is for {', '.join(sorted(layers))} only")
        if match[1] and "/" in header:
            target = header.split("/")[0]
            if target in LAYERS and target not in allowed:
                found.append(f"{where}: {layer} must not include {target} ({header})")
            knows_mpi = target in {"runtime", "interpose"} and not header.startswith("interpose/stub/")
            if knows_mpi and name.startswith(NO_MPI):
                found.append(f"{where}: {header} knows mpi.h")
    return found


def main() -> int:
    files = sorted(p for s in ("*.h", "*.cpp", "*.c") for p in (ROOT / "src").rglob(s))
    found = [problem for path in files for problem in problems_in(path)]
    print("\n".join(found) if found else f"{len(files)} files keep the include rule")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
