#!/usr/bin/env python3
"""What the compiler cannot see of the layers (cmake/Layers.cmake): relative includes, mpi.h in what must
work without an MPI library, and third-party headers outside the layers that may use them."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CMAKE = ROOT / "cmake" / "Layers.cmake"
# Tools and the stub that must work without an MPI library.
NO_MPI = (
    "src/interpose/stub/",
    "src/tools/schedule/",
    "src/tools/model/",
    "src/tools/multicast/",
    "src/tools/network/",
    "src/tools/unisono_exec",
)
# Third-party headers by layer; the preload library holds nothing that it does not need.
LIBRARIES = {
    "nlohmann/": {"files", "schedule", "topology", "model", "select", "trace", "tools"},
    "CLI/": {"tools"},
    "fmt/": {"tools"},
    "sodium": {"multicast"},
    "boost/": {"network"},
}

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')


def mpi_layers() -> set[str]:
    found = re.search(r"set\(UNISONO_MPI_LAYERS ([^)]*)\)", CMAKE.read_text())
    assert found, CMAKE
    return set(found[1].split())


def problems_in(path: Path, with_mpi: set[str]) -> list[str]:
    name = path.relative_to(ROOT).as_posix()
    layer = name.split("/")[1]
    without_mpi = name.startswith(NO_MPI)
    found = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        where = f"{name}:{number}"
        header = match[1] or match[2]
        if ".." in header.split("/"):
            found.append(f"{where}: {header} goes around the include roots")
        for library, layers in LIBRARIES.items():
            if header.startswith(library) and layer not in layers:
                found.append(f"{where}: {library} is for {', '.join(sorted(layers))} only")
        knows_mpi = header in {"mpi.h", "mpi_abi.h", "mpi-ext.h"} or (
            header.split("/")[0] in with_mpi and not header.startswith("interpose/stub/")
        )
        if without_mpi and knows_mpi:
            found.append(f"{where}: {header} knows mpi.h")
    return found


def main() -> int:
    files = sorted(p for s in ("*.h", "*.cpp", "*.c") for p in (ROOT / "src").rglob(s))
    with_mpi = mpi_layers()
    found = [problem for path in files for problem in problems_in(path, with_mpi)]
    print("\n".join(found) if found else f"{len(files)} files keep the include rule")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
