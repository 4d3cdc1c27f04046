"""The reliable multicast by itself, in the lab: losses, a late or killed member, an attack; NORM beside it.

  sudo .venv/bin/unisono lab up --hosts 16 --rate 100mbit
  sudo .venv/bin/python -m experiments.compiled.reliable --json F --markdown T
  .venv/bin/python -m experiments.compiled.reliable --report F --markdown T

unisono-multicast on all hosts but the last, from which attacks come; member 2 is who loses, is late or is
killed. Losses are of arriving frames at its port, drawn at random; a time (the mean, in which all repairs
are) is over that without losses in the same round. unisono-norm sends the same by the reference
implementation of NORM, where it is built. Under attack: --count packets of each of five kinds, as fast as the
attacker's port carries them.
"""

import argparse
import contextlib
import re
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from unisono import lab as labs
from unisono.core import places
from unisono.core.errors import UnisonoError
from unisono.core.files import write_json
from unisono.lab import layout, network

from experiments import harness
from experiments.arrival.measuring import paired_ratio
from experiments.harness import Check, above, below, every
from experiments.markdown import table, verdicts
from experiments.orthogonal.layouts import some_of
from experiments.pipelines import measuring
from experiments.pipelines.measuring import Ratio
from experiments.testbeds import Json

EXPERIMENT = "compiled-reliable"
KIB, MIB = 1 << 10, 1 << 20
NACK, ACK, NORM = "nack", "ack", "NORM"
LOSSES = {0.0: 0.0, 0.001: 1.2, 0.01: 1.5, 0.05: 2.5}  # times the time without, at most
SIZES = {64 * KIB: 100, MIB: 20}  # messages of a run
AFFECTED = 2  # the member that loses, is late, is killed
LATE, LIMIT = 5.0, 3.0  # seconds; LIMIT: of silence
NOTICED = 2.0  # seconds more, until who is silent is named
UNDER_ATTACK = 0.9  # of the throughput
ALMOST_ALL = 0.9  # of a run is under attack
DROPPED = ("forged", "malformed", "other epoch", "duplicates")
MESSAGE = 1.06 * 8 * MIB  # bits on the wire, at least
PARTS = ("loss", "late", "killed", "attack", "dropped")
NORM_SHARE = 0.96  # of the rate: NORM counts what is in a datagram, not the frame
PATIENCE = 240.0  # seconds for a run


@dataclass(frozen=True)
class Case:
    part: str
    way: str  # a family, or NORM
    bytes: int = MIB
    loss: float = 0.0
    dead: int = -1
    root: int = 0
    attack: int = 0  # packets of each kind
    messages: int = 5


@dataclass
class Group:
    """The hosts of a lab: all but the last are members."""

    lab: labs.Lab

    @property
    def members(self) -> int:
        return len(self.lab.hosts) - 1

    @property
    def addresses(self) -> str:
        return ",".join(host.address for host in self.lab.hosts[: self.members])

    def start(self, host: int, program: str, arguments: Sequence[str]) -> "subprocess.Popen[str]":
        command = [str(places.program(program)), *arguments]
        line = self.lab.on_host(self.lab.hosts[host].name, command)
        return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    @contextlib.contextmanager
    def losing(self, share: float) -> Iterator[None]:
        inside = [*network.inside(self.lab.folder / self.lab.hosts[AFFECTED].name), "sh", "-c"]
        if share > 0:
            lines = " && ".join(f"tc {line}" for line in layout.drop_some("eth0", share))
            subprocess.run([*inside, lines], check=True)
        try:
            yield
        finally:
            if share > 0:
                subprocess.run([*inside, "tc qdisc del dev eth0 clsact"], check=True)


# --- measuring ------------------------------------------------------------------------------------


def options_of(case: Case) -> list[str]:
    options = ["--family", case.way, "--size", str(case.bytes), "--messages", str(case.messages)]
    options += ["--limit", str(LIMIT if case.part == "killed" else 30)]
    if case.part == "late":
        options += ["--late", f"{AFFECTED}:{LATE}"]
    if case.dead >= 0:
        options += ["--kill", f"{case.dead}:1", "--root", str(case.root)]
    return options


