"""Traces as an enemy would write them, and whether unisono report keeps its promises about them.

    python tests/fuzz/traces_fuzz.py --count 20000 --seed 1

Small traces are written and changed where it hurts: nesting, wrong types, huge numbers, links, pipes,
holes, damaged ELF files, names that are commands of a terminal, formulas or markup. Counted are: exceptions
other than the error of one line; more than a second of processor time, children included; more than 200 MB;
lines that are too long or hold control characters; files outside of the trace's folder that are read or
written."""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import random
import resource
import shutil
import signal
import socket
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from io import StringIO
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from traces import Writer
from unisono.core import documents, shown
from unisono.core.console import console_of
from unisono.core.errors import UnisonoError
from unisono.trace import document, formats, html, terminal
from unisono.trace.analysis import analyse
from unisono.trace.reader import read
from unisono.trace.schema import EVENT
from unisono.trace.summary import summarise

SECONDS, MEGABYTES = 1.0, 200
MOST_SECONDS = 10  # by the clock: an input that takes longer hangs
BATCH = 200  # inputs of a child
MOST_EVENTS = 1 << 20  # bytes: the memory that a trace takes is in proportion to it
SECRET = "what lies outside"
Json = dict[str, Any]
Random = random.Random

TEXTS = (
    *(
        "",
        "\x1b[31mred\x1b[0m",
        "\x1b]0;title\x07",
        "\x9b2J",
        "a\nb\r\nc",
        "\u202egnp.exe",
        "[/bold]",
        "[red]",
        "$\\frac{$",
    ),
    *(
        "=cmd|' /C calc'!A0",
        "+1",
        "-1",
        "@SUM(A1)",
        "\t=1",
        "<script>alert(1)</script>",
        '"><img src=x>',
        "{{ 7*7 }}",
    ),
    *("\ud800", "\x00", "%s%n", "/etc/passwd", "../../x", "x" * 5000, "MPI_COMM_WORLD", "ring", ":smile:"),
)
NUMBERS = (
    *(-1, 0, 1, 2, 3, 1000, 65535, 65536, 10**9, 2**31 - 1, 2**31, 2**32, 2**53, 2**62, 2**63 - 1, 2**63),
    *(2**64, 10**30, -(2**63), 0.5, -0.0, 1e-320, 1e18, 1e300, float("nan"), float("inf"), -float("inf")),
)
FIELDS = list(EVENT.names or ())


def value(random: Random) -> Any:
    """Anything but what belongs there."""
    kind = random.randrange(8)
    if kind < 3:
        return random.choice(NUMBERS)
    if kind < 6:
        return random.choice(TEXTS)
    plain: list[Any] = [None, True, [], {}, [[]], [1, "2", None], {"a": 1}, list(range(500)), ["x"] * 50]
    return random.choice(plain) if kind == 6 else nested(random.choice([3, 63, 64, 65, 500]), random)


def nested(depth: int, random: Random) -> Any:
    made: Any = 0
    for _ in range(depth):
        made = [made] if random.random() < 0.5 else {"x": made}
    return made


def base(folder: Path, random: Random) -> None:
    """A trace that is whole."""
    size = random.choice([1, 2, 3, 4])
    app = {"path": random.choice(["/nowhere/app", "/bin/true", str(folder / "elf")]), "offset": "0x0"}
    modules = [app | {"start": "0x1000", "end": "0x9000"}]
    modules.append({"path": "/nowhere/libpetsc.so", "start": "0x9000", "end": "0xa000", "offset": "0x0"})
    writer = Writer(folder, size, ended=random.random() < 0.8, modules=modules)
    pair = [writer.communicator(rank, (0, size - 1)) for rank in (0, size - 1)] if size > 1 else []
    for k in range(random.randrange(1, 12)):
        arrivals = [k + 1 + 0.01 * random.random() for _ in range(size)]
        name = random.choice(
            ["barrier", "bcast", "alltoall", "allreduce", "scan", "gather", "neighbor_allgather"]
        )
        rooted = 0 if name in ("bcast", "gather") else -1
        site = random.choice([0x2000, 0x3000, 0x9100])
        writer.call(
            name, arrivals, [k + 1.5] * size, 2**k, site=site, root=rooted, thread=random.randrange(2)
        )
    if pair:
        writer.call("barrier", [90, 90.1], [91, 91], ranks=(0, size - 1), ids=pair)
    writer.write()