def started(group: Group, case: Case) -> "list[subprocess.Popen[str]]":
    if case.way == NORM:
        rate = str(NORM_SHARE * group.lab.rate)
        more = ["--messages", str(case.messages), "--bytes", str(case.bytes), "--rate", rate]
        more += ["--seconds", str(PATIENCE / 2)]
        who = [[str(member), str(group.members), *more] for member in range(group.members)]
        return [group.start(member, "unisono-norm", own) for member, own in enumerate(who)]
    options = [*options_of(case), "--hosts", group.addresses, "--rate", str(group.lab.rate)]
    return [
        group.start(member, "unisono-multicast", ["run", "--me", str(member), *options])
        for member in range(group.members)
    ]


def attack_seconds(count: int, rate: float) -> tuple[float, float]:
    """At least and at most: of five kinds four are short packets; a loaded machine takes 100 us for one."""
    wire = 8 * count * (4 * 130 + 1514) / rate
    return wire, max(1.2 * wire, 5 * count * 100e-6)


def run(group: Group, case: Case) -> Json:
    begun = time.monotonic()
    with group.losing(case.loss):
        running = started(group, case)
        if case.attack:
            arguments = ["attack", "--hosts", group.addresses, "--interface", "eth0"]
            running.append(
                group.start(group.members, "unisono-multicast", [*arguments, "--count", str(case.attack)])
            )
        ends = ended(running, case)
    said = [one.stdout.read() if one.stdout else "" for one in running]
    statuses = [one.returncode for one in running]
    if case.attack and statuses[-1] != 0:
        raise UnisonoError(f"{case}: the attack failed: {said[-1].strip()}")
    seconds = max(ends[: group.members]) - begun
    attacked = (ends[-1] - begun) / seconds if case.attack else 0.0
    found = heard(statuses, said[: group.members])
    return {"case": vars(case), "seconds": round(seconds, 3), "attacked": round(attacked, 3), **found}


def ended(running: "Sequence[subprocess.Popen[str]]", case: Case) -> list[float]:
    """When each was over; what they say fits into a pipe."""
    ends: dict[int, float] = {}
    until = time.monotonic() + PATIENCE
    try:
        while len(ends) < len(running):
            for position, one in enumerate(running):
                if position not in ends and one.poll() is not None:
                    ends[position] = time.monotonic()
            if time.monotonic() > until:
                raise UnisonoError(f"{case}: not over after {PATIENCE:g} s")
            time.sleep(0.02)
    finally:
        for one in running:
            if one.poll() is None:
                one.kill()
    return [ends[position] for position in range(len(running))]


def heard(statuses: Sequence[int], said: Sequence[str]) -> Json:
    """What is in the words of the first member, which counts for all."""
    median = re.search(r"median is ([\d.]+) of size / rate; mean ([\d.]+)", said[0])
    counts = {name: int(n) for name, n in re.findall(r"^(\D+?) +(\d+) in all", said[0], re.M)}
    missed = re.search(r"^member 0 .*member (\d+) was silent", said[0], re.M)
    return {
        "status": statuses[0],
        "over_rate": float(median[1]) if median else None,
        "ms": float(median[2]) if median else None,
        "counts": counts,
        "silent": int(missed[1]) if missed else None,
        "said": said[0][-600:] if statuses[0] != 0 else "",
    }


def lossy(way: str, size: int, loss: float = 0.0) -> Case:
    return Case("loss", way, size, loss, messages=SIZES[size])


def cases(
    parts: Sequence[str], count: int, with_norm: bool, rate: float = 1e8, attacker: float = 1.0
) -> list[Case]:
    made = []
    if "loss" in parts:
        ways = [NACK, ACK, *([NORM] if with_norm else [])]
        made += [lossy(way, size, loss) for size in SIZES for way in ways for loss in LOSSES]
    least, most = attack_seconds(count, rate * attacker)
    for way in (NACK, ACK):
        if "late" in parts:
            made.append(Case("late", way))
        if "killed" in parts:
            made += [Case("killed", way, dead=AFFECTED, root=root, messages=1000) for root in (0, AFFECTED)]
        if "attack" in parts:
            # The same messages with and without, for half of the attack: all of them are under it.
            n = max(10, round(0.5 * least * rate / MESSAGE))
            made += [Case("attack", way, attack=packets, messages=n) for packets in (0, count)]
        if "dropped" in parts:
            # All kinds are met: the run goes on when the attack is over.
            n = max(20, round((most + 2) * rate / MESSAGE))
            made.append(Case("dropped", way, attack=count, messages=n))
    return made


def measure(given: argparse.Namespace) -> Json:
    parts = some_of("--parts", given.parts, PARTS)
    group = Group(labs.current())
    if group.members < AFFECTED + 1:
        raise UnisonoError(
            f"the lab has {group.members + 1} hosts: {AFFECTED + 2} at least, of which the last is none"
        )
    with_norm = places.program("unisono-norm").exists()
    if not with_norm:
        harness.console.print(
            "[yellow]without NORM: unisono-norm is not built (Debian: libnorm-dev)[/yellow]"
        )
    attacker = group.lab.plan.speed.get(group.lab.hosts[-1].name, 1.0)
    jobs: list[Json] = []

    def one_round(turn: int) -> Iterator[Json]:
        for case in cases(parts, given.count, with_norm, group.lab.rate, attacker):
            harness.console.print(f"[dim]{turn + 1}: {case}[/dim]", soft_wrap=True)
            yield {"round": turn, **run(group, case)}

    beds = {"lab": {"members": group.members, "bits_per_second": group.lab.rate}}
    for one in measuring.in_rounds(one_round, given.rounds, given.minutes):
        jobs.append(one)
        if given.json:
            write_json(measuring.document(EXPERIMENT, beds, jobs), given.json)
    return {"beds": beds, "results": jobs}


# --- what came out --------------------------------------------------------------------------------

Runs = Mapping[Case, Mapping[int, Json]]  # by round


def runs_in(body: Json) -> dict[Case, dict[int, Json]]:
    found: dict[Case, dict[int, Json]] = {}
    for one in body["results"]:
        found.setdefault(Case(**one["case"]), {})[one["round"]] = one
    return found


def ratio(runs: Runs, own: Case, other: Case) -> Ratio | None:
    """Of the means, in which lost packets are, in rounds in which both have one."""
    mine, theirs = runs.get(own, {}), runs.get(other, {})
    both = [turn for turn in mine if turn in theirs and mine[turn]["ms"] and theirs[turn]["ms"]]
    if not both:
        return None
    return Ratio(*paired_ratio([mine[t]["ms"] for t in both], [theirs[t]["ms"] for t in both]))


def losses(runs: Runs) -> list[Check]:
    made = []
    for case, own in runs.items():
        if case.part != "loss" or case.way == NORM:
            continue
        where = f"{case.bytes // KIB} KiB, {case.way}, {100 * case.loss:g} % lost"
        bad = [one["said"] for one in own.values() if one["status"] != 0]
        made.append(
            Check(f"{where}: everything comes, unchanged", not bad, bad[0] if bad else f"{len(own)} runs")
        )
        over = ratio(runs, case, lossy(case.way, case.bytes)) if case.loss else None
        if over:
            most = LOSSES[case.loss]
            claim = f"{where}: at most {most:g} times what it takes without"
            made.append(Check(claim, below(over.low, over.high, most), over.text()))
        beside = ratio(runs, case, lossy(NORM, case.bytes, case.loss))
        if beside:
            claim = f"{where}: faster than NORM"
            made.append(Check(claim, below(beside.low, beside.high, 1), beside.text()))
    return made