def lines_of(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def change_value(folder: Path, random: Random) -> None:
    """Of one line, one value somewhere in it; or its key."""
    path, lines = some_lines(folder, random)
    place, key = random.choice(lines), None
    while isinstance(place, (dict, list)) and place:
        inner = list(place) if isinstance(place, dict) else list(range(len(place)))
        holder, key = place, random.choice(inner)
        place = holder[key]
        if random.random() < 0.3:
            break
    if key is None:
        return
    if isinstance(holder, dict) and random.random() < 0.15:
        del holder[key]
    else:
        holder[key] = value(random)
    save(path, lines)


def some_lines(folder: Path, random: Random) -> tuple[Path, list[Any]]:
    path = random.choice(plain_files(folder, ".jsonl"))
    return path, lines_of(path) or [{}]


def plain_files(folder: Path, ending: str) -> list[Path]:
    return [
        path for path in sorted(folder.glob(f"rank-*{ending}")) if path.is_file() and not path.is_symlink()
    ]


def save(path: Path, lines: list[Any]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def change_lines(folder: Path, random: Random) -> None:
    path, lines = some_lines(folder, random)
    at = random.randrange(len(lines))
    kind = random.randrange(6)
    if kind == 0:
        del lines[at]
    elif kind == 1:
        lines.insert(random.randrange(len(lines) + 1), lines[at])
    elif kind == 2:
        random.shuffle(lines)
    elif kind == 3:
        lines += [lines[at]] * random.choice([10, 1000])
    elif kind == 4:
        lines[at] = value(random)
    else:
        lines += [{"kind": "communicator", "id": n, "ranks": [0], "occurrence": n} for n in range(200)]
    save(path, lines)


def change_text(folder: Path, random: Random) -> None:
    """Of a file of lines: what is no JSON at all."""
    path = some_lines(folder, random)[0]
    data = bytearray(path.read_bytes())
    kind = random.randrange(6)
    if kind == 0:
        for _ in range(random.randrange(1, 20)):
            data[random.randrange(len(data))] = random.randrange(256)
    elif kind == 1:
        del data[random.randrange(len(data)) :]
    elif kind == 2:
        data += random.choice([b"[", b'{"a":', b"[[],"]) * random.choice([100, 100_000])
    elif kind == 3:
        data += random.choice([b"\n", b"1\n", b"{}\n", b"\0"]) * 50_000
    elif kind == 4:
        data = data.replace(b'"size"', b'"size": 1000000000, "x"').replace(b": 1,", b": 1e999,")
    else:
        data += b'{"kind":"algorithm","id":1,"spec":"' + b"x" * 3_000_000 + b'"}\n'
    path.write_bytes(data)


def change_events(folder: Path, random: Random) -> None:
    path = random.choice(plain_files(folder, ".events"))
    kind = random.randrange(6)
    if kind == 0:
        with path.open("r+b") as file:
            file.truncate(random.choice([1 << 20, 3 << 20, 1 << 40]))
        return
    if path.stat().st_size > MOST_EVENTS:
        return
    data = bytearray(path.read_bytes())
    if kind == 1 or not data:
        data += random.randbytes(random.choice([1, 64, 6400]))
    elif kind == 2:
        del data[random.randrange(len(data)) :]
    elif kind == 3:
        data += data * min(random.choice([1, 50]), MOST_EVENTS // len(data))
    else:
        for _ in range(random.randrange(1, 10)):
            form, offset = (EVENT.fields or {})[random.choice(FIELDS)][:2]
            at = random.randrange(len(data) // 64) * 64 + offset if len(data) >= 64 else 0
            number = random.choice([n for n in NUMBERS if isinstance(n, int)]) % (1 << (8 * form.itemsize))
            data[at : at + form.itemsize] = number.to_bytes(form.itemsize, "little")
    path.write_bytes(data)


def change_kind(folder: Path, random: Random) -> None:
    """A file becomes something else, or leads out of the folder."""
    files = plain_files(folder, "")
    if not files:
        return
    path = random.choice(files)
    outside = folder.parent / "outside"
    kind = random.randrange(8)
    if kind == 0 and path.suffix == ".jsonl":
        copy = random.choice(
            ["rank-00007.jsonl", "rank-0.jsonl", "rank-999999999.jsonl", "rank-\x1b[1m.jsonl"]
        )
        shutil.copy(path, folder / copy)
        return
    path.unlink()
    if kind == 1:
        os.mkfifo(path)
    elif kind == 2:
        path.symlink_to(
            random.choice([outside / "secret.jsonl", outside / "secret.events", Path("/dev/zero")])
        )
    elif kind == 3:
        path.symlink_to(path.name)
    elif kind == 4:
        path.mkdir()
    elif kind == 5:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(path))
    elif kind == 6:
        path.write_bytes(b"")


def change_elf(folder: Path, random: Random) -> None:
    """The module of some bases."""
    data = bytearray(Path("/bin/true").read_bytes())
    kind = random.randrange(4)
    for _ in range(random.choice([1, 10, 100])):
        data[random.randrange(64 if kind == 0 else len(data))] = random.choice(
            [0, 255, random.randrange(256)]
        )
    if kind == 1:
        del data[random.randrange(len(data)) :]
    (folder / "elf").unlink(missing_ok=True)
    (folder / "elf").write_bytes(data)
    if kind == 2:
        (folder / "elf").unlink()
        os.mkfifo(folder / "elf")


CHANGES: tuple[Callable[[Path, Random], None], ...] = (
    *(change_value, change_value, change_value, change_lines, change_text, change_events, change_events),
    *(change_kind, change_elf),
)


# What a change runs into where an earlier one has left nothing to change.
NOTHING_LEFT = (
    *(OSError, ValueError, TypeError, AttributeError, RecursionError, IndexError, KeyError, OverflowError),
)


def make(folder: Path, seed: str) -> None:
    random = Random(seed)
    base(folder, random)
    for _ in range(random.choice([1, 1, 2, 3, 5])):
        with contextlib.suppress(*NOTHING_LEFT):
            random.choice(CHANGES)(folder, random)


def use(folder: Path, random: Random) -> str:
    """All that is printed, or written as text."""
    summary = summarise(analyse(read(folder)))
    said = StringIO()
    terminal.show(summary, console_of(file=said, width=150), 10)
    documents.text(document.document_of(summary))
    if random.random() < 0.02:
        assert SECRET not in html.render(summary, 3)
    forms = {"csv": 0.2, "perfetto": 0.1, "parquet": 0.1, "otf2": 0.02}
    for form, share in forms.items():
        if random.random() < share:
            output = folder.parent / f"exported-{form}"
            try:
                formats.write(folder, form, output)
                if form == "csv":
                    assert not any(cell.startswith(("=", "+", "@")) for cell in cells(output))
            except UnisonoError as error:
                said.write(shown.line(str(error)) + "\n")
            finally:
                shutil.rmtree(output) if output.is_dir() else output.unlink(missing_ok=True)
    return said.getvalue()


def cells(path: Path) -> list[str]:
    import csv

    with path.open(newline="") as file:
        return [cell for row in csv.reader(file) for cell in row]


def tried(folder: Path, seed: str) -> list[str]:
    """What is wrong, each in a word or two."""
    began = cpu()
    try:
        said = use(folder, Random(seed))
    except UnisonoError as error:
        said = shown.line(str(error))
    except MemoryError:
        return [f"more than {MEGABYTES} MB"]
    except Exception as error:  # what is looked for
        at = error.__traceback__
        while at and at.tb_next:
            at = at.tb_next
        where = f"{Path(at.tb_frame.f_code.co_filename).name}:{at.tb_lineno}" if at else ""
        return [f"{type(error).__name__} at {where}: {shown.line(str(error), 100)}"]
    found = []
    if cpu() - began > SECONDS:
        found.append(f"{SECONDS:.0f} s of processor time")
    if any(len(line) > shown.LONGEST for line in said.splitlines()):
        found.append(f"a line of more than {shown.LONGEST} letters")
    if shown.HIDDEN.search(said.replace("\n", "")):
        found.append("control characters")
    if SECRET in said:
        found.append("a file outside was read")
    return found


def cpu() -> float:
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


CHANGING = {
    *("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.truncate", "os.link", "os.symlink", "os.chmod"),
}


class Touched(list[str]):
    """Files outside of the folder, while something is tried."""

    looking = False


def watch(folder: Path, touched: Touched) -> None:
    """Whatever this process opens for writing, renames or removes elsewhere."""

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if not touched.looking:
            return
        name = str(arguments[0]) if arguments and isinstance(arguments[0], (str, Path)) else ""
        elsewhere = name.startswith("/") and not name.startswith((str(folder), "/dev/"))
        writing = event == "open" and (arguments[2] or 0) & (
            os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
        )
        if (elsewhere and (writing or event in CHANGING)) or (event == "open" and "outside" in name):
            touched.append(f"{event} {name}")

    sys.addaudithook(hook)


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """So much more memory than there is already."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    former = resource.getrlimit(resource.RLIMIT_AS)
    most = pages * resource.getpagesize() + (MEGABYTES << 20)
    resource.setrlimit(resource.RLIMIT_AS, (most, former[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, former)


def batch(seed: int, numbers: range, results: Connection) -> None:
    """In a process of its own, whose memory is limited beyond what it has already. Sends the number of
    each input before it is tried, and what is wrong with each that failed."""
    warnings.simplefilter("error")
    touched = Touched()
    with tempfile.TemporaryDirectory() as text:
        work = Path(text).resolve()
        (work / "outside").mkdir()
        for ending in ("jsonl", "events"):
            (work / "outside" / f"secret.{ending}").write_text(SECRET)
        warm_up(work / "warm")
        watch(work, touched)
        for number in numbers:
            results.send((number, ""))
            folder = work / "trace"
            make(folder, f"{seed}:{number}")
            touched.looking = True
            signal.alarm(MOST_SECONDS)  # ends this process
            with limited():
                problems = tried(folder, f"{seed}:{number}")
            signal.alarm(0)
            touched.looking = False
            for problem in problems + [f"a file outside: {each}" for each in touched]:
                results.send((number, problem))
            touched.clear()
            shutil.rmtree(folder)


def warm_up(folder: Path) -> None:
    """What is loaded at first use is no memory of a trace."""
    base(folder, Random(0))
    summary = summarise(analyse(read(folder)))
    html.render(summary, 1)
    for form in ("csv", "perfetto", "parquet", "otf2"):
        formats.write(folder, form, folder.parent / "warm-out")
        warm = folder.parent / "warm-out"
        shutil.rmtree(warm) if warm.is_dir() else warm.unlink()


def run(count: int, seed: int, first: int = 0) -> Counter[str]:
    found: Counter[str] = Counter()
    at = first
    while at < first + count:
        last = at
        for number, problem in tried_in_child(seed, range(at, min(at + BATCH, first + count))):
            last = number
            if problem:
                found[problem] += 1
                print(f"input {number}: {problem}", file=sys.stderr, flush=True)
        at = last + 1
    return found


def tried_in_child(seed: int, numbers: range) -> Iterator[tuple[int, str]]:
    """What batch() sends, and how it ended if it did not come to its end: at its last input."""
    spawn = multiprocessing.get_context("spawn")
    receiver, sender = spawn.Pipe(duplex=False)
    child = spawn.Process(target=batch, args=(seed, numbers, sender))
    child.start()
    sender.close()
    number = numbers.start
    with contextlib.suppress(EOFError), receiver:
        while True:
            number, problem = receiver.recv()
            yield number, problem
    child.join()
    if child.exitcode == -signal.SIGALRM:
        yield number, f"more than {MOST_SECONDS} s"
    elif child.exitcode != 0:
        yield number, f"the process ended with {child.exitcode}"


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--count", type=int, default=1000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--first", type=int, default=0, help="number of the first input, to see one again")
    options.add_argument("--keep", type=Path, help="only write the first input, into this folder")
    given = options.parse_args()
    if given.keep:
        make(given.keep, f"{given.seed}:{given.first}")
        return 0
    began = time.monotonic()
    found = run(given.count, given.seed, given.first)
    for problem, number in found.most_common():
        print(f"{number}: {problem}")
    print(
        f"{given.count} inputs, seed {given.seed}: {found.total()} problems, {time.monotonic() - began:.0f} s"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