def fates(runs: Runs) -> list[Check]:
    made = []
    for case, own in runs.items():
        seconds = ", ".join(f"{one['seconds']:.1f} s" for one in own.values())
        if case.part == "late":
            well = all(one["status"] == 0 and one["seconds"] >= LATE for one in own.values())
            made.append(Check(f"{case.way}: a member {LATE:g} s late is waited for", well, seconds))
        elif case.part == "killed":
            most = 1 + LIMIT + NOTICED + 3  # it lives a second; meeting, starting and the last second
            well = all(one["silent"] == case.dead and one["seconds"] < most for one in own.values())
            who = "the sender" if case.dead == case.root else "a receiver"
            named = "; ".join(str(one["silent"]) for one in own.values())
            made.append(
                Check(
                    f"{case.way}: {who} is killed: all end, and the first names it",
                    well,
                    f"{seconds}, named {named}",
                )
            )
    return made


def attacks(runs: Runs) -> list[Check]:
    made = []
    for case, own in runs.items():
        share = [one["attacked"] for one in own.values()]
        if case.part == "dropped":
            numbers = "; ".join(
                ", ".join(f"{k} {one['counts'].get(k, 0)}" for k in DROPPED) for one in own.values()
            )
            # Of an attack that the run did not outlast some kinds were met by nobody.
            answers = [
                False if one["status"] else None if one["attacked"] >= 1 else seen(one["counts"])
                for one in own.values()
            ]
            claim = f"{case.way}: of {case.attack} packets of each kind none is accepted"
            made.append(Check(claim, every(answers), numbers))
        # Times without / with are throughput with / without.
        over = ratio(runs, replace(case, attack=0), case) if case.part == "attack" and case.attack else None
        if over:
            answer = above(over.low, over.high, UNDER_ATTACK) if min(share) >= ALMOST_ALL else None
            claim = f"{case.way}: under attack at least {UNDER_ATTACK:g} of the throughput"
            made.append(
                Check(claim, answer, f"{over.text()}, attacked for {min(share):.2f} of the run at least")
            )
    return made


def seen(counts: Mapping[str, int]) -> bool:
    return all(counts.get(kind, 0) > 0 for kind in DROPPED)


HEAD = ("what", "way", "bytes", "lost", "runs", "ms", "median / (bytes / rate)", "/ without loss", "/ NORM")


def rows_of(runs: Runs) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for case, own in runs.items():
        times = [one for one in own.values() if one["ms"]]
        if not times or case.part in ("killed", "late", "dropped"):
            continue
        without = (
            ratio(runs, case, lossy(case.way, case.bytes)) if case.part == "loss" and case.loss else None
        )
        norm = ratio(runs, case, lossy(NORM, case.bytes, case.loss)) if case.part == "loss" else None
        what = (
            f"{case.attack} packets of each kind"
            if case.attack
            else "no attack"
            if case.part == "attack"
            else "loss"
        )
        middle = sorted(times, key=lambda one: float(one["ms"]))[len(times) // 2]
        rows.append(
            (
                *(what, case.way, str(case.bytes), f"{100 * case.loss:g} %", str(len(own))),
                *(f"{middle['ms']:.2f}", f"{middle['over_rate']:.3f}" if case.way != NORM else ""),
                without.text() if without else "",
                norm.text() if norm and case.way != NORM else "",
            )
        )
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--parts", default=",".join(PARTS), help="some of them; all by default")
    add("--count", type=int, default=100_000, help="packets of each kind of an attack (100000)")
    add("--rounds", type=int, default=4, help="runs of each kind (4)")
    add("--minutes", type=float, default=25.0, help="for all rounds (25); two are run in any case")
    measuring.add_files(parser)
    given = parser.parse_args(arguments)
    body = measuring.read(given.kept, EXPERIMENT) if given.kept else measure(given)
    runs = runs_in(body)
    made = [*losses(runs), *fates(runs), *attacks(runs)]
    harness.report({"lab": made})
    if given.markdown:
        given.markdown.write_text("\n".join([*table(HEAD, rows_of(runs), (0, 1)), *verdicts(made)]))
    return 0


if __name__ == "__main__":
    harness.run(main)
